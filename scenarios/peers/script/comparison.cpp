#include "scenarios/peers/script/comparison.h"

#include <fmt/format.h>

#include "scenarios/peers/script/expected.h"

namespace adamant::scenarios::script {

namespace {

using python::Code;

/// What is printed of `name`, a text with a number.
std::string shown(Violation const& violation, std::string_view name) {
  bool const hexadecimal = expects_number(violation) || allowed_by(violation);
  if (!hexadecimal) return fmt::format("{{{}}}", name);
  return fmt::format("{{{}}} = {{float.fromhex({})}}", name, name);
}

void compare_with_interval(Code& code, Violation const& violation, Allowed const& interval,
                           std::string const& place) {
  std::string allowed = interval.low.empty() ? "" : "[{LOW.hex()}, {HIGH.hex()}]";
  std::string test = interval.low.empty() ? "" : "LOW <= value <= HIGH";
  for (std::string const& other : interval.others) {
    allowed.append(allowed.empty() ? "" : " or ").append(other);
    test.append(test.empty() ? "" : " or ")
        .append(fmt::format("actual == {}", python::quoted(other)));
  }
  code.line("value = float.fromhex(actual)");
  code.line(fmt::format("print(f\"{}: expected {}\")", place, allowed));
  code.line(fmt::format("print(f\"{}: actual   {}\")", place, shown(violation, "actual")));
  code.line(fmt::format("sys.exit(not ({}))", test));
}

/// `expected`: what the name of that side is.
void compare(Code& code, Violation const& violation, std::string const& place,
             std::string const& expected) {
  code.line(fmt::format("print(f\"{}: expected {}\")", place, shown(violation, expected)));
  code.line(fmt::format("print(f\"{}: actual   {}\")", place, shown(violation, "actual")));
  code.line(fmt::format("sys.exit(actual != {})", expected));
}

}  // namespace

void write_expected(Code& code, Violation const& violation, std::string const& expected) {
  auto const interval = allowed_by(violation);
  if (!interval) return code.line(fmt::format("EXPECTED = {}", python::quoted(expected)));
  if (!interval->low.empty())
    code.line(fmt::format("LOW, HIGH = float.fromhex(\"{}\"), float.fromhex(\"{}\")", interval->low,
                          interval->high));
}

void write_comparison(Code& code, Violation const& violation, std::string const& place) {
  if (auto const interval = allowed_by(violation))
    return compare_with_interval(code, violation, *interval, place);
  compare(code, violation, place, "EXPECTED");
}

void write_comparison_of_runs(Code& code, Violation const& violation, std::string const& place) {
  compare(code, violation, place, "expected");
}

void write_comparison_of_ranks(Code& code, int first, int second, std::string const& place) {
  code.line(fmt::format("print(f\"{}: rank {} has {{expected}}, rank {} has {{actual}}\")", place,
                        first, second));
  code.line("sys.exit(actual != expected)");
}

void write_first_difference(Code& code) {
  code.line(
      "different = next(((first, second) for first, second in zip(*runs) if first != second), "
      "None)");
  {
    python::Block const found(code, "if different:");
    code.line("(place, expected), (_, actual) = different");
    code.line("print(f\"{place}: expected {expected}\")");
    code.line("print(f\"{place}: actual   {actual}\")");
  }
  code.line("sys.exit(different is not None)");
}

}  // namespace adamant::scenarios::script
