#include "scenarios/bugs/weaver/weave.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scenarios/bugs/weaver/woven_text.h"
#include "sim/lexer/tokens.h"

namespace adamant::bugs {

namespace {

using Kind = HunkLine::Kind;

std::size_t expected_count(Hunk const& hunk) {
  return static_cast<std::size_t>(std::ranges::count_if(
      hunk.lines, [](HunkLine const& line) { return line.kind != Kind::added; }));
}

/// Does every brace in `text` have its partner there?
bool is_balanced(std::string_view text) {
  int depth = 0;
  for (sim::Token const& token : sim::tokenize(text)) {
    if (token.kind != sim::TokenKind::mark) continue;
    if (token.text == "{") ++depth;
    if (token.text == "}" && --depth < 0) return false;
  }
  return depth == 0;
}

std::string joined(std::vector<WovenLine> const& lines) {
  std::string text;
  for (WovenLine const& line : lines)
    text.append(&line == lines.data() ? "" : "\n").append(line.text);
  return text;
}

/// Offsets in a target's text between which something else stands.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, &Edit::begin);
  std::string result;
  std::size_t at = 0;
  for (Edit const& edit : edits) {
    result.append(text.substr(at, edit.begin - at)).append(edit.text);
    at = edit.end;
  }
  return result.append(text.substr(at));
}

/// What stands before, between and after the braces of a function, from its first line to its last.
struct SplitFunction {
  std::string_view head;  // ends with {
  std::string_view body;
  std::string_view tail;  // begins with }
};

SplitFunction split_function(Target const& target, Function const& function) {
  std::string_view const text = target.text;
  auto const offset = [&](std::string_view line) {
    return static_cast<std::size_t>(line.data() - text.data());
  };
  std::size_t const begin = offset(target.lines[static_cast<std::size_t>(function.first_line) - 1]);
  std::string_view const last = target.lines[static_cast<std::size_t>(function.close_line) - 1];
  std::size_t const end = offset(last) + last.size();
  return {.head = text.substr(begin, function.open + 1 - begin),
          .body = text.substr(function.open + 1, function.close - function.open - 1),
          .tail = text.substr(function.close, end - function.close)};
}

/// Takes head and tail off the lines of a function.
std::vector<WovenLine> without_ends(std::vector<WovenLine> lines, SplitFunction const& split) {
  std::size_t const line_end = split.head.rfind('\n');
  lines.erase(lines.begin(), lines.begin() + std::ranges::count(split.head, '\n'));
  lines.front().text.remove_prefix(split.head.size() -
                                   (line_end == std::string_view::npos ? 0 : line_end + 1));
  lines.back().text.remove_suffix(split.tail.size());
  return lines;
}

}  // namespace

bool is_of_harness(std::string_view path) {
  return path.starts_with("sim/") || path.starts_with("scenarios/");
}

Weave::Weave(Target const& target, std::string name) : target_(target), name_(std::move(name)) {}

void Weave::add(BugFile const& bug, Problems& problems) {
  std::vector<Placed> const all = place(bug, problems);
  std::map<std::size_t, std::vector<Placed>> inside;  // by function
  for (Placed const& placed : all) {
    if (placed.hunk->function.empty())
      add_outside(bug, placed);
    else
      inside[placed.fit.function].push_back(placed);
  }
  for (auto const& [function, placed] : inside) add_copy(bug, placed, problems);
}

