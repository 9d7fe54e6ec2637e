// Python source as people lay it out: lines, indentation, and brackets that break where they do not
// fit into a line, so that `ruff format` has nothing to change. It knows the layout of Python
// and nothing of what the lines say.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adamant::scenarios::python {

inline constexpr std::size_t columns_max = 100;
/// Of scripts that would have too many lines otherwise.
inline constexpr std::size_t wide_columns_max = 120;

/// A value written out: an atom ("0.5", "model"), or a list or a dictionary of values.
struct Literal {
  std::string prefix = "";  // of a dictionary's item: its key and colon
  std::string atom = "";    // empty: brackets around `items`
  char open = '[';
  std::vector<Literal> items = {};
};

Literal atom(std::string text);
Literal list(std::vector<Literal> items);
Literal dictionary(std::vector<Literal> items);
/// `item` under a key of a dictionary.
Literal keyed(std::string_view key, Literal item);

/// How often do numbers, names and the like stand in it?
std::size_t atom_count(Literal const& literal);

/// Text in double quotes, with what Python would read otherwise escaped.
std::string quoted(std::string_view text);

/// A number that reads back as the same binary32 number through binary64; inf and nan by these
/// names.
std::string number(float x);
/// The same for a number that is not rounded to binary32 by whoever reads it.
std::string exact_number(float x);

/// Does a list have this atom in it? Of inf and nan, which are no literals.
bool has_word(std::string const& source, std::string const& word);

std::size_t line_count(std::string_view source);

/// Source text under construction.
class Code {
 public:
  explicit Code(std::size_t columns = columns_max) : columns_(columns) {}

  void line(std::string_view text);
  void blank(int count = 1);
  /// `name = literal`, with one item a line where it does not fit.
  void assign(std::string_view name, Literal const& literal);
  /// `head(arguments)tail`: on one line, else with its arguments on a line of their own, else with
  /// one a line.
  void call(std::string_view head, std::vector<std::string> const& arguments,
            std::string_view tail = "");
  /// `name = literal` of numbers too many for one a line: rows as long as lines can be, which no
  /// formatter touches.
  void assign_packed(std::string_view name, Literal const& literal);
  /// Would it be one line here?
  bool fits(std::string_view text) const;

  void indent() { ++depth_; }
  void dedent() { --depth_; }

  std::string const& text() const { return text_; }

 private:
  void pack(std::string rest);
  void literal(std::string_view before, Literal const& literal, std::string_view after);
  std::string margin() const { return std::string(4 * depth_, ' '); }

  std::string text_;
  std::size_t columns_;
  std::size_t depth_ = 0;
};

/// A value on one line, however long.
std::string flat(Literal const& literal);

/// The lines inside a block are one level further in.
class Block {
 public:
  Block(Code& code, std::string_view head) : code_(code) {
    code_.line(head);
    code_.indent();
  }
  ~Block() { code_.dedent(); }
  Block(Block const&) = delete;  // two would leave the same level
  Block& operator=(Block const&) = delete;

 private:
  Code& code_;
};

}  // namespace adamant::scenarios::python
