#include "scenarios/bugs/weaver/weave.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scenarios/bugs/weaver/woven_text.h"
#include "sim/lexer/tokens.h"

namespace adamant::bugs {

namespace {

using Kind = HunkLine::Kind;

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

/// Of the lines of a function: what stands before its braces and after them.
struct Ends {
  std::string_view head;  // ends with {
  std::string_view tail;  // begins with }
};

Ends ends_of(Target const& target, Function const& function) {
  std::string_view const lines = target.lines_of(function);
  std::size_t const begin = target.offset_of(lines);
  return {.head = lines.substr(0, function.open + 1 - begin),
          .tail = lines.substr(function.close - begin)};
}

/// Takes head and tail off the lines of a function.
std::vector<WovenLine> without(Ends const& ends, std::vector<WovenLine> lines) {
  lines.erase(lines.begin(), lines.begin() + std::ranges::count(ends.head, '\n'));
  std::size_t const last_line = ends.head.rfind('\n') + 1;  // npos + 1 is 0
  lines.front().text.remove_prefix(ends.head.size() - last_line);
  lines.back().text.remove_suffix(ends.tail.size());
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
    if (last.fit.first + last.hunk->expected().size() <= all[i].fit.first) continue;
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
  Ends const ends = ends_of(target_, function);
  std::vector<WovenLine> lines = patched(function, bug.path, placed);
  std::string const text = joined(lines);
  auto const refuse = [&](std::string const& message) {
    problems.push_back({bug.path, placed.front().hunk->line, message});
  };
  std::size_t const ends_size = ends.head.size() + ends.tail.size();
  if (text.size() < ends_size || !text.starts_with(ends.head) || !text.ends_with(ends.tail)) {
    return refuse("only what stands between the braces of `" + function.name +
                  "` may change; its declaration may not");
  }
  if (!is_balanced(std::string_view(text).substr(ends.head.size(), text.size() - ends_size)))
    return refuse("with this change the braces of `" + function.name + "` do not balance");
  copies_[index].push_back({bug.id, without(ends, std::move(lines))});
}

/// The lines of a function with changes of a bug file.
std::vector<WovenLine> Weave::patched(Function const& function, std::string_view bug,
                                      std::vector<Placed> const& placed) const {
  std::vector<WovenLine> result;
  auto const keep = [&](std::size_t line) {
    result.push_back({target_.lines[line], name_, static_cast<int>(line) + 1});
  };
  auto line = static_cast<std::size_t>(function.first_line) - 1;
  for (Placed const& change : placed) {
    while (line < change.fit.first) keep(line++);
    for (HunkLine const& changed : change.hunk->lines) {
      if (changed.kind == Kind::context) keep(line);
      if (changed.kind == Kind::added) result.push_back({changed.text, bug, changed.line});
      if (changed.kind != Kind::added) ++line;
    }
  }
  while (line < static_cast<std::size_t>(function.close_line)) keep(line++);
  return result;
}

std::string Weave::switch_text(std::size_t index, std::vector<Copy> const& copies) const {
  Function const& function = target_.functions[index];
  auto const original = without(ends_of(target_, function), patched(function, {}, {}));
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
  std::vector<sim::Edit> edits;
  for (auto const& [index, copies] : copies_) {
    Function const& function = target_.functions[index];
    edits.push_back({function.open + 1, function.close, switch_text(index, copies)});
  }
  for (Addition const& addition : additions_) {
    bool const at_end = addition.before == target_.lines.size();
    std::size_t const offset =
        at_end ? target_.text.size() : target_.offset_of(target_.lines[addition.before]);
    edits.push_back({offset, offset,
                     woven_text(addition.lines) +
                         line_directive(static_cast<int>(addition.before) + 1, name_)});
  }
  std::string const header = is_of_harness(target_.path) ? "selected_in_harness.h" : "selected.h";
  return "#include \"scenarios/bugs/" + header + "\"\n" + line_directive(1, name_) +
         sim::edited(target_.text, std::move(edits));
}

}  // namespace adamant::bugs
