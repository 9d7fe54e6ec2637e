#include "scenarios/bugs/weaver/functions.h"

#include <optional>

#include "sim/lexer/code.h"
#include "sim/lexer/tokens.h"

namespace adamant::bugs {

namespace {

using sim::Token;

/// What has been seen of the declaration that is being read.
struct Declaration {
  std::size_t begin = 0;                  // its first token
  std::optional<std::size_t> parameters;  // the ( of the last declarator
  std::string declared;                   // that declarator's name
  std::string type;                       // of a class, or of a namespace
  bool opens_scope = false;               // a class or namespace
  bool is_initialised = false;            // = has been seen
  bool in_member_list = false;            // the : of a constructor
  bool in_trailing_part = false;          // -> or requires: what follows declares nothing
};

class Finder {
 public:
  explicit Finder(std::string_view source) : code_(sim::tokenize(source)) {}

  std::vector<Function> find() {
    begin_declaration();
    while (at_ < code_.size()) step();
    return std::move(functions_);
  }

 private:
  bool is(std::size_t i, std::string_view text) const { return code_.is(i, text); }
  bool is_name(std::size_t i) const { return code_.is_name(i); }

  void begin_declaration() {
    now_ = {};
    now_.begin = at_;
  }

  void step() {
    if (is(at_, ";")) {
      ++at_;
      begin_declaration();
    } else if (is(at_, "}")) {
      if (!scopes_.empty()) scopes_.pop_back();
      ++at_;
      begin_declaration();
    } else if (is(at_, "{")) {
      read_brace();
    } else if (is(at_, "(")) {
      read_parenthesis();
    } else if (is(at_, "[")) {
      at_ = code_.after_group(at_);
    } else if (is_name(at_)) {
      read_name();
    } else {
      read_mark();
    }
  }

  // ---- braces --------------------------------------------------------------------------------
  void read_brace() {
    if (is_body()) {
      read_body();
    } else if (now_.opens_scope && !now_.parameters) {
      scopes_.push_back(now_.type);
      ++at_;
      begin_declaration();
    } else {
      at_ = code_.after_group(at_);  // an initialiser
    }
  }

  bool is_body() const {
    if (!now_.parameters || now_.is_initialised) return false;
    if (!now_.in_member_list) return requirements_ != at_ && !is(at_ - 1, "requires");
    return !is_name(at_ - 1) && !is(at_ - 1, ">");  // a_{a}, Base<T>{a}
  }

  void read_body() {
    std::size_t const end = code_.after_group(at_);
    Token const& open = code_[at_];
    Token const& close = code_[end - 1];
    if (is(end - 1, "}"))
      functions_.push_back({.name = qualified(now_.declared),
                            .open = open.offset,
                            .close = close.offset,
                            .first_line = code_[now_.begin].line,
                            .open_line = open.line,
                            .close_line = close.line});
    at_ = end;
    begin_declaration();
  }

  std::string qualified(std::string const& name) const {
    std::string all;
    for (std::string const& scope : scopes_)
      if (!scope.empty()) all += scope + "::";
    return all + name;
  }

  // ---- names and what follows them -------------------------------------------------------------
  void read_name() {
    if (is(at_, "template") && is(at_ + 1, "<")) {
      at_ = code_.after_angles(at_ + 1);
    } else if (is(at_, "operator")) {
      read_operator();
    } else if (is(at_, "namespace")) {
      read_namespace();
    } else if (is_class_key(at_)) {
      read_class();
    } else if (is(at_, "extern") && at_ + 2 < code_.size() && is(at_ + 2, "{")) {
      now_.opens_scope = true;  // extern "C" {
      at_ += 2;
    } else if (is(at_, "requires")) {
      read_requires();
    } else {
      ++at_;
    }
  }

  /// A clause, in whose parentheses a condition stands, or an expression, whose braces are no body.
  void read_requires() {
    bool const is_expression = at_ > 0 && code_.is_any(at_ - 1, {"requires", "&&", "||"});
    now_.in_trailing_part = now_.parameters.has_value();
    if (!is(++at_, "(")) return;
    at_ = code_.after_group(at_);
    if (is_expression) requirements_ = at_;
  }

