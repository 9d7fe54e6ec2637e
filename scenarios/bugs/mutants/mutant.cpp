#include "scenarios/bugs/mutants/mutant.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "scenarios/bugs/mutants/body.h"
#include "scenarios/bugs/mutants/operators.h"
#include "scenarios/bugs/weaver/lines.h"

namespace adamant::bugs {

namespace {

std::string as_word(std::string_view text) {
  std::string word;
  for (char const c : text) {
    bool const is_fine = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_fine || (!word.empty() && word.back() != '_')) word += is_fine ? c : '_';
  }
  while (word.ends_with('_')) word.pop_back();
  return word;
}

/// Without the namespaces that all of them have.
std::string short_name(Function const& function) {
  std::string_view name = function.name;
  for (std::string_view const scope : {"adamant::", "real::"})
    if (name.starts_with(scope)) name.remove_prefix(scope.size());
  return std::string(name);
}

int line_at(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(),
                                         text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

/// The lines of a function, and what a mutant makes of them.
struct Change {
  std::vector<std::string_view> before;
  std::string text;  // owns what is after
  std::vector<std::string_view> after;
  std::size_t same_above = 0;  // lines
  std::size_t same_below = 0;
};

Change change_of(Mutant const& mutant, Target const& target) {
  Function const& function = target.functions[mutant.function];
  auto const first = target.lines.begin() + (function.first_line - 1);
  auto const last = target.lines.begin() + function.close_line;
  Change change;
  change.before.assign(first, last);
  std::string_view const whole = target.text;
  auto const begin = static_cast<std::size_t>(first->data() - whole.data());
  std::string_view const last_line = *(last - 1);
  auto const end = static_cast<std::size_t>(last_line.data() - whole.data()) + last_line.size();
  change.text.append(whole.substr(begin, mutant.begin - begin)).append(mutant.text);
  change.text.append(whole.substr(mutant.end, end - mutant.end));
  change.after = lines_of(change.text);
  std::size_t const fewest = std::min(change.before.size(), change.after.size());
  auto& above = change.same_above;
  while (above < fewest && change.before[above] == change.after[above]) ++above;
  auto& below = change.same_below;
  while (below < fewest - above && change.before[change.before.size() - 1 - below] ==
                                       change.after[change.after.size() - 1 - below])
    ++below;
  return change;
}

std::string diff_text(BugFile const& bug, Hunk const& hunk) {
  std::string text = "id: " + bug.id + "\nlaw: " + bug.law + "\nsource: " + bug.source +
                     "\nsymptom: " + bug.symptom + "\n\n--- " + hunk.target + "\n@@ " +
                     hunk.function + "\n";
  for (HunkLine const& line : hunk.lines) {
    if (line.kind == HunkLine::Kind::context) continue;
    text += (line.kind == HunkLine::Kind::removed ? "-" : "+") + line.text + "\n";
  }
  return text;
}

}  // namespace

std::vector<Mutant> mutants_of(Target const& target) {
  std::vector<Mutant> all;
  std::map<std::string, int> used;
  std::string const file = as_word(std::filesystem::path(target.path).filename().string());
  for (std::size_t f = 0; f < target.functions.size(); ++f) {
    Function const& function = target.functions[f];
    Body const code(target.text, function);
    for (Operator const& made_by : operators()) {
      Replacements found;
      made_by.find(code, found);
      for (Replacement& one : found) {
        std::size_t const begin = code[one.first].offset;
        int const line = line_at(target.text, begin);
        std::string id = std::string(made_by.name) + "__" + file + "__" +
                         as_word(short_name(function)) + "__" +
                         std::to_string(line - function.first_line);
        if (int const nth = ++used[id]; nth > 1) id += "_" + std::to_string(nth);
        all.push_back({.id = std::move(id),
                       .operator_name = made_by.name,
                       .mistake = made_by.mistake,
                       .function = f,
                       .line = line,
                       .begin = begin,
                       .end = code[one.last].end(),
                       .text = std::move(one.text)});
      }
    }
  }
  return all;
}

BugFile bug_of(Mutant const& mutant, Target const& target) {
  Function const& function = target.functions[mutant.function];
  Change const change = change_of(mutant, target);
  BugFile bug;
  bug.path = mutant.id;
  bug.id = mutant.id;
  bug.law = "any";
  bug.source = target.path + ":" + std::to_string(mutant.line);
  bug.symptom = mutant.mistake;
  Hunk hunk{.target = target.path, .function = function.name, .lines = {}};
  int line = function.first_line;
  auto const add = [&](HunkLine::Kind kind, std::string_view text) {
    hunk.lines.push_back({kind, std::string(text), line});
    if (kind != HunkLine::Kind::added) ++line;
  };
  std::size_t const above = change.same_above;
  for (std::size_t i = 0; i < change.before.size() - change.same_below; ++i)
    add(i < above ? HunkLine::Kind::context : HunkLine::Kind::removed, change.before[i]);
  for (std::size_t i = above; i < change.after.size() - change.same_below; ++i)
    add(HunkLine::Kind::added, change.after[i]);
  for (std::size_t i = change.before.size() - change.same_below; i < change.before.size(); ++i)
    add(HunkLine::Kind::context, change.before[i]);
  bug.text = diff_text(bug, hunk);
  bug.hunks.push_back(std::move(hunk));
  return bug;
}

}  // namespace adamant::bugs
