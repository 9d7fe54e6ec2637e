#include "sim/lexer/rewrite.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/lexer/clone_names.h"
#include "sim/lexer/code.h"
#include "sim/lexer/macros.h"
#include "sim/lexer/tokens.h"

namespace adamant::sim {
namespace {

class Rewriter {
 public:
  Rewriter(std::string_view source, std::string_view file)
      : Rewriter(source, file, tokenize(source)) {}

  std::string run() {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (is(i, "__global__")) note_template_kernel(i);
      if (is(i, "extern")) rewrite_shared(i);
      if (is(i, "__noinline__")) rewrite_noinline(i);
      if (names_device_memory(i) && !in_function()) refuse_variable(i);
      if (is_chevron(i, '<')) i = rewrite_launch(i);
      if (in_function() && drops_result(i)) mark_dropped(i);
      track_scope(i);
    }
    return apply();
  }

 private:
  Rewriter(std::string_view source, std::string_view file, std::vector<Token> const& tokens)
      : source_(source), file_(file), code_(tokens) {
    for (Token const& token : tokens)
      if (token.kind == TokenKind::directive) take_directive(token);
  }

  bool is(std::size_t i, std::string_view text) const { return code_.is(i, text); }
  bool is_name(std::size_t i) const { return code_.is_name(i); }

  [[noreturn]] void fail(std::size_t i, std::string const& message) const {
    throw RewriteError(std::string(file_) + ":" + std::to_string(code_[i].line) + ": " + message);
  }

  /// Do three of `mark` without a gap begin at i? `operator<<<T>` is no launch.
  bool is_chevron(std::size_t i, char mark) const {
    std::string_view const text(&mark, 1);
    if (!is(i, text) || !is(i + 1, text) || !is(i + 2, text)) return false;
    if (mark == '<' && i > 0 && is(i - 1, "operator")) return false;
    return code_[i + 2].offset == code_[i].offset + 2;
  }

  // ---- scopes: is a declaration inside a function? -----------------------------------------
  void track_scope(std::size_t i) {
    if (is(i, "{")) scopes_.push_back(opens_function(i));
    if (is(i, "}") && !scopes_.empty()) scopes_.pop_back();
  }
  bool in_function() const { return !scopes_.empty() && scopes_.back(); }
  bool opens_function(std::size_t brace) const {
    if (in_function()) return true;
    for (std::size_t i = brace; i-- > 0 && !is(i, ";") && !is(i, "{") && !is(i, "}");) {
      if (code_.is_any(i, {"namespace", "struct", "class", "union"})) return false;
      if (is(i, ")")) return true;
    }
    return false;
  }

  // ---- template kernels --------------------------------------------------------------------
  void note_template_kernel(std::size_t global) {
    std::size_t parameters = 0;
    for (std::size_t i = global; i-- > 0 && !is(i, ";") && !is(i, "{") && !is(i, "}");) {
      if (is(i, "template") && is(i + 1, "<")) parameters = count_in_angles(i + 1);
    }
    if (parameters == 0) return;
    for (std::size_t i = global + 1; i + 1 < code_.size() && !is(i, ";") && !is(i, "{"); ++i) {
      if (is(i, "__launch_bounds__")) {
        i = close_of(i + 1);
      } else if (is_name(i) && is(i + 1, "(")) {
        template_kernels_[code_[i].text] = parameters;
        return;
      }
    }
  }

  /// How many template parameters or arguments the < at `open` begins; a pack is without end.
  std::size_t count_in_angles(std::size_t open) const {
    std::size_t count = is(open + 1, ">") ? 0 : 1;
    int depth = 0;
    for (std::size_t i = open; i < code_.size() && !is(i, ";"); ++i) {
      if (is(i, "(")) i = close_of(i);
      if (is(i, "<")) ++depth;
      if (is(i, ">") && --depth == 0) return count;
      if (is(i, ".") && is(i + 1, ".") && depth == 1) return code_.size();
      if (is(i, ",") && depth == 1) ++count;
    }
    return count;
  }

  /// Does the kernel before <<< leave template arguments to deduction?
  bool is_deduced(std::size_t open) const {
    bool const has_angles = is(open - 1, ">");
    std::size_t const angle = has_angles ? opening_of(open - 1, open) : open;
    std::size_t const given = has_angles ? count_in_angles(angle) : 0;
    auto const found = template_kernels_.find(code_[angle - 1].text);
    return found != template_kernels_.end() && given < found->second;
  }

  /// CUDA's word for it cannot be a macro: the standard library says __attribute__((__noinline__)).
  void rewrite_noinline(std::size_t i) {
    bool const in_attribute = i > 0 && code_.is_any(i - 1, {"(", ",", "::", "["});
    if (!in_attribute) replace(i, i, "__attribute__((noinline))");
  }

  void take_directive(Token const& directive) {
    if (auto const macro = defined_macro(directive)) macros_.insert(*macro);
    if (auto refused = refused_launch(directive)) edits_.push_back(std::move(*refused));
  }

