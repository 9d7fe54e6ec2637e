// Mutations of text that keep most of its brackets and quotes: another word or number in the place
// of one, a line or what stands in brackets once more, elsewhere, or not at all. Bytes alone would
// be refused by nearly every parser. A length before the text, as safetensors files have it, is
// kept right.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world/prng.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace adamant::properties {

namespace {

using sim::Prng;

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

template <typename List>
auto const& any_of(List const& list, Prng& draw) {
  return list[draw.below(static_cast<std::uint32_t>(std::size(list)))];
}

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_.+-/").find(c) != std::string_view::npos;
}

/// Words, numbers, and quoted text with its quotes.
std::vector<Span> words_in(std::string const& text) {
  std::vector<Span> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (text[at] == '"') {
      for (++end; end < text.size() && text[end] != '"'; ++end)
        if (text[end] == '\\') ++end;
      end = std::min(end + 1, text.size());
    } else {
      while (end < text.size() && is_of_word(text[end])) ++end;
    }
    if (end > at) words.push_back({at, end});
    at = std::max(end, at + 1);
  }
  return words;
}

/// From brackets that open to those that close them, both included.
std::vector<Span> brackets_in(std::string const& text) {
  std::vector<Span> closed;
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '{') open.push_back(at);
    if ((text[at] != ']' && text[at] != '}') || open.empty()) continue;
    closed.push_back({open.back(), at + 1});
    open.pop_back();
  }
  return closed;
}

std::vector<Span> lines_in(std::string const& text) {
  std::vector<Span> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back({at, end});
    at = end;
  }
  return lines;
}

std::string cut(std::string const& text, Span const& span) {
  return text.substr(span.begin, span.end - span.begin);
}

void replace(std::string& text, Span const& span, std::string const& by) {
  text.replace(span.begin, span.end - span.begin, by);
}

bool is_number(std::string const& word) {
  return std::isdigit(static_cast<unsigned char>(word.back())) != 0 &&
         word.find_first_not_of("0123456789.+-e") == std::string::npos;
}

std::string const& number(Prng& draw) {
  static std::vector<std::string> const numbers = {"0",
                                                   "1",
                                                   "2",
                                                   "3",
                                                   "4",
                                                   "7",
                                                   "8",
                                                   "64",
                                                   "-1",
                                                   "0.5",
                                                   "1.0",
                                                   "1e-3",
                                                   "1e300",
                                                   "1e-300",
                                                   "-0.0",
                                                   "255",
                                                   "65536",
                                                   "2147483647",
                                                   "2147483648",
                                                   "-2147483649",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "-9223372036854775808",
                                                   "18446744073709551615",
                                                   "18446744073709551616",
                                                   "1152921504606846976"};
  return any_of(numbers, draw);
}

void change_word(std::string& text, Prng& draw) {
  auto const words = words_in(text);
  if (words.empty()) return;
  Span const& word = any_of(words, draw);
  bool const counts = is_number(cut(text, word)) && draw.below(4) != 0;
  replace(text, word, counts ? number(draw) : cut(text, any_of(words, draw)));
}

/// What stands there once more, in the place of something alike, or gone.
void change_part(std::string& text, std::vector<Span> const& parts, std::string_view between,
                 Prng& draw) {
  if (parts.empty()) return;
  Span const& part = any_of(parts, draw);
  std::string const copy = cut(text, part);
  switch (draw.below(3)) {
    case 0:
      text.insert(part.end, std::string(between) + copy);
      return;
    case 1:
      return replace(text, any_of(parts, draw), copy);
    default:
      return replace(text, part, between.empty() ? "" : copy.substr(0, 1) + copy.back());
  }
}

void mutate(std::string& text, Prng& draw) {
  switch (draw.below(4)) {
    case 0:
    case 1:
      return change_word(text, draw);
    case 2:
      return change_part(text, brackets_in(text), ", ", draw);
    default:
      return change_part(text, lines_in(text), "", draw);
  }
}

/// Of a safetensors file: where its header ends.
std::optional<std::size_t> header_end(std::string const& text) {
  std::uint64_t length = 0;
  if (text.size() <= sizeof length || text[sizeof length] != '{') return std::nullopt;
  std::memcpy(&length, text.data(), sizeof length);
  if (length > text.size() - sizeof length) return std::nullopt;
  return sizeof length + length;
}

std::string mutated(std::string const& text, Prng& draw) {
  auto const end = header_end(text);
  std::string part = end ? text.substr(sizeof(std::uint64_t), *end - sizeof(std::uint64_t)) : text;
  for (unsigned count = 1 + draw.below(3); count > 0; --count) mutate(part, draw);
  if (!end) return part;
  std::uint64_t const length = part.size();
  return std::string(reinterpret_cast<char const*>(&length), sizeof length) + part +
         text.substr(*end);
}

}  // namespace

}  // namespace adamant::properties

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  adamant::sim::Prng draw(seed);
  if (draw.below(3) == 0) return LLVMFuzzerMutate(data, size, size_max);
  std::string const text =
      adamant::properties::mutated(std::string(reinterpret_cast<char const*>(data), size), draw);
  if (text.empty() || text.size() > size_max) return LLVMFuzzerMutate(data, size, size_max);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
