// The words of the scenario format for every enumeration, each written once: files and messages say
// the same. What the values mean is known where they are declared.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/capabilities.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// The words for the values of one enumeration, in the order of its enumerators.
template <typename Enum>
inline constexpr std::span<std::string_view const> words_of{};

#define ADAMANT_WORDS(Enum, list, ...)                                       \
  inline constexpr auto list = std::to_array<std::string_view>(__VA_ARGS__); \
  template <>                                                                \
  inline constexpr std::span<std::string_view const> words_of<Enum> {        \
    list                                                                     \
  }

ADAMANT_WORDS(Outer, outer_words, {"none", "optim"});
ADAMANT_WORDS(Layout, layout_words, {"fsdp2", "flat", "bucketed"});
ADAMANT_WORDS(ParamOrder, param_order_words, {"listed", "reversed"});
ADAMANT_WORDS(ParamType, param_type_words,
              {"fp32", "bf16", "fp16", "fp8_delayed", "fp8_current", "fp8_block", "mxfp8",
               "nvfp4"});
ADAMANT_WORDS(GradType, grad_type_words, {"fp32", "bf16", "fp16"});
ADAMANT_WORDS(MainType, main_type_words, {"none", "fp32", "bf16", "fp16", "remainder"});
ADAMANT_WORDS(StateType, state_type_words, {"fp32", "bf16", "fp16", "fp8"});
ADAMANT_WORDS(StateScale, state_scale_words, {"global", "local", "none"});
ADAMANT_WORDS(AdamMode, adam_mode_words, {"adamw", "adam"});
ADAMANT_WORDS(StepCounter, step_counter_words, {"group", "parameter"});
ADAMANT_WORDS(GradientClass, gradient_class_words, {"exact", "normal", "wild"});
ADAMANT_WORDS(LossScale::Kind, loss_scale_words, {"none", "a number", "dynamic"});
ADAMANT_WORDS(Schedule::Strategy, strategy_words, {"fifo", "random", "pct", "exhaustive"});
ADAMANT_WORDS(Fault::Where, fault_where_words, {"save", "malloc", "load"});
ADAMANT_WORDS(Fault::Then, fault_then_words,
              {"crash", "out_of_memory", "flip_byte", "truncate", "remove_file", "stale_file"});

ADAMANT_WORDS(Arithmetic, arithmetic_words, {"te", "torch", "torch_fused", "interval"});
ADAMANT_WORDS(GradientType, gradient_type_words, {"grad", "param", "both"});
ADAMANT_WORDS(Promise, promise_words, {"worlds", "repeated", "options", "resumed"});
ADAMANT_WORDS(ZeroGradKind, zero_grad_words, {"none", "zeros"});

#undef ADAMANT_WORDS

/// The word for `value`.
template <typename Enum>
constexpr std::string_view word_for(Enum value) {
  return words_of<Enum>[static_cast<std::size_t>(value)];
}

/// All values of an enumeration that has words, in their order.
template <typename Enum>
std::vector<Enum> every() {
  std::vector<Enum> values;
  for (std::size_t i = 0; i < words_of<Enum>.size(); ++i) values.push_back(static_cast<Enum>(i));
  return values;
}

/// The inverse, where `words` name the values of `Enum` in their order; nothing for other words.
template <typename Enum>
std::optional<Enum> value_named(std::span<std::string_view const> words, std::string_view word) {
  auto const found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

/// `words` as they stand in messages: "a, b or c".
std::string list_words(std::span<std::string_view const> words);

/// The words for `values`, likewise.
template <typename Enum>
std::string listed(std::vector<Enum> const& values) {
  std::vector<std::string_view> words;
  for (Enum const value : values) words.push_back(word_for(value));
  return list_words(words);
}

}  // namespace adamant::scenarios