/// The hunks of `bug` that are about the target, in its order.
std::vector<Weave::Placed> Weave::place(BugFile const& bug, Problems& problems) const {
  std::vector<Placed> all;
  for (Hunk const& hunk : bug.hunks) {
    if (hunk.target != target_.path) continue;
    if (auto const found = fit(hunk, target_, bug.path, problems)) all.push_back({&hunk, *found});
  }
  std::ranges::sort(all, {}, [](Placed const& placed) { return placed.fit.first; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    Placed const& last = all[i - 1];
    if (last.fit.first + expected_count(*last.hunk) <= all[i].fit.first) continue;
    problems.push_back({bug.path, all[i].hunk->line,
                        "the hunk overlaps that of line " + std::to_string(last.hunk->line) +
                            "; make one of both"});
    return {};
  }
  return all;
}

void Weave::add_outside(BugFile const& bug, Placed const& placed) {
  std::size_t at = placed.fit.first;
  Addition addition;
  auto const add_pending = [&] {
    auto const is_same = [&](Addition const& other) {
      return other.before == addition.before &&
             std::ranges::equal(other.lines, addition.lines, {}, &WovenLine::text,
                                &WovenLine::text);
    };
    if (!addition.lines.empty() && std::ranges::none_of(additions_, is_same))
      additions_.push_back(addition);
    addition.lines.clear();
  };
  for (HunkLine const& line : placed.hunk->lines) {
    if (line.kind == Kind::added) {
      addition.before = at;
      addition.lines.push_back({line.text, bug.path, line.line});
    } else {
      add_pending();
      ++at;
    }
  }
  add_pending();
}

void Weave::add_copy(BugFile const& bug, std::vector<Placed> const& placed, Problems& problems) {
  std::size_t const index = placed.front().fit.function;
  Function const& function = target_.functions[index];
  SplitFunction const split = split_function(target_, function);
  std::vector<WovenLine> lines = patched(bug, placed);
  std::string const text = joined(lines);
  auto const refuse = [&](std::string const& message) {
    problems.push_back({bug.path, placed.front().hunk->line, message});
  };
  if (text.size() < split.head.size() + split.tail.size() || !text.starts_with(split.head) ||
      !text.ends_with(split.tail)) {
    return refuse("only what stands between the braces of `" + function.name +
                  "` may change; its declaration may not");
  }
  std::size_t const body_size = text.size() - split.head.size() - split.tail.size();
  if (!is_balanced(std::string_view(text).substr(split.head.size(), body_size)))
    return refuse("with this change the braces of `" + function.name + "` do not balance");
  copies_[index].push_back({bug.id, without_ends(std::move(lines), split)});
}

/// The lines of a function with the bug's changes.
std::vector<WovenLine> Weave::patched(BugFile const& bug, std::vector<Placed> const& placed) const {
  Function const& function = target_.functions[placed.front().fit.function];
  std::vector<WovenLine> result;
  auto const keep = [&](std::size_t line) {
    result.push_back({target_.lines[line], name_, static_cast<int>(line) + 1});
  };
  auto line = static_cast<std::size_t>(function.first_line) - 1;
  for (Placed const& change : placed) {
    while (line < change.fit.first) keep(line++);
    for (HunkLine const& changed : change.hunk->lines) {
      if (changed.kind == Kind::context) keep(line);
      if (changed.kind == Kind::added) result.push_back({changed.text, bug.path, changed.line});
      if (changed.kind != Kind::added) ++line;
    }
  }
  while (line < static_cast<std::size_t>(function.close_line)) keep(line++);
  return result;
}

std::string Weave::switch_text(std::size_t index, std::vector<Copy> const& copies) const {
  Function const& function = target_.functions[index];
  std::vector<WovenLine> original;
  for (int line = function.first_line; line <= function.close_line; ++line)
    original.push_back({target_.lines[static_cast<std::size_t>(line) - 1], name_, line});
  original = without_ends(std::move(original), split_function(target_, function));

  std::string const selected = is_of_harness(target_.path)
                                   ? "selected_in_harness(::adamant::bugs::place_in_harness(\"" +
                                         target_.path + " " + function.name + "\"))"
                                   : "selected()";
  std::string text = "\n" + line_directive(function.open_line, name_) +
                     "switch (::adamant::bugs::" + selected + ") {\n";
  for (Copy const& copy : copies) {
    text += "case ::adamant::bugs::key_of(\"" + std::string(copy.id) + "\"): {\n" +
            woven_text(copy.lines) + "} break;\n";
  }
  text += "default: {\n" + woven_text(original) + "}\n}\n";
  return text + line_directive(function.close_line, name_);
}

std::string Weave::text() const {
  std::vector<Edit> edits;
  for (auto const& [index, copies] : copies_) {
    Function const& function = target_.functions[index];
    edits.push_back({function.open + 1, function.close, switch_text(index, copies)});
  }
  for (Addition const& addition : additions_) {
    bool const at_end = addition.before == target_.lines.size();
    std::size_t const offset =
        at_end
            ? target_.text.size()
            : static_cast<std::size_t>(target_.lines[addition.before].data() - target_.text.data());
    edits.push_back({offset, offset,
                     woven_text(addition.lines) +
                         line_directive(static_cast<int>(addition.before) + 1, name_)});
  }
  std::string const header = is_of_harness(target_.path) ? "selected_in_harness.h" : "selected.h";
  return "#include \"scenarios/bugs/" + header + "\"\n" + line_directive(1, name_) +
         edited(target_.text, std::move(edits));
}

}  // namespace adamant::bugs
