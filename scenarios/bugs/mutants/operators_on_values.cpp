// Values: one more, one less, a constant, another rank.
#include <algorithm>
#include <array>
#include <cctype>

#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

using namespace std::string_view_literals;

/// The last part of a name: numel of chunk_numel.
std::string_view last_word(std::string_view name) {
  while (name.ends_with('_')) name.remove_suffix(1);
  return name.substr(name.rfind('_') + 1);  // npos + 1 is 0
}

bool contains(auto const& all, std::string_view text) {
  return std::ranges::find(all, text) != all.end();
}

/// Is the chain that ends at i read there, as an argument or an operand?
bool is_read(Body const& code, std::size_t i) {
  if (code.is_muted(i) || i + 1 >= code.size()) return false;
  std::size_t const first = code.start_of_chain(i);
  if (first == 0) return false;
  bool const before = code.is(first - 1, "(") || code.is(first - 1, ",") ||
                      code.is(first - 1, "=") || code.is(first - 1, "return") ||
                      code.is(first - 1, "{") || code.is(first - 1, "[") ||
                      code.is(first - 1, "+=") || code.is_binary(first - 1);
  bool const after = code.is(i + 1, ")") || code.is(i + 1, ",") || code.is(i + 1, ";") ||
                     code.is(i + 1, "}") || code.is(i + 1, "]") || code.is_binary(i + 1);
  return before && after;
}

constexpr std::array sizes = {"bytes"sv, "rows"sv, "count"sv, "numel"sv, "size"sv};
constexpr std::array places = {"begin"sv, "end"sv, "first"sv, "last"sv, "offset"sv, "at"sv};

void add_to_each(Body const& code, Replacements& found, auto const& words, std::string_view what) {
  for (std::size_t i = 1; i < code.size(); ++i) {
    bool const is_size_of =
        code.is(i, ")") && code.is(i - 1, "(") && code.is_name(i - 2) && code[i - 2].text == "size";
    bool const is_named = code.is_name(i) && contains(words, last_word(code[i].text));
    if ((!is_named && !(is_size_of && contains(words, "size"))) || !is_read(code, i)) continue;
    std::size_t const first = code.start_of_chain(i);
    found.push_back({first, i, "(" + code.text(first, i) + std::string(what) + ")"});
  }
}

void size_plus_one(Body const& code, Replacements& found) {
  add_to_each(code, found, sizes, " + 1");
}
void size_minus_one(Body const& code, Replacements& found) {
  add_to_each(code, found, sizes, " - 1");
}
void place_plus_one(Body const& code, Replacements& found) {
  add_to_each(code, found, places, " + 1");
}
void place_minus_one(Body const& code, Replacements& found) {
  add_to_each(code, found, places, " - 1");
}

bool is_number(Body const& code, std::size_t i) {
  return code.is_literal(i) && std::isdigit(static_cast<unsigned char>(code[i].text.front())) != 0;
}

void other_number(Body const& code, Replacements& found) {
  for (std::size_t i = 1; i + 1 < code.size(); ++i) {
    if (!is_number(code, i) || code.is_muted(i) || code.is(i - 1, "<")) continue;
    std::string_view const text = code[i].text;
    if (text == "0") found.push_back({i, i, "1"});
    if (text == "1") found.push_back({i, i, "0"});
    if (text == "1.0F" || text == "1.0") found.push_back({i, i, "0.5F"});
    if (text.size() < 6 && text.find_first_not_of("0123456789") == std::string_view::npos &&
        text != "0" && text != "1")
      found.push_back({i, i, "(" + std::string(text) + " - 1)"});
  }
}

void other_bool(Body const& code, Replacements& found) {
  for (std::size_t i = 1; i < code.size(); ++i) {
    if (code.is_muted(i)) continue;
    if (code.is(i, "true")) found.push_back({i, i, "false"});
    if (code.is(i, "false")) found.push_back({i, i, "true"});
  }
}

void nothing_returned(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i + 2 < code.size(); ++i) {
    if (!code.is(i, "return") || code.is(i + 1, ";") || code.is(i + 1, "{")) continue;
    if (code.is_void()) continue;
    std::size_t const last = code.end_of_operand(i + 1, 0);
    if (code.is(last + 1, ";")) found.push_back({i + 1, last, "{}"});
  }
}