  void read_operator() {
    std::size_t const begin = at_++;
    if (is(at_, "(")) at_ = code_.after_group(at_);  // operator()
    while (at_ < code_.size() && !is(at_, "(") && !is(at_, ";"))
      at_ = is(at_, "[") ? code_.after_group(at_) : at_ + 1;
    declare(begin, at_);
    if (is(at_, "(")) at_ = code_.after_group(at_);
  }

  void read_namespace() {
    now_.opens_scope = true;
    ++at_;
    while (at_ < code_.size() && !code_.is_any(at_, {"{", ";", "="})) {
      if (is(at_, "[")) {
        at_ = code_.after_group(at_);
      } else if (is(at_, "inline")) {
        ++at_;
      } else {
        now_.type += code_[at_++].text;
      }
    }
  }

  /// `class Name`, which may as well begin the result of a function: parameters would tell.
  void read_class() {
    if (now_.parameters) {
      ++at_;
      return;
    }
    now_.opens_scope = true;
    ++at_;
    while (is(at_, "[") || is(at_, "(") || (is_name(at_) && is(at_ + 1, "(")))
      at_ = is_name(at_) ? at_ + 1 : code_.after_group(at_);  // attributes, alignas(16)
    while (is_name(at_) || is(at_, "::")) {
      if (is_name(at_) && is(at_ + 1, "(")) return;
      if (is_name(at_) && is_name(at_ - 1) && !is_class_key(at_ - 1))
        return;  // final, a declarator
      now_.type += code_[at_++].text;
      if (is(at_, "<")) at_ = code_.after_angles(at_);
    }
  }
  bool is_class_key(std::size_t i) const { return code_.is_any(i, {"class", "struct", "union"}); }

  void read_parenthesis() {
    bool const declares =
        at_ > now_.begin && is_name(at_ - 1) && !now_.in_trailing_part && !now_.in_member_list &&
        !now_.is_initialised &&
        !code_.is_any(at_ - 1, {"noexcept", "decltype", "alignas", "explicit", "requires", "throw",
                                "__attribute__", "__launch_bounds__", "__align__", "sizeof",
                                "alignof", "typeof"});
    if (declares) declare(at_ - 1, at_);
    at_ = code_.after_group(at_);
  }

  /// Where the qualified name begins that ends with the name at i: Outer<T>::~Inner.
  std::size_t start_of_name(std::size_t i) const {
    if (i > now_.begin && is(i - 1, "~")) --i;
    while (i > now_.begin + 1 && is(i - 1, "::")) {
      std::size_t before = i - 2;
      if (is(before, ">")) before = code_.opening_angle(before) - 1;
      if (!is_name(before)) break;
      i = before;
    }
    return i;
  }

  /// The tokens [begin, end) are a name, and parameters follow.
  void declare(std::size_t begin, std::size_t end) {
    if (now_.in_trailing_part || now_.in_member_list || now_.is_initialised) return;
    now_.parameters = end;
    now_.declared.clear();
    for (std::size_t i = start_of_name(begin); i < end; ++i) {
      bool const apart = is_name(i) && i > begin && is_name(i - 1);  // operator bool
      now_.declared.append(apart ? " " : "").append(code_[i].text);
    }
  }

  // ---- marks ---------------------------------------------------------------------------------
  void read_mark() {
    if (is(at_, "=")) now_.is_initialised = true;
    if (is(at_, "->")) now_.in_trailing_part = true;
    if (is(at_, ":")) read_colon();
    bool const angles = is(at_, "<") && !now_.is_initialised;
    at_ = angles ? code_.after_angles(at_) : at_ + 1;
  }

  void read_colon() {
    bool const is_access = code_.is_any(now_.begin, {"public", "private", "protected"});
    if (is_access && at_ == now_.begin + 1) {
      now_.begin = at_ + 1;
    } else if (now_.parameters) {
      now_.in_member_list = true;
    }
  }

  sim::Code code_;
  std::size_t at_ = 0;
  std::size_t requirements_ = 0;  // the { of the last requires (...) { ... }
  Declaration now_;
  std::vector<std::string> scopes_;
  std::vector<Function> functions_;
};

}  // namespace

bool Function::is_called(std::string_view text) const {
  if (text.empty() || !std::string_view(name).ends_with(text)) return false;
  std::size_t const before = name.size() - text.size();
  return before == 0 || std::string_view(name).substr(0, before).ends_with("::");
}

std::vector<Function> find_functions(std::string_view source) {
  return Finder(source).find();
}

}  // namespace adamant::bugs
