#include "scenarios/language/yaml/syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace adamant::scenarios {

namespace {

// Of what a plain value or a bracket begins with; others go on below, as a block or a quote.
bool begins_whole_value(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-.[{").find(c) != std::string_view::npos;
}

/// One line, and how many brackets are open where it begins.
struct Line {
  std::string_view text;
  std::size_t depth = 0;

  std::size_t indent() const { return std::min(text.find_first_not_of(" -"), text.size()); }
  std::size_t dash() const { return std::min(text.find_first_not_of(' '), text.size()); }
  bool is_item() const { return text.substr(dash()).starts_with("- "); }
  std::string_view content() const { return text.substr(indent()); }
  bool is_blank() const {
    auto const first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos || text[first] == '#';
  }
  std::size_t leading_spaces() const { return std::min(text.find_first_not_of(' '), text.size()); }
  /// Of a line that ends in `>` or `|`, such as `about: >-`: what the block's text is deeper than.
  std::optional<std::size_t> block() const {
    auto const last = text.find_last_not_of(" \r+-0123456789");
    if (last == std::string_view::npos || (text[last] != '>' && text[last] != '|'))
      return std::nullopt;
    if (last == indent()) return dash();  // an item of a list
    bool const is_value = last > indent() + 1 && text.substr(last - 2, 2) == ": ";
    return is_value ? std::optional(indent()) : std::nullopt;
  }
  /// A key with its value on the same line, so that nothing can stand below it. REQUIRES: no
  /// bracket is open at its end.
  bool is_complete() const {
    auto const colon = content().find(": ");
    if (colon == std::string_view::npos) return false;
    auto const value = content().find_first_not_of(' ', colon + 1);
    return value != std::string_view::npos && begins_whole_value(content()[value]);
  }
  bool has_key() const {
    auto const colon = content().find(':');
    if (colon == std::string_view::npos) return false;
    return colon + 1 == content().size() || content()[colon + 1] == ' ';
  }
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, static_cast<std::size_t>(
                            std::find_if_not(text.begin(), text.end(), is_word) - text.begin()));
}

/// Goes through a text once: its lines, and the brackets and quotes that stay open.
class Scan {
 public:
  explicit Scan(std::string_view text) {
    std::size_t begin = 0;
    while (begin <= text.size()) {
      std::size_t const end = std::min(text.find('\n', begin), text.size());
      add({.text = text.substr(begin, end - begin), .depth = open_.size()});
      begin = end + 1;
    }
  }

  std::vector<Line> const& lines() const { return lines_; }

  /// A quote that stays open to the end, or as far as the line where something was noticed.
  std::optional<SyntaxCause> quote(std::size_t noticed) const {
    auto const closed = std::ranges::find(long_quotes_, noticed, &Quote::closed);
    if (quote_.mark == 0 && closed == long_quotes_.end()) return std::nullopt;
    Quote const& open = closed == long_quotes_.end() ? quote_ : *closed;
    return SyntaxCause{static_cast<int>(open.line),
                       fmt::format("`{}` is not closed in this line", open.mark)};
  }

  std::optional<SyntaxCause> bracket() const {
    if (wrong_) return wrong_;
    if (open_.empty()) return std::nullopt;
    return SyntaxCause{open_.back().line, fmt::format("`{}` is never closed; expected `{}`",
                                                      open_.back().bracket, closing(open_.back()))};
  }

 private:
  struct Open {
    char bracket;
    int line;
  };
  struct Quote {
    char mark = 0;
    std::size_t line = 0;
    std::size_t closed = 0;
  };

  /// Text of a block (`about: >`) has no syntax; its lines count as empty ones.
  void add(Line line) {
    bool const deeper = line.is_blank() || (block_ && line.leading_spaces() > *block_);
    if (block_ && deeper) line.text = {};
    if (block_ && !deeper) block_.reset();
    lines_.push_back(line);
    take(line.text);
    if (!block_ && open_.empty() && quote_.mark == 0) block_ = line.block();
  }

  static char closing(Open const& open) { return open.bracket == '[' ? ']' : '}'; }

  void take(std::string_view line) {
    char before = ' ';  // the last that is no space
    for (std::size_t i = 0; i < line.size() && !wrong_; ++i) {
      char const c = line[i];
      if (quote_.mark != 0) {
        if (c == quote_.mark) close_quote();
      } else if (c == '#' && (i == 0 || line[i - 1] == ' ')) {
        return;
      } else if ((c == '"' || c == '\'') && begins_quoted(before)) {
        quote_ = {.mark = c, .line = lines_.size()};
      } else if ((c == '[' || c == '{') && begins_value(before)) {
        open_.push_back({c, static_cast<int>(lines_.size())});
      } else if ((c == ']' || c == '}') && !open_.empty()) {
        close(c);
      }
      if (c != ' ') before = c;
    }
  }

  /// Inside of plain text a bracket is a letter.
  bool begins_value(char before) const {
    return !open_.empty() || before == ' ' || before == ':' || before == '-';
  }

  /// In brackets too an apostrophe may be a letter.
  static bool begins_quoted(char before) {
    return std::string_view(" :-[{,").find(before) != std::string_view::npos;
  }

  void close_quote() {
    quote_.closed = lines_.size();
    if (quote_.line < quote_.closed) long_quotes_.push_back(quote_);
    quote_ = {};
  }

  void close(char c) {
    Open const open = open_.back();
    open_.pop_back();
    if (c == closing(open)) return;
    wrong_ = SyntaxCause{open.line, fmt::format("`{}` is closed by `{}` in line {}; expected `{}`",
                                                open.bracket, c, lines_.size(), closing(open))};
  }

  std::vector<Line> lines_;
  std::optional<std::size_t> block_;  // the indentation that a block's text has to exceed
  std::vector<Open> open_;
  Quote quote_;  // the one that is open; it has a mark
  std::vector<Quote> long_quotes_;
  std::optional<SyntaxCause> wrong_;
};

std::optional<SyntaxCause> find_tab(std::vector<Line> const& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto const indentation = lines[i].text.substr(0, lines[i].text.find_first_not_of(" \t-"));
    if (!lines[i].is_blank() && indentation.find('\t') != std::string_view::npos)
      return SyntaxCause{static_cast<int>(i) + 1,
                         "a tab indents this line; YAML is indented by spaces alone"};
  }
  return std::nullopt;
}

SyntaxCause missing_colon(std::size_t line, std::string_view word) {
  return {static_cast<int>(line) + 1, fmt::format("`{0}` has no colon; expected `{0}:`", word)};
}

/// `shape` of `{name: w, shape [4]}`; empty where each key of the line has its colon.
std::string_view key_without_colon(std::string_view text) {
  for (std::size_t at = text.find_first_of("{,"); at != std::string_view::npos;
       at = text.find_first_of("{,", at + 1)) {
    std::size_t const begin = std::min(text.find_first_not_of(' ', at + 1), text.size());
    std::string_view const word = first_word(text.substr(begin));
    std::string_view const rest = text.substr(begin + word.size());
    if (!word.empty() && (rest.starts_with(" [") || rest.starts_with(" {"))) return word;
  }
  return {};
}

/// `params [` for `params: [`, and `world` above deeper keys for `world:`.
std::optional<SyntaxCause> find_missing_colon(std::vector<Line> const& lines, std::size_t noticed) {
  for (std::size_t i = noticed < 2 ? 0 : noticed - 2; i < noticed; ++i) {
    Line const& line = lines[i];
    std::string_view const inside = key_without_colon(line.text);
    if (!line.is_blank() && !inside.empty()) return missing_colon(i, inside);
    std::string_view const word = first_word(line.content());
    if (line.depth > 0 || line.is_blank() || word.empty()) continue;
    std::string_view const rest = line.content().substr(word.size());
    bool const above_keys = rest.empty() && i + 1 < lines.size() && lines[i + 1].has_key() &&
                            lines[i + 1].dash() > line.dash();
    bool const beside_value = rest.starts_with(" [") || rest.starts_with(" {");
    if (above_keys || beside_value) return missing_colon(i, word);
  }
  return std::nullopt;
}

std::optional<SyntaxCause> find_indentation(std::vector<Line> const& lines, std::size_t noticed) {
  std::vector<std::size_t> open = {0};
  for (std::size_t i = 0; i < noticed && i < lines.size(); ++i) {
    Line const& line = lines[i];
    if (line.is_blank() || line.depth > 0) continue;
    std::vector<std::size_t> const above = open;
    while (open.back() > line.dash()) open.pop_back();
    if (open.back() < line.dash() && open.size() < above.size())
      return SyntaxCause{static_cast<int>(i) + 1,
                         fmt::format("is indented by {}, the lines above by {} or {}", line.dash(),
                                     open.back(), above[open.size()])};
    if (open.back() < line.dash() && line.has_key() && i > 0 && lines[i - 1].is_complete())
      return SyntaxCause{
          static_cast<int>(i) + 1,
          fmt::format("is indented by {}, below a key that has its value; expected {}", line.dash(),
                      open.back())};
    if (open.back() < line.dash()) open.push_back(line.dash());
    if (line.is_item() && line.indent() > line.dash()) open.push_back(line.indent());
  }
  return std::nullopt;
}

}  // namespace

std::optional<SyntaxCause> find_syntax_cause(std::string_view text, int noticed) {
  Scan const scan(text);
  auto const last = std::min(scan.lines().size(), static_cast<std::size_t>(std::max(noticed, 1)));
  if (auto const cause = find_tab(scan.lines())) return cause;
  if (auto const cause = scan.quote(last)) return cause;
  if (auto const cause = find_missing_colon(scan.lines(), last)) return cause;
  if (auto const cause = scan.bracket()) return cause;
  return find_indentation(scan.lines(), last);
}

}  // namespace adamant::scenarios