/// Calls f with the first and last token of each `where.rank` that is read.
void for_each_rank(Body const& code, auto const& f) {
  for (std::size_t i = 2; i < code.size(); ++i)
    if (code.is(i, "rank") && code.is(i - 1, ".") && is_read(code, i)) f(code.start_of_chain(i), i);
}

void next_rank(Body const& code, Replacements& found) {
  for_each_rank(code, [&](std::size_t first, std::size_t last) {
    found.push_back({first, last, "(" + code.text(first, last) + " + 1)"});
  });
}

void first_rank(Body const& code, Replacements& found) {
  for_each_rank(code, [&](std::size_t first, std::size_t last) {
    found.push_back({first, last, "(" + code.text(first, last) + " * 0)"});
  });
}

void last_rank(Body const& code, Replacements& found) {
  for_each_rank(code, [&](std::size_t first, std::size_t last) {
    if (code.is(last - 2, "where") || code.is(last - 2, "where_"))
      found.push_back({first, last, "(" + code.text(first, last - 1) + "world_size - 1)"});
  });
}

void pageable(Body const& code, Replacements& found) {
  for (std::size_t i = 1; i < code.size(); ++i) {
    std::string_view const text = code[i].text;
    bool const names_it = text == "pinned" || text.starts_with("pin_");
    if (code.is_name(i) && names_it && is_read(code, i) && !code.is(i + 1, "("))
      found.push_back({code.start_of_chain(i), i, "false"});
  }
}

/// crc32c(x) becomes that of all but the last byte.
void checksum_range(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i + 3 < code.size(); ++i) {
    if (!code.is(i, "crc32c") || !code.is(i + 1, "(") || !code.is_name(i + 2)) continue;
    std::string const bytes = code.text(i + 2, i + 2);
    if (code.partner(i + 1) == i + 3)
      found.push_back({i + 2, i + 2, bytes + ".first(" + bytes + ".size() - 1)"});
  }
}

/// Is what stands between the brackets a name, or a chain of names?
bool is_chain(Body const& code, std::size_t first, std::size_t last) {
  return code.is_name(last) && code.start_of_chain(last) == first;
}

/// f(a, b) becomes f(b, a), where both are names.
void swap_arguments(Body const& code, Replacements& found) {
  for (std::size_t i = 1; i + 4 < code.size(); ++i) {
    if (!(code.is(i, "(") || code.is(i, ",")) || code.is_muted(i)) continue;
    if (code.is(i, "(") && !code.is_name(i - 1)) continue;
    std::size_t const a = i + 1;
    std::size_t const a_end = code.end_of_operand(a, 0);
    if (!code.is(a_end + 1, ",")) continue;
    std::size_t const b = a_end + 2;
    std::size_t const b_end = code.end_of_operand(b, 0);
    if (!is_chain(code, a, a_end) || !is_chain(code, b, b_end)) continue;
    found.push_back({a, b_end, code.text(b, b_end) + ", " + code.text(a, a_end)});
  }
}

constexpr Operator all[] = {
    {"size_plus_one", "a size or a count is one too large", size_plus_one},
    {"size_minus_one", "a size or a count is one too small", size_minus_one},
    {"place_plus_one", "a begin or an end is one too far", place_plus_one},
    {"place_minus_one", "a begin or an end is one too early", place_minus_one},
    {"other_number", "another constant", other_number},
    {"other_bool", "true for false", other_bool},
    {"nothing_returned", "a function returns nothing, or zero", nothing_returned},
    {"next_rank", "the next rank instead of this one", next_rank},
    {"first_rank", "the first rank instead of this one", first_rank},
    {"last_rank", "the last rank instead of this one", last_rank},
    {"pageable", "memory that should be pinned is pageable", pageable},
    {"checksum_range", "a checksum leaves out the last byte", checksum_range},
    {"swap_arguments", "two arguments are swapped", swap_arguments},
};

}  // namespace

std::span<Operator const> operators_on_values() {
  return all;
}

}  // namespace adamant::bugs
