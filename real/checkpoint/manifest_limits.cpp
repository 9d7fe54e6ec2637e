#include "real/checkpoint/manifest_limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "real/checkpoint/checkpoint_error.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

enum class Kind { whole, rounded, exact };  // the latter two in binary32

struct Limit {
  std::string_view name;
  Kind kind;
  double least;
  double most;
  std::string_view expected;
};

constexpr double largest = double{std::numeric_limits<float>::max()};
constexpr double smallest = double{std::numeric_limits<float>::denorm_min()};
constexpr double below_one = 0x1.fffffep-1;  // the largest of binary32
constexpr double largest_int = double{std::numeric_limits<int>::max()};
constexpr std::string_view of_setting = "a number of at least 0 that is finite in binary32";
constexpr std::string_view of_scale = "a binary32 number above 0";
constexpr std::string_view of_count = "a whole number from 0 to 2^53";

constexpr Limit limits[] = {
    {"version", Kind::whole, 1, largest_int, "a whole number of at least 1"},
    {"world_size", Kind::whole, 1, largest_int, "a whole number of at least 1"},
    {"piece_bytes", Kind::whole, 1, 0x1p53, "a whole number from 1 to 2^53"},
    {"bytes", Kind::whole, 0, 0x1p53, of_count},
    {"shape", Kind::whole, 0, 0x1p53, of_count},
    {"step", Kind::whole, 0, 0x1p53, of_count},
    {"lr", Kind::rounded, 0, largest, of_setting},
    {"eps", Kind::rounded, 0, largest, of_setting},
    {"weight_decay", Kind::rounded, 0, largest, of_setting},
    {"betas", Kind::rounded, 0, below_one, "a number of at least 0 and in binary32 below 1"},
    {"clip", Kind::exact, smallest, largest, of_scale},
    {"loss_scale", Kind::exact, smallest, largest, of_scale},
    {"loss_scale_dynamic", Kind::whole, 0, 1, "0 or 1"},
    // It grows on the thousandth good step, and counts anew.
    {"growth_tracker", Kind::whole, 0, 999, "a whole number from 0 to 999"},
    // Overflows take from it, below 0 too; growth alone makes it 2 again.
    {"hysteresis", Kind::whole, -1e9, 2, "a whole number from -10^9 to 2"},
};

Limit const& limit_of(std::string_view name) {
  auto const* const found =
      std::ranges::find_if(limits, [&](Limit const& limit) { return limit.name == name; });
  ADAMANT_REAL_ASSERT(found != std::end(limits));
  return *found;
}

bool holds(Limit const& limit, double number) {
  if (limit.kind == Kind::whole)
    return number >= limit.least && number <= limit.most && std::trunc(number) == number;
  auto const rounded = static_cast<double>(static_cast<float>(number));
  bool const in_range = rounded >= limit.least && rounded <= limit.most;
  return in_range && (limit.kind == Kind::rounded || rounded == number);
}

/// The shortest that is read back as it.
std::string text_of(double number) {
  std::array<char, 32> text = {};
  auto const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

}  // namespace

double within_limits(std::string_view name, double number, std::string const& where) {
  if (!holds(limit_of(name), number)) refuse_as_number(name, text_of(number), where);
  return number;
}

void refuse_as_number(std::string_view name, std::string const& found, std::string const& where) {
  refuse_damaged(where, ": ", name, " is ", found, ", expected ", limit_of(name).expected);
}

}  // namespace adamant::real
