#include "scenarios/report/words/sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace adamant::scenarios {

namespace {

std::string_view words_for(ScalingNumber number) {
  constexpr auto words = std::to_array<std::string_view>(
      {"loss scale", "skip of the last step", "inverse of the loss scale", "norm",
       "clip coefficient", "maximal norm", "growth tracker", "hysteresis"});
  static_assert(words.size() == scaling_number_count);
  return words[static_cast<std::size_t>(number)];
}

// ---- sentences ---------------------------------------------------------------------------------

std::string_view what_is_reduced(Violation const& violation) {
  return about<ScalingNumber>(violation) != nullptr ? "norm" : "gradient";
}

/// The first rank is held to the oracle, the others to the first.
std::string_view held_to(Violation const& violation) {
  return violation.law == Law::ranks_agree ? "rank 0" : "the oracle";
}

std::string_view purpose_of(Violation const& violation) {
  auto const* const buffers = about<Buffers>(violation);
  return buffers == nullptr ? "" : name_of(buffers->purpose);
}

std::string call_in_words(Call const& call, std::string const& text) {
  std::string const ending = ending_in_words(call, text);
  return call.verb.empty() ? ending : call.verb + ": " + ending;
}

std::string damage_in_words(FileDamage const& damage) {
  switch (damage.how) {
    case Fault::Then::flip_byte:
      return fmt::format("{} has a flipped bit in byte {}", damage.file, damage.at);
    case Fault::Then::truncate:
      return fmt::format("{} was cut to {} bytes", damage.file, damage.at);
    case Fault::Then::remove_file:
      return damage.file + " was removed";
    default:
      return damage.file + " is that of an older save";
  }
}

std::string damage_in_words(Violation const& violation) {
  std::vector<std::string> all;
  if (auto const* const files = about<DamagedFiles>(violation))
    for (FileDamage const& damage : *files) all.push_back(damage_in_words(damage));
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string sentence_on_numbers(Violation const& violation) {
  switch (std::get<JudgedBreach>(violation.breach)) {
    case Breach::other_scale:
      return fmt::format("the scale that the rank stores its numbers with differs from {}'s",
                         held_to(violation));
    case Breach::other_code:
      return fmt::format("a code that the rank keeps differs from {}'s", held_to(violation));
    case Breach::other_amax:
      return fmt::format("the tensor's largest magnitude as the rank keeps it differs from {}'s",
                         held_to(violation));
    case Breach::other_history:
      return fmt::format("the largest magnitudes of earlier quantisations differ from {}'s",
                         held_to(violation));
    case Breach::other_next_scale:
      return fmt::format("the scale of the rank's next quantisation differs from {}'s",
                         held_to(violation));
    case Breach::outside_reduction:
      return fmt::format("no order of summation leads to this {}", what_is_reduced(violation));
    case Breach::outside_clip:
      return "the gradient is not what clipping by the norm that was found makes of it";
    case Breach::outside_unscale:
      return "the gradient is not what dividing it by the loss scale makes of it";
    case Breach::outside_step:
      return "no order of operations makes this of what was there before the step";
    default:
      return "the engine's bits differ from the oracle's";
  }
}

std::string sentence_on_values(Violation const& violation) {
  switch (std::get<JudgedBreach>(violation.breach)) {
    case Breach::other_type:
      return "the rank stores its rows in another type than the recipe names";
    case Breach::other_elements:
      return "the rank does not hold the rows that the layout gives it";
    case Breach::other_size:
      return "what the rank sees as the whole tensor is another one";
    case Breach::gradient_presence:
      return fmt::format("the rank differs from {} about having a gradient", held_to(violation));
    case Breach::other_step_count:
      return fmt::format("the rank's step counter differs from {}", held_to(violation));
    case Breach::other_settings:
      return fmt::format("the rank's settings of group {} differ",
                         std::get<GroupSettings>(violation.subject).group);
    case Breach::other_scaling:
      return fmt::format("the rank's {} differs from {}'s", subject_in_words(violation),
                         held_to(violation));
    default:
      return "the whole parameter that backward gathered differs from the oracle's";
  }
}

std::string sentence_on_memory(Violation const& violation) {
  switch (std::get<JudgedBreach>(violation.breach)) {
    case Breach::moved:
      return "the tensor moved, although nothing gave it back";
    case Breach::other_live_bytes:
      return fmt::format(
          "the rank's live buffers for {} are not what its shapes and its operations need",
          purpose_of(violation));
    case Breach::other_peak:
      return fmt::format("the rank's peak for {} is not what it should be", purpose_of(violation));
    case Breach::other_allocation:
      return fmt::format("the engine lists a buffer for {} that was allocated otherwise",
                         purpose_of(violation));
    case Breach::unlisted_allocation:
      return "an allocation is alive that the engine does not list";
    case Breach::dead_buffer:
      return fmt::format("the engine lists a buffer for {} that is not alive",
                         purpose_of(violation));
    case Breach::left_allocation:
      return "an allocation outlives its engine";
    default:
      return violation.text + " outlive their engines";
  }
}

Call call_of(Violation const& violation) {
  auto const* const call = about<Call>(violation);
  return call == nullptr ? Call{} : *call;
}

std::string sentence_on_checkpoints(Violation const& violation) {
  switch (std::get<JudgedBreach>(violation.breach)) {
    case Breach::damage_unnoticed:
      return "nothing was said of damage to the checkpoint: " + damage_in_words(violation);
    case Breach::damage_misjudged:
      return "damage was taken for something else: " + damage_in_words(violation);
    case Breach::not_loaded:
      return "a checkpoint that must be there, whole, is not loaded";
    case Breach::rounded_unasked:
      return "a load has rounded numbers of a type that it does not name";
    case Breach::other_files:
      return "the files are not what was to be saved: " + violation.text;
    case Breach::saved_otherwise:
      return about<StepCount>(violation) != nullptr
                 ? "the files of the save have another step than the oracle"
                 : fmt::format("the files of the save have another {} than the oracle",
                               violation.text.empty() ? "value" : violation.text);
    default:
      return "the files are no checkpoint of this model: " + violation.text;
  }
}

std::string sentence_on_failures(Violation const& violation) {
  Call const call = call_of(violation);
  switch (std::get<JudgedBreach>(violation.breach)) {
    case Breach::failed:
      return "the operation failed: " + call_in_words(call, violation.text);
    case Breach::no_answer:
      return call_in_words(call, violation.text);
    case Breach::loaded_alone:
      return "the rank has loaded what other ranks refused";
    case Breach::failed_load_changed:
      return "a load that failed has changed parameters, and the engine does not say that it holds "
             "no state";
    case Breach::state_disagreed:
      return "ranks disagree about holding a state after a failed load";
    case Breach::used_without_state:
      return fmt::format("after a load that failed a {} is not refused", call.verb);
    case Breach::silent_about_state:
      return fmt::format(
          "after a load that failed a {} does not say that the engine holds no state, but: {}",
          call.verb, violation.text);
    default:
      return "after it ran out of memory the engine is gone, but keeps " +
             value_in_words(violation.breach, violation.actual);
  }
}

}  // namespace

std::string subject_in_words(Violation const& violation) {
  if (auto const* tensor = about<Tensor>(violation))
    return tensor_name(tensor->parameter, tensor->kind) +
           std::string(part_of(violation.breach).key) + (tensor->whole ? " (whole)" : "");
  if (auto const* steps = about<StepCount>(violation)) return steps->parameter + "/step";
  if (auto const* number = about<ScalingNumber>(violation)) return std::string(words_for(*number));
  return "";
}

std::string moment_in_words(Violation const& violation) {
  std::string place;
  if (violation.operation >= 0) place += fmt::format("operation {}, ", violation.operation);
  return place + (violation.rank < 0 ? "no rank" : fmt::format("rank {}", violation.rank));
}

std::string place_in_words(Violation const& violation) {
  std::string place = moment_in_words(violation);
  if (std::string const subject = subject_in_words(violation); !subject.empty())
    place += ", " + subject;
  return violation.index < 0 ? place : place + fmt::format("[{}]", violation.index);
}

namespace {

/// "9 to 17, 20 and 31 more elements".
std::string ranges_in_words(WrongElements const& wrong) {
  constexpr std::size_t told_max = 8;
  std::vector<std::string> texts;
  std::int64_t left = wrong.count;
  for (std::size_t i = 0; i < std::min(told_max, wrong.ranges.size()); ++i) {
    auto const [begin, end] = wrong.ranges[i];
    texts.push_back(end - begin == 1 ? std::to_string(begin)
                                     : fmt::format("{} to {}", begin, end - 1));
    left -= end - begin;
  }
  std::string const more = left > 0 ? fmt::format(" and {} more", left) : "";
  return fmt::format("{}{}", fmt::join(texts, ", "), more);
}

std::string part_in_words(WrongElements const& wrong) {
  using Part = WrongElements::Part;
  bool const one = wrong.ranks.size() == 1;
  auto const of_ranks = [&](std::string_view before, std::string_view has, std::string_view have) {
    return fmt::format(": {} {} {} {}", before, one ? "rank" : "ranks",
                       fmt::join(wrong.ranks, ", "), one ? has : have);
  };
  if (wrong.part == Part::whole) return ": all of it";
  if (wrong.part == Part::shards) return of_ranks("all that", "has", "have");
  if (wrong.part == Part::saved_shards)
    return of_ranks("all that", "had when it was saved", "had when it was saved");
  if (wrong.part == Part::block) return ": one block of its recipe";
  if (wrong.part == Part::last_block) return ": the last block of its recipe";
  return wrong.ranks.empty() ? "" : of_ranks("of what", "has", "have");
}

}  // namespace

std::string elements_in_words(Violation const& violation) {
  auto const* const tensor = about<Tensor>(violation);
  if (!violation.elements || tensor == nullptr) return {};
  WrongElements const& wrong = *violation.elements;
  if (wrong.count == 1 && wrong.part == WrongElements::Part::some) return {};
  return fmt::format("{} of {}{}", ranges_in_words(wrong),
                     tensor_name(tensor->parameter, tensor->kind), part_in_words(wrong));
}

std::string repetitions_in_words(Violation const& violation) {
  if (violation.count == 1) return {};
  std::vector<int> const ranks = ranks_of(violation);
  if (ranks.empty()) return fmt::format("{} times", violation.count);
  return fmt::format("{} times, on {} {}", violation.count, ranks.size() == 1 ? "rank" : "ranks",
                     fmt::join(ranks, ", "));
}

namespace {

std::string sentence_on_runs(Violation const& violation) {
  switch (std::get<JudgedBreach>(violation.breach)) {
    case Breach::other_digest:
      return "the same scenario, seed and choices gave another digest";
    case Breach::other_in_run:
      return "it is another one than in the run before";
    default:
      return "a save writes another file than in the run before: " + violation.text;
  }
}

std::string sentence_of(Violation const& violation) {
  switch (kind_of(violation.breach)) {
    case BreachKind::number:
      return sentence_on_numbers(violation);
    case BreachKind::value:
      return sentence_on_values(violation);
    case BreachKind::memory:
      return sentence_on_memory(violation);
    case BreachKind::checkpoint:
      return sentence_on_checkpoints(violation);
    case BreachKind::failure:
      return sentence_on_failures(violation);
    case BreachKind::further_run:
      return sentence_on_runs(violation);
    case BreachKind::world:
      break;
  }
  return violation.text;
}

}  // namespace

std::string message_of(Violation const& violation) {
  std::string const sentence = sentence_of(violation);
  return violation.run.empty() ? sentence : fmt::format("with {}: {}", violation.run, sentence);
}

std::string in_one_line(Violation const& violation) {
  std::string text = fmt::format("{}: {}, {}", id_of(violation.law), message_of(violation),
                                 place_in_words(violation));
  Sides const sides = sides_in_words(violation);
  if (!sides.expected.empty() || !sides.actual.empty())
    text += fmt::format(": expected {}, found {}", sides.expected, sides.actual);
  return text;
}

std::string message_of(RunResult const& result) {
  if (!result.failed_at) return result.message;
  return fmt::format("rank {}, operation {}: {}", result.failed_at->rank,
                     result.failed_at->operation, result.message);
}

std::string ending_in_words(Call const& call, std::string const& text) {
  switch (call.ending) {
    case Ending::signal:
      return "the process of the rank died of signal " + call.status;
    case Ending::exit:
      return "the process of the rank ended with exit status " + call.status;
    case Ending::none:
      return "the rank did not answer in time";
    case Ending::error:
      break;
  }
  return text;
}

}  // namespace adamant::scenarios
