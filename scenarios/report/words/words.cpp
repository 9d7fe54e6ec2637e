#include "scenarios/report/words/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace adamant::scenarios {

namespace {

std::string printed(char const* format, float x) {
  std::array<char, 64> text{};
  int const length = std::snprintf(text.data(), text.size(), format, static_cast<double>(x));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string_view words_for(ScalingNumber number) {
  constexpr auto words = std::to_array<std::string_view>(
      {"loss scale", "skip of the last step", "inverse of the loss scale", "norm",
       "clip coefficient", "maximal norm", "growth tracker", "hysteresis"});
  static_assert(words.size() == scaling_number_count);
  return words[static_cast<std::size_t>(number)];
}

// ---- one side ----------------------------------------------------------------------------------

std::string interval_text(Interval const& interval, std::string (*written)(float)) {
  std::vector<std::string> parts;
  if (interval.finite_possible)
    parts.push_back(fmt::format("[{}, {}]", written(interval.lo), written(interval.hi)));
  if (interval.may_be_pos_inf) parts.emplace_back("inf");
  if (interval.may_be_neg_inf) parts.emplace_back("-inf");
  if (interval.may_be_nan) parts.emplace_back("nan");
  return fmt::format("{}", fmt::join(parts, " or "));
}

/// "rows [0, 2), [5, 6)" where all are whole rows, else "elements [1, 4)".
std::string ranges_text(Elements const& elements) {
  if (elements.ranges.empty()) return "no elements";
  std::int64_t const row = std::max<std::int64_t>(elements.row_numel, 1);
  bool const rows = std::ranges::all_of(elements.ranges, [&](ElementRange const& range) {
    return range.begin % row == 0 && range.end % row == 0;
  });
  std::int64_t const unit = rows ? row : 1;
  std::vector<std::string> texts;
  for (ElementRange const range : elements.ranges)
    texts.push_back(fmt::format("[{}, {})", range.begin / unit, range.end / unit));
  return fmt::format("{} {}", rows ? "rows" : "elements", fmt::join(texts, ", "));
}

std::string settings_text(AdamConfig const& config) {
  return fmt::format("{} lr {} betas {} {} eps {} weight_decay {}{}",
                     config.mode == AdamMode::adamw ? "adamw" : "adam",
                     decimal(config.learning_rate), decimal(config.beta1), decimal(config.beta2),
                     decimal(config.epsilon), decimal(config.weight_decay),
                     config.bias_correction ? "" : " without bias correction");
}

std::string count_text(Breach breach, std::int64_t count) {
  bool const counts_bytes = breach == Breach::other_peak || breach == Breach::never_freed;
  std::string_view const unit = breach == Breach::other_size ? " elements"
                                : counts_bytes               ? " bytes"
                                                             : "";
  return fmt::format("{}{}", count, unit);
}

std::string bytes_text(LiveBytes const& live) {
  return fmt::format("{} bytes on the device and {} pinned", live.device, live.pinned);
}

/// Writes a value as the breach that it belongs to has it.
struct ValueText {
  Breach breach;

  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(Number number) const { return hexadecimal(number.value()); }
  std::string operator()(Interval const& interval) const {
    return interval_text(interval, hexadecimal);
  }
  std::string operator()(Elements const& elements) const {
    return ranges_text(elements) + " in " + std::string(name_of(elements.format));
  }
  std::string operator()(Count count) const { return count_text(breach, count.count); }
  std::string operator()(Presence presence) const {
    if (breach == Breach::moved) return presence.there ? "another address" : "no storage";
    return presence.there ? "a gradient" : "no gradient";
  }
  std::string operator()(AdamConfig const& config) const { return settings_text(config); }
  std::string operator()(LiveBytes const& live) const { return bytes_text(live); }
  std::string operator()(Allocated const& allocated) const {
    return fmt::format("{}{}", allocated.bytes,
                       allocated.on_host ? " pinned bytes" : " bytes on the device");
  }
  std::string operator()(Digest digest) const {
    return breach == Breach::other_gathered ? fmt::format("fingerprint {}", digest.digest)
                                            : fmt::format("{:016x}", digest.digest);
  }
};

std::string decimal_text(Value const& value) {
  if (auto const* number = std::get_if<Number>(&value)) return decimal(number->value());
  if (auto const* interval = std::get_if<Interval>(&value))
    return interval_text(*interval, decimal);
  return "";
}

std::string answer_of(Violation const& violation) {
  return violation.reason + ": " + violation.text;
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
  switch (violation.breach) {
    case Breach::other_scale:
      return fmt::format("the scale that the rank stores its numbers with differs from {}'s",
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
  switch (violation.breach) {
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
  switch (violation.breach) {
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
  switch (violation.breach) {
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
                 : "the files of the save have another value than the oracle";
    default:
      return "the files are no checkpoint of this model: " + violation.text;
  }
}

std::string sentence_on_failures(Violation const& violation) {
  Call const call = call_of(violation);
  switch (violation.breach) {
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
             ValueText{violation.breach}(std::get<LiveBytes>(violation.actual));
  }
}

// ---- both sides --------------------------------------------------------------------------------

Sides sides_of_numbers(Violation const& violation) {
  return {.expected = std::visit(ValueText{violation.breach}, violation.expected),
          .actual = std::visit(ValueText{violation.breach}, violation.actual),
          .expected_decimal = decimal_text(violation.expected),
          .actual_decimal = decimal_text(violation.actual)};
}

/// What stands on a side that has no value.
Sides default_sides(Violation const& violation) {
  switch (violation.breach) {
    case Breach::other_elements:
      return {.actual = "no storage for them"};
    case Breach::moved:
      return {.expected = "the address that it had"};
    case Breach::unlisted_allocation:
      return {.expected = "no such allocation"};
    case Breach::left_allocation:
    case Breach::never_freed:
      return {.expected = "nothing"};
    case Breach::left_handles:
      return {.expected = "none"};
    case Breach::dead_buffer:
      return {.expected = "a live allocation", .actual = "none"};
    case Breach::damage_unnoticed:
      return {.expected = "a refusal: damaged_checkpoint", .actual = "the load returned"};
    case Breach::damage_misjudged:
      return {.expected = "a refusal: damaged_checkpoint", .actual = answer_of(violation)};
    case Breach::not_loaded:
      return {.expected = "what was saved", .actual = answer_of(violation)};
    case Breach::rounded_unasked:
      return {.expected = "a refusal: incompatible_checkpoint", .actual = "the load returned"};
    case Breach::foreign_loaded:
      return {.expected = "a refusal", .actual = "the load returned"};
    default:
      return {};
  }
}

}  // namespace

std::string hexadecimal(float x) {
  return printed("%a", x);
}

std::string decimal(float x) {
  return printed("%.9g", x);
}

std::string subject_in_words(Violation const& violation) {
  if (auto const* tensor = about<Tensor>(violation))
    return tensor_name(tensor->parameter, tensor->kind) +
           (violation.breach == Breach::other_scale ? "/scale" : "") +
           (tensor->whole ? " (whole)" : "");
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

std::string repetitions_in_words(Violation const& violation) {
  if (violation.count == 1) return {};
  std::vector<int> const ranks = ranks_of(violation);
  if (ranks.empty()) return fmt::format("{} times", violation.count);
  return fmt::format("{} times, on {} {}", violation.count, ranks.size() == 1 ? "rank" : "ranks",
                     fmt::join(ranks, ", "));
}

Sides sides_in_words(Violation const& violation) {
  Breach const breach = violation.breach;
  if (breach <= Breach::outside_step) return sides_of_numbers(violation);
  if (breach == Breach::memory_kept) return {};  // its sentence says it
  Sides sides = default_sides(violation);
  ValueText const text{breach};
  if (auto expected = std::visit(text, violation.expected); !expected.empty())
    sides.expected = std::move(expected);
  if (auto actual = std::visit(text, violation.actual); !actual.empty())
    sides.actual = std::move(actual);
  return sides;
}

std::string message_of(Violation const& violation) {
  if (violation.breach <= Breach::outside_step) return sentence_on_numbers(violation);
  if (violation.breach <= Breach::other_gathered) return sentence_on_values(violation);
  if (violation.breach <= Breach::left_handles) return sentence_on_memory(violation);
  if (violation.breach <= Breach::foreign_loaded) return sentence_on_checkpoints(violation);
  if (violation.breach <= Breach::memory_kept) return sentence_on_failures(violation);
  if (violation.breach == Breach::other_digest)
    return "the same scenario, seed and choices gave another digest";
  return violation.text;
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
