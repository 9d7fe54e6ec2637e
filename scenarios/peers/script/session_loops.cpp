#include "scenarios/peers/script/session_loops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

namespace adamant::scenarios::script {

namespace {

using python::Block;
using python::Code;
using python::Literal;
using Steps = std::span<SessionStep const>;

constexpr std::size_t body_max = 12;

bool is_alike(SessionStep const& a, SessionStep const& b) {
  return a.is_call() && b.is_call() && a.before == b.before &&
         a.gradients.has_value() == b.gradients.has_value() &&
         python::source_of(a.call) == python::source_of(b.call);
}

/// How often do the first `length` steps come one after the other?
std::size_t repetitions(Steps steps, std::size_t length) {
  Steps const body = steps.first(length);
  std::size_t count = 1;
  while (steps.size() >= (count + 1) * length &&
         std::ranges::equal(body, steps.subspan(count * length, length), is_alike))
    ++count;
  return count;
}

/// The numbers of the gradients that a body has in each turn. A loop has one variable, so one
/// backward is all that may be in it.
std::vector<std::size_t> numbers_of(Steps steps) {
  std::vector<std::size_t> numbers;
  for (SessionStep const& step : steps)
    if (step.gradients) numbers.push_back(*step.gradients);
  return numbers;
}

struct Loop {
  std::size_t length = 1;
  std::size_t count = 1;

  /// Lines that it has less than its steps.
  std::ptrdiff_t saving() const { return static_cast<std::ptrdiff_t>(length * (count - 1)) - 1; }
};

Loop loop_of(Steps steps) {
  Loop best;
  for (std::size_t length = 1; length <= std::min(body_max, steps.size() / 2); ++length) {
    if (!std::ranges::all_of(steps.first(length), &SessionStep::is_call)) break;
    if (numbers_of(steps.first(length)).size() > 1) break;
    Loop const loop{.length = length, .count = repetitions(steps, length)};
    if (loop.saving() > std::max<std::ptrdiff_t>(best.saving(), 0)) best = loop;
  }
  return best;
}

void write_call(Code& code, SessionStep const& step, Literal call) {
  call.prefix = step.before + call.prefix;
  code.statement(call);
}

void write_step(Code& code, SessionStep const& step) {
  for (std::string const& line : step.lines) code.line(line);
  if (step.is_call()) write_call(code, step, with_number(step.call, step.gradients.value_or(0)));
}

std::string head_of(std::vector<std::size_t> const& numbers, std::size_t count) {
  if (numbers.empty()) return fmt::format("for _ in range({}):", count);
  std::size_t const first = numbers.front();
  bool in_a_row = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) in_a_row = in_a_row && numbers[i] == first + i;
  if (in_a_row) return fmt::format("for number in range({}, {}):", first, first + count);
  return fmt::format("for number in ({}):", fmt::join(numbers, ", "));
}

void write_loop(Code& code, Steps steps, Loop const& loop) {
  Block const block(code, head_of(numbers_of(steps), loop.count));
  for (SessionStep const& step : steps.first(loop.length)) write_call(code, step, step.call);
}

}  // namespace

Literal with_number(Literal call, std::size_t number) {
  constexpr std::string_view place = gradients_number;
  if (auto const at = call.atom.find(place); at != std::string::npos)
    call.atom.replace(at, place.size(), std::to_string(number));
  for (Literal& item : call.items) item = with_number(std::move(item), number);
  return call;
}

void write_steps(Code& code, std::vector<SessionStep> const& steps) {
  Steps rest(steps);
  while (!rest.empty()) {
    Loop const loop = loop_of(rest);
    Steps const now = rest.first(loop.length * loop.count);
    if (loop.count > 1)
      write_loop(code, now, loop);
    else
      write_step(code, now.front());
    rest = rest.subspan(now.size());
  }
}

}  // namespace adamant::scenarios::script
