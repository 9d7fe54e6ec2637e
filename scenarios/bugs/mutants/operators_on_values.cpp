// Values: one more, one less, a constant, another rank.
#include <cctype>

#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

/// The last part of a name: numel of chunk_numel.
std::string_view last_word(std::string_view name) {
  while (name.ends_with('_')) name.remove_suffix(1);
  return name.substr(name.rfind('_') + 1);  // npos + 1 is 0
}

/// Is the chain that ends at i read there, as an argument or an operand?
bool is_read(Body const& code, std::size_t i) {
  std::size_t const first = code.start_of_chain(i);
  if (code.is_muted(i) || first == 0) return false;
  bool const before = code.is_any(first - 1, {"(", ",", "=", "return", "{", "[", "+="}) ||
                      code.is_binary(first - 1);
  bool const after = code.is_any(i + 1, {")", ",", ";", "}", "]"}) || code.is_binary(i + 1);
  return before && after;
}

/// The chain that ends at i, with something behind it.
Replacement extended(Body const& code, std::size_t i, std::string_view by) {
  std::size_t const first = code.start_of_chain(i);
  return {first, i, "(" + code.text(first, i) + std::string(by) + ")"};
}

Words const sizes = {"bytes", "rows", "count", "numel", "size"};
Words const places = {"begin", "end", "first", "last", "offset", "at"};

Rule add_to(Words const& words, std::string_view what) {
  return [=](Body const& code, std::size_t i) -> Found {
    bool const calls_size = i > 1 && code.is(i, ")") && code.is(i - 1, "(") &&
                            code.is(i - 2, "size") && words.contains("size");
    bool const is_named = code.is_name(i) && words.contains(last_word(code[i].text));
    if ((!is_named && !calls_size) || !is_read(code, i)) return {};
    return extended(code, i, what);
  };
}

Found other_number(Body const& code, std::size_t i) {
  std::string_view const text = code[i].text;
  bool const is_number =
      code.is_literal(i) && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
  if (!is_number || code.is_muted(i) || i == 0 || code.is(i - 1, "<")) return {};
  if (text == "0") return Replacement{i, i, "1"};
  if (text == "1") return Replacement{i, i, "0"};
  if (text == "1.0F" || text == "1.0") return Replacement{i, i, "0.5F"};
  bool const is_small = text.size() < 6 && text.find_first_not_of("0123456789") == text.npos;
  return is_small ? Replacement{i, i, "(" + std::string(text) + " - 1)"} : Found();
}

Found other_bool(Body const& code, std::size_t i) {
  if (code.is_muted(i) || !code.is_any(i, {"true", "false"})) return {};
  return Replacement{i, i, code.is(i, "true") ? "false" : "true"};
}

Found nothing_returned(Body const& code, std::size_t i) {
  if (!code.is(i, "return") || code.is_any(i + 1, {";", "{"}) || code.is_void()) return {};
  std::size_t const last = code.end_of_operand(i + 1, 0);
  return code.is(last + 1, ";") ? Replacement{i + 1, last, "{}"} : Found();
}

/// Does a `where.rank` end at i that is read?
bool is_rank(Body const& code, std::size_t i) {
  return i > 1 && code.is(i, "rank") && code.is(i - 1, ".") && is_read(code, i);
}

Rule other_rank(std::string_view what) {
  return [=](Body const& code, std::size_t i) -> Found {
    return is_rank(code, i) ? extended(code, i, what) : Found();
  };
}

Found last_rank(Body const& code, std::size_t i) {
  if (!is_rank(code, i) || !code.is_any(i - 2, {"where", "where_"})) return {};
  std::size_t const first = code.start_of_chain(i);
  return Replacement{first, i, "(" + code.text(first, i - 1) + "world_size - 1)"};
}

Found pageable(Body const& code, std::size_t i) {
  bool const names_it = code.is(i, "pinned") || code[i].text.starts_with("pin_");
  if (!code.is_name(i) || !names_it || code.is(i + 1, "(") || !is_read(code, i)) return {};
  return Replacement{code.start_of_chain(i), i, "false"};
}

/// crc32c(x) becomes that of all but the last byte.
Found checksum_range(Body const& code, std::size_t i) {
  if (!code.is(i, "crc32c") || !code.is(i + 1, "(") || !code.is_name(i + 2)) return {};
  std::string const bytes = code.text(i + 2, i + 2);
  if (code.partner(i + 1) != i + 3) return {};
  return Replacement{i + 2, i + 2, bytes + ".first(" + bytes + ".size() - 1)"};
}

/// Is what stands between the brackets a name, or a chain of names?
bool is_chain(Body const& code, std::size_t first, std::size_t last) {
  return code.is_name(last) && code.start_of_chain(last) == first;
}

/// f(a, b) becomes f(b, a), where both are names.
Found swap_arguments(Body const& code, std::size_t i) {
  bool const begins = i > 0 && (code.is(i, ",") || (code.is(i, "(") && code.is_name(i - 1)));
  if (!begins || code.is_muted(i)) return {};
  std::size_t const a = i + 1;
  std::size_t const a_end = code.end_of_operand(a, 0);
  if (!code.is(a_end + 1, ",")) return {};
  std::size_t const b = a_end + 2;
  std::size_t const b_end = code.end_of_operand(b, 0);
  if (!is_chain(code, a, a_end) || !is_chain(code, b, b_end)) return {};
  return Replacement{a, b_end, code.text(b, b_end) + ", " + code.text(a, a_end)};
}

}  // namespace

std::vector<Operator> operators_on_values() {
  return {
      {"size_plus_one", "a size or a count is one too large", add_to(sizes, " + 1")},
      {"size_minus_one", "a size or a count is one too small", add_to(sizes, " - 1")},
      {"place_plus_one", "a begin or an end is one too far", add_to(places, " + 1")},
      {"place_minus_one", "a begin or an end is one too early", add_to(places, " - 1")},
      {"other_number", "another constant", other_number},
      {"other_bool", "true for false", other_bool},
      {"nothing_returned", "a function returns nothing, or zero", nothing_returned},
      {"next_rank", "the next rank instead of this one", other_rank(" + 1")},
      {"first_rank", "the first rank instead of this one", other_rank(" * 0")},
      {"last_rank", "the last rank instead of this one", last_rank},
      {"pageable", "memory that should be pinned is pageable", pageable},
      {"checksum_range", "a checksum leaves out the last byte", checksum_range},
      {"swap_arguments", "two arguments are swapped", swap_arguments},
  };
}

}  // namespace adamant::bugs
