// Conditions and loops: taken always, never, or the other way.
#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

/// Calls f with the first and the last token of each condition of an if that declares nothing.
void for_each_condition(Body const& code, auto const& f) {
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (!code.is(i, "if") || !code.is(i + 1, "(")) continue;
    std::size_t const close = code.partner(i + 1);
    bool declares = code.is(i + 2, "auto");
    for (std::size_t k = i + 2; k < close; ++k)
      declares = declares || code.is(k, ";") || code.is(k, "=");
    if (!declares && close > i + 2) f(i + 2, close - 1);
  }
}

void never(Body const& code, Replacements& found) {
  for_each_condition(code, [&](std::size_t first, std::size_t last) {
    found.push_back({first, last, "false && (" + code.text(first, last) + ")"});
  });
}

void always(Body const& code, Replacements& found) {
  for_each_condition(code, [&](std::size_t first, std::size_t last) {
    found.push_back({first, last, "true || (" + code.text(first, last) + ")"});
  });
}

void skip_loop(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code.is(i, "for") || code.is(i, "while"))
      found.push_back({i, i, "if (false) " + code.text(i, i)});
}

/// c ? a : b becomes c ? b : a.
void swap_choice(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i + 3 < code.size(); ++i) {
    if (!code.is(i, "?") || code.is_muted(i)) continue;
    std::size_t const first_end = code.end_of_operand(i + 1, 0);
    if (!code.is(first_end + 1, ":")) continue;
    std::size_t const second = first_end + 2;
    std::size_t const second_end = code.end_of_operand(second, 0);
    found.push_back(
        {i + 1, second_end, code.text(second, second_end) + " : " + code.text(i + 1, first_end)});
  }
}

void other_jump(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code.is(i, "continue") && code.is(i + 1, ";")) found.push_back({i, i, "break"});
}

void skip_every_other(Body const& code, Replacements& found) {
  for (std::size_t i = 1; i + 1 < code.size(); ++i)
    if (code.is(i, "++") && code.is(i - 1, ";") && code.is_name(i + 1) && code.is(i + 2, ")"))
      found.push_back({i, i + 1, code.text(i + 1, i + 1) + " += 2"});
}

/// Begins and ends a round later: i = 1, or the last one twice as far.
void skip_first_round(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i + 4 < code.size(); ++i) {
    if (!code.is(i, "for") || !code.is(i + 1, "(")) continue;
    for (std::size_t k = i + 2; k < code.partner(i + 1) && !code.is(k, ";"); ++k)
      if (code.is(k, "=") && code[k + 1].text == "0" && code.is(k + 2, ";"))
        found.push_back({k + 1, k + 1, "1"});
  }
}

constexpr Operator all[] = {
    {"never", "a branch is never taken", never},
    {"always", "a branch is always taken", always},
    {"skip_loop", "a loop does nothing", skip_loop},
    {"skip_first_round", "a loop leaves out the first round", skip_first_round},
    {"skip_every_other", "a loop leaves out every other round", skip_every_other},
    {"swap_choice", "what is chosen is the other one", swap_choice},
    {"other_jump", "a loop ends where it should go on", other_jump},
};

}  // namespace

std::span<Operator const> operators_on_branches() {
  return all;
}

}  // namespace adamant::bugs
