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

std::string_view saved_by(Violation const& violation) {
  if (about<StepCount>(violation) != nullptr) return "step";
  return violation.text.empty() ? "value" : std::string_view(violation.text);
}

constexpr std::string_view sentences[] = {
#define ADAMANT_BREACH(name, kind, sentence, ...) sentence,
#include "scenarios/seam/breaches.inc"
#undef ADAMANT_BREACH
};

std::string sentence_of(Violation const& violation) {
  auto const* const judged = std::get_if<JudgedBreach>(&violation.breach);
  if (judged == nullptr) return violation.text;
  auto const* const call = about<Call>(violation);
  auto const* const settings = about<GroupSettings>(violation);
  return fmt::format(
      fmt::runtime(sentences[static_cast<std::size_t>(*judged)]),
      fmt::arg("held_to", held_to(violation)), fmt::arg("reduced", what_is_reduced(violation)),
      fmt::arg("group", settings == nullptr ? 0 : settings->group),
      fmt::arg("subject", subject_in_words(violation)), fmt::arg("purpose", purpose_of(violation)),
      fmt::arg("damage", damage_in_words(violation)), fmt::arg("saved", saved_by(violation)),
      fmt::arg("verb", call == nullptr ? "" : call->verb),
      fmt::arg("call", call_in_words(call == nullptr ? Call{} : *call, violation.text)),
      fmt::arg("actual", value_in_words(violation.breach, violation.actual)),
      fmt::arg("text", violation.text));
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
