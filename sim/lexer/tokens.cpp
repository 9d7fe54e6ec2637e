#include "sim/lexer/tokens.h"

#include <algorithm>
#include <array>
#include <utility>

namespace adamant::sim {
namespace {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool continues_name(char c) {
  return starts_name(c) || is_digit(c);
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

class Cutter {
 public:
  explicit Cutter(std::string_view source) : source_(source) {}

  std::vector<Token> cut() {
    while (at_ < source_.size()) {
      std::size_t const begin = at_;
      TokenKind const kind = advance();
      emit(kind, begin);
    }
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  bool looking_at(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  /// Length of a spliced line end (backslash, line end) here, or 0.
  std::size_t splice() const {
    if (looking_at("\\\n")) return 2;
    return looking_at("\\\r\n") ? 3 : 0;
  }

  void emit(TokenKind kind, std::size_t begin) {
    std::string_view const text = source_.substr(begin, at_ - begin);
    tokens_.push_back({kind, text, begin, line_});
    auto const line_ends = std::ranges::count(text, '\n');
    line_ += static_cast<int>(line_ends);
    if (kind == TokenKind::space && line_ends > 0 && text.front() == '\n') fresh_line_ = true;
    if (kind != TokenKind::space && kind != TokenKind::comment) fresh_line_ = false;
  }

  TokenKind advance() {
    char const c = peek();
    if (c == '\n' || is_blank(c) || splice() != 0) return skip_space();
    if (looking_at("//")) return skip_line(TokenKind::comment);
    if (looking_at("/*")) return skip_block_comment();
    if (c == '#' && fresh_line_) return skip_line(TokenKind::directive);
    if (c == '"' || c == '\'') return skip_quoted(c);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return skip_number();
    if (starts_name(c)) return skip_name();
    return skip_mark();
  }

  TokenKind skip_space() {
    if (peek() == '\n') {  // alone, so that a fresh line is seen
      ++at_;
      return TokenKind::space;
    }
    while (is_blank(peek()) || splice() != 0) at_ += std::max<std::size_t>(splice(), 1);
    return TokenKind::space;
  }

  TokenKind skip_line(TokenKind kind) {
    while (at_ < source_.size() && peek() != '\n') {
      if (kind == TokenKind::directive && looking_at("/*")) {
        skip_block_comment();
      } else if (kind == TokenKind::directive && looking_at("//")) {
        skip_line(TokenKind::comment);
      } else {
        at_ += std::max<std::size_t>(splice(), 1);
      }
    }
    return kind;
  }

  TokenKind skip_block_comment() {
    std::size_t const end = source_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? source_.size() : end + 2;
    return TokenKind::comment;
  }

  TokenKind skip_quoted(char quote) {
    ++at_;
    while (at_ < source_.size() && peek() != quote && peek() != '\n') {
      at_ += splice() != 0 ? splice() : (peek() == '\\' ? 2 : 1);
    }
    at_ = std::min(peek() == quote ? at_ + 1 : at_, source_.size());
    return TokenKind::literal;
  }

  TokenKind skip_raw_string() {
    std::size_t const open = source_.find('(', at_);
    if (open == std::string_view::npos) return skip_quoted('"');
    std::string close(")");
    close.append(source_, at_ + 1, open - at_ - 1).append("\"");
    std::size_t const end = source_.find(close, open);
    at_ = end == std::string_view::npos ? source_.size() : end + close.size();
    return TokenKind::literal;
  }

  TokenKind skip_number() {
    while (continues_name(peek()) || peek() == '.' || (peek() == '\'' && continues_name(peek(1))) ||
           ((peek() == '+' || peek() == '-') && is_exponent(source_[at_ - 1]))) {
      ++at_;
    }
    return TokenKind::literal;
  }
  bool is_exponent(char c) const { return c == 'e' || c == 'E' || c == 'p' || c == 'P'; }

  TokenKind skip_name() {
    std::size_t const begin = at_;
    while (continues_name(peek())) ++at_;
    std::string_view const text = source_.substr(begin, at_ - begin);
    if (peek() == '"' &&
        (text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R")) {
      return skip_raw_string();
    }
    return TokenKind::name;
  }

  TokenKind skip_mark() {
    static constexpr auto pairs =
        std::to_array<std::string_view>({"->", "::", "<=", ">=", "==", "!=", "&&", "||",  //
                                         "+=", "-=", "*=", "/=", "|=", "&=", "++", "--"});
    bool const two = std::ranges::any_of(pairs, [&](auto pair) { return looking_at(pair); });
    at_ += two ? 2 : 1;
    return TokenKind::mark;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;  // only blanks and comments since the line began
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Cutter(source).cut();
}

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, &Edit::begin);
  std::string result;
  std::size_t at = 0;
  for (Edit const& edit : edits) {
    result.append(text, at, edit.begin - at).append(edit.text);
    at = edit.end;
  }
  return result.append(text, at);
}

}  // namespace adamant::sim