  // ---- launches ----------------------------------------------------------------------------
  /// Rewrites the launch whose <<< begins at `open`; returns the last token of >>>.
  std::size_t rewrite_launch(std::size_t open) {
    std::size_t const kernel = kernel_before(open);
    std::size_t const close = closing_chevron(open);
    std::size_t const arguments = close + 3;
    close_of(arguments);  // or fail
    bool const deduced = is_deduced(open);
    std::string const generic =
        "::adamant_sim_deduced(\"" + name_before(open) + "\", [](auto... adamant_argument) { ";
    insert(kernel, "::adamant_sim_launch_chevron(" + (deduced ? generic : ""));
    replace(open, open + 2,
            std::string(deduced ? "(adamant_argument...); })" : "") + ", ::adamant_sim_chevron(");
    replace(close, close + 2, ")");
    replace(arguments, arguments, is(arguments + 1, ")") ? " " : ",");
    return open + 2;
  }

  /// First token of the postfix expression that ends before `open`.
  std::size_t kernel_before(std::size_t open) const {
    std::size_t begin = open;
    while (true) {
      begin = unit_before(begin, open);
      if (begin > 0 && is(begin - 1, "template")) --begin;
      if (begin == 0) return begin;
      bool const member = is(begin - 1, ".") || is(begin - 1, "->");
      if (!member && !is(begin - 1, "::")) return begin;
      --begin;
      bool const qualified = begin > 0 && (is_name(begin - 1) || is(begin - 1, ">"));
      if (!member && (!qualified || is(begin - 1, "return") || is(begin - 1, "else"))) return begin;
    }
  }

  /// What stands there, without namespaces and blanks; without what a string could not hold.
  std::string name_before(std::size_t open) const {
    std::string name;
    for (std::size_t i = unit_before(open, open); i < open; ++i) name += code_[i].text;
    std::erase_if(name, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
    return name;
  }

  /// A name, with template arguments or brackets after it, or something in parentheses.
  std::size_t unit_before(std::size_t end, std::size_t open) const {
    std::size_t i = end;
    while (i > 0 && is(i - 1, "]")) i = opening_of(i - 1, open);
    if (i > 0 && is(i - 1, ")")) {
      i = opening_of(i - 1, open);
      return i > 0 && is_name(i - 1) && !is_keyword(i - 1) ? i - 1 : i;
    }
    if (i > 0 && is(i - 1, ">")) i = opening_of(i - 1, open);
    if (i == 0 || !is_name(i - 1)) fail(open, "<<< without the name of a kernel before it");
    return i - 1;
  }
  bool is_keyword(std::size_t i) const {
    return code_.is_any(i, {"if", "while", "for", "return", "switch"});
  }

  /// From a closing mark to its opening one.
  std::size_t opening_of(std::size_t close, std::size_t launch) const {
    std::size_t const opening = is(close, ">") ? code_.opening_angle(close) : code_.partner(close);
    if (opening < close) return opening;
    fail(launch, "the kernel before <<< has unbalanced " + std::string(code_[close].text));
  }

  std::size_t closing_chevron(std::size_t open) const {
    for (std::size_t i = open + 3; i < code_.size() && !is(i, ";"); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) {
        i = close_of(i);
      } else if (is_chevron(i, '>') && is(i + 3, "(")) {
        return i;
      }
    }
    fail(open, "<<< without >>>( after it");
  }

  /// From an opening bracket of any kind to its closing one.
  std::size_t close_of(std::size_t open) const {
    if (code_.partner(open) == open) fail(open, "this bracket is never closed");
    return code_.partner(open);
  }

  // ---- calls whose result nobody takes -------------------------------------------------------
  /// Is the name at i that of a call of CUDA or NCCL which is a statement of its own? A macro of
  /// the program's own may stand in such a call's place, and be no expression.
  bool drops_result(std::size_t i) const {
    if (is(i, "cudaGetLastError") || is(i, "cudaPeekAtLastError")) return false;  // takes an error
    bool const calls = is_name(i) && is(i + 1, "(") && clone_declares(code_[i].text) &&
                       !macros_.contains(code_[i].text);
    return calls && begins_statement(start_of_call(i)) && is(close_of(i + 1) + 1, ";");
  }
  std::size_t start_of_call(std::size_t name) const {
    return name > 0 && is(name - 1, "::") ? name - 1 : name;
  }
  bool begins_statement(std::size_t i) const {
    if (i == 0) return false;
    if (code_.is_any(i - 1, {";", "{", "}", "else", "do"})) return true;
    if (!is(i - 1, ")")) return false;
    std::size_t const open = code_.partner(i - 1);
    return open > 0 && open < i - 1 && (is_keyword(open - 1) || is(open - 1, "constexpr"));
  }
  void mark_dropped(std::size_t name) {
    insert(start_of_call(name),
           "::adamant_sim_discard(\"" + std::string(code_[name].text) + "\", ");
    insert(close_of(name + 1) + 1, ")");
  }

