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

void ShardedAdam::capture(std::span<Verb const> verbs) {
  expect_state();
  ADAMANT_REAL_ASSERT(capturable_);
  iteration_.emplace(verbs);
  attempt([&] { record(); });
}

// The verbs leave their marks in the host's books while they are recorded; but nothing happened, so
// the books go back to where they were, and each replay brings them forward.
void ShardedAdam::record() {
  ParameterSet const have_gradients = tensors_.have_gradients();
  AdamStep::HostCount const counted = step_.host_count();
  tensors_.ensure_gradients();  // here and not in the capture, which takes no allocation
  RecordedWith const with{.have_gradients = have_gradients, .scaling = scaling_.mode()};
  iteration_->record(streams_.compute, with, [&] {
    int backwards = 0;
    for (Verb const& verb : iteration_->verbs()) {
      perform(verb, backwards);
      backwards += verb.kind == Verb::Kind::backward ? 1 : 0;
    }
    iteration_->recorded(tensors_.have_gradients());
  });
  tensors_.set_have_gradients(have_gradients);
  step_.set_host_count(counted);
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

// What the host does beside the launch costs the same for many parameters as for few, all but
// comparing and copying their sets. It waits for nothing.
void ShardedAdam::replay() {
  expect_state();
  ADAMANT_REAL_ASSERT(iteration_.has_value());
  attempt([&] {
    if (!iteration_->fits(tensors_.have_gradients(), scaling_.mode())) record();
    iteration_->launch(streams_.compute);
    for (ParameterSet const& stepped : iteration_->steps())
      step_.count_replayed(stepped, scaling_.looks());
    tensors_.set_have_gradients(iteration_->gradients_after());
  });
}

}  // namespace adamant::real
