// Verbs that are recorded as a graph, and replays of it.
#include "real/cuda/assert.h"
#include "real/engine/sharded_adam.h"

namespace adamant::real {

// Whether the step is skipped is decided where a replay decides it, too.
void ShardedAdam::step_on_device() {
  bool const looks = scaling_.looks();
  if (looks) scaling_.look(tensors_);
  step_.count(tensors_, looks ? scaling_.skip() : nullptr);
  run_step();
}

// Steps may have been skipped without the host knowing.
void ShardedAdam::learn_counters() {
  if (scaling_.looks()) step_.learn_counters();
}

void ShardedAdam::capture(std::span<Verb const> verbs) {
  expect_state();
  ADAMANT_REAL_ASSERT(capturable_);
  iteration_.emplace(verbs);
  attempt([&] { record(); });
}

// The verbs leave their marks in the host's books while they are recorded; but nothing happened, so
// the books go back to where they were, and each replay brings them forward.
void ShardedAdam::record() {
  BooksOfHost const before{.has_gradient = tensors_.have_gradients(), .counters = step_.counters()};
  tensors_.ensure_gradients();  // here and not in the capture, which takes no allocation
  iteration_->record(streams_.compute, recorded_with(), [&] {
    int backwards = 0;
    for (Verb const& verb : iteration_->verbs()) {
      perform(verb, backwards);
      backwards += verb.kind == Verb::Kind::backward ? 1 : 0;
    }
    iteration_->recorded(tensors_.have_gradients());
  });
  tensors_.set_have_gradients(before.has_gradient);
  step_.set_counters(before.counters);
}

void ShardedAdam::perform(Verb const& verb, int sequence) {
  switch (verb.kind) {
    case Verb::Kind::backward:
      return run_backward(verb.without, sequence);
    case Verb::Kind::clip:
      return scaling_.clip(tensors_);
    case Verb::Kind::step:
      iteration_->note_step(tensors_.have_gradients());
      return step_on_device();
    case Verb::Kind::zero_grad:
      return run_zero_grad(verb.set_to_none);
  }
}

void ShardedAdam::replay() {
  expect_state();
  ADAMANT_REAL_ASSERT(iteration_.has_value());
  attempt([&] {
    if (!iteration_->fits(recorded_with())) record();
    iteration_->launch(streams_.compute);
    for (std::vector<bool> const& stepped : iteration_->steps()) step_.count_replayed(stepped);
    if (!iteration_->steps().empty()) learn_counters();
    tensors_.set_have_gradients(iteration_->gradients_after());
  });
}

}  // namespace adamant::real