  // ---- dynamic shared memory ---------------------------------------------------------------
  void rewrite_shared(std::size_t first) {
    std::size_t last = first;
    bool shared = false;
    while (last < code_.size() && !is(last, ";") && !is(last, "{") && !is(last, "(")) {
      shared = shared || is(last, "__shared__");
      last = is_alignment(last) ? close_of(last + 1) + 1 : last + 1;
    }
    if (!shared) return;
    if (!in_function()) fail(first, "declare dynamic shared memory inside the kernel");
    bool const one_dimension = is(last, ";") && is(last - 1, "]") && is(last - 2, "[") &&
                               is_name(last - 3) && !is(last - 4, "]");
    if (!one_dimension) fail(first, "dynamic shared memory reads: extern __shared__ T name[];");
    std::string const type = shared_type(first, last - 3);
    std::string text = type + "* const " + std::string(code_[last - 3].text) + " = static_cast<" +
                       type + "*>(::adamant_sim_dynamic_shared());";
    text.append(static_cast<std::size_t>(code_[last].line - code_[first].line), '\n');
    replace(first, last, text);
  }
  bool is_alignment(std::size_t i) const {
    return (is(i, "__align__") || is(i, "alignas")) && is(i + 1, "(");
  }
  std::string shared_type(std::size_t first, std::size_t name) const {
    std::string type;
    for (std::size_t i = first; i < name; ++i) {
      if (is_alignment(i)) {
        i = close_of(i + 1);
      } else if (!is(i, "extern") && !is(i, "__shared__")) {
        if (!type.empty()) type += ' ';
        type += code_[i].text;
      }
    }
    return type;
  }

  // ---- variables of a device ----------------------------------------------------------------
  bool names_device_memory(std::size_t i) const {
    return code_.is_any(i, {"__device__", "__constant__", "__managed__"});
  }

  /// Each device has one of its own, which a run begins anew; here all ranks and runs would share
  /// one. What cannot change is the same everywhere.
  void refuse_variable(std::size_t specifier) const {
    std::size_t first = specifier;
    while (first > 0 && !is(first - 1, ";") && !is(first - 1, "{") && !is(first - 1, "}")) --first;
    bool changes = !is(specifier, "__constant__");
    std::size_t i = first;
    for (; i < code_.size() && !is(i, ";") && !is(i, "{") && !is(i, "="); ++i) {
      if (is(i, "operator") || is(i, "using") || is(i, "friend")) return;
      if (is(i, "const") || is(i, "constexpr")) changes = false;
      if (is(i, "[") && is(i + 1, "[")) {
        i = close_of(i);  // an attribute
      } else if (is(i, "[")) {
        break;
      } else if (takes_parentheses(i)) {
        i = close_of(i + 1);
      } else if (is(i, "<")) {
        i = code_.after_angles(i) - 1;
      } else if (is(i, "(")) {
        return;  // a function
      }
    }
    bool const initialised = is(i, "=") || is(i, "{") || has_initialiser(i);
    if (!changes && initialised) return;
    fail(specifier,
         "a variable in device memory (" + std::string(code_[specifier].text) +
             ") is not modelled, because all ranks and runs would share it; allocate it "
             "with cudaMalloc and pass its address (sim/README.md lists what is modelled)");
  }
  bool takes_parentheses(std::size_t i) const {
    return is(i + 1, "(") && code_.is_any(i, {"__align__", "alignas", "__attribute__", "decltype",
                                              "__launch_bounds__", "requires"});
  }
  bool has_initialiser(std::size_t bracket) const {
    std::size_t i = bracket;
    while (is(i, "[")) i = close_of(i) + 1;
    return is(i, "=") || is(i, "{");
  }

  // ---- edits -------------------------------------------------------------------------------
  void insert(std::size_t before, std::string text) {
    edits_.push_back({code_[before].offset, code_[before].offset, std::move(text)});
  }
  void replace(std::size_t first, std::size_t last, std::string text) {
    edits_.push_back({code_[first].offset, code_[last].end(), std::move(text)});
  }
  std::string apply() {
    std::ranges::stable_sort(edits_, {}, &Edit::begin);
    auto const overlapped = std::ranges::adjacent_find(
        edits_, [](Edit const& one, Edit const& next) { return next.begin < one.end; });
    if (overlapped != edits_.end()) refuse_overlap(std::next(overlapped)->begin);
    return edited(source_, std::move(edits_));
  }

  [[noreturn]] void refuse_overlap(std::size_t at) const {
    auto const line = 1 + std::ranges::count(source_.substr(0, at), '\n');
    throw RewriteError(std::string(file_) + ":" + std::to_string(line) +
                       ": this is a part of two launches or declarations at once");
  }

  std::string_view source_;
  std::string_view file_;
  Code code_;
  std::vector<bool> scopes_;                                  // one an open brace: in a function?
  std::map<std::string_view, std::size_t> template_kernels_;  // number of parameters
  std::set<std::string_view> macros_;                         // that the source defines
  std::vector<Edit> edits_;
};

}  // namespace

std::string rewrite(std::string_view source, std::string_view file) {
  return Rewriter(source, file).run();
}

}  // namespace adamant::sim
