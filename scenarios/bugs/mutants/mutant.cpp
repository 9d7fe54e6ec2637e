#include "scenarios/bugs/mutants/mutant.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "scenarios/bugs/mutants/body.h"
#include "scenarios/bugs/mutants/operators.h"
#include "scenarios/bugs/weaver/lines.h"

namespace adamant::bugs {

namespace {

using Kind = HunkLine::Kind;

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
std::string_view short_name(Function const& function) {
  std::string_view name = function.name;
  for (std::string_view const scope : {"adamant::", "real::"})
    if (name.starts_with(scope)) name.remove_prefix(scope.size());
  return name;
}

/// The lines of the function, of which the mutant leaves those at both ends alone.
std::vector<HunkLine> hunk_lines(Mutant const& mutant, Target const& target) {
  Function const& function = target.functions[mutant.function];
  std::string_view const whole = target.lines_of(function);
  sim::Edit edit = mutant.edit;
  edit.begin -= target.offset_of(whole);
  edit.end -= target.offset_of(whole);
  std::string const changed = sim::edited(whole, {edit});
  auto const before = lines_of(whole);
  auto const after = lines_of(changed);
  auto const first = std::ranges::mismatch(before, after);
  auto const last = std::mismatch(before.rbegin(), std::make_reverse_iterator(first.in1),
                                  after.rbegin(), std::make_reverse_iterator(first.in2));
  std::vector<HunkLine> lines;
  int number = function.first_line;
  auto const add = [&](Kind kind, auto begin, auto end) {
    for (; begin != end; ++begin) {
      lines.push_back({kind, std::string(*begin), number});
      if (kind != Kind::added) ++number;
    }
  };
  add(Kind::context, before.begin(), first.in1);
  add(Kind::removed, first.in1, last.first.base());
  add(Kind::added, first.in2, last.second.base());
  add(Kind::context, last.first.base(), before.end());
  return lines;
}

std::string diff_text(BugFile const& bug, Hunk const& hunk) {
  std::string text = "id: " + bug.id + "\nlaw: " + bug.law + "\nsource: " + bug.source +
                     "\nsymptom: " + bug.symptom + "\n\n--- " + hunk.target + "\n@@ " +
                     hunk.function + "\n";
  for (HunkLine const& line : hunk.lines) {
    if (line.kind == Kind::context) continue;
    text += (line.kind == Kind::removed ? "-" : "+") + line.text + "\n";
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
    for (std::size_t made_by = 0; made_by < operators().size(); ++made_by) {
      Operator const& one = operators()[made_by];
      for (Replacement& found : replacements_of(one, code)) {
        sim::Token const& first = code[found.first];
        std::string id = std::string(one.name) + "__" + file + "__" +
                         as_word(short_name(function)) + "__" +
                         std::to_string(first.line - function.first_line);
        if (int const nth = ++used[id]; nth > 1) id += "_" + std::to_string(nth);
        all.push_back({.id = std::move(id),
                       .made_by = made_by,
                       .function = f,
                       .line = first.line,
                       .edit = {first.offset, code[found.last].end(), std::move(found.text)}});
      }
    }
  }
  return all;
}

BugFile bug_of(Mutant const& mutant, Target const& target) {
  Hunk hunk{.target = target.path,
            .function = target.functions[mutant.function].name,
            .lines = hunk_lines(mutant, target)};
  BugFile bug{.path = mutant.id,
              .id = mutant.id,
              .law = "any",
              .source = target.path + ":" + std::to_string(mutant.line),
              .symptom = std::string(operators()[mutant.made_by].mistake),
              .text = {},
              .hunks = {}};
  bug.text = diff_text(bug, hunk);
  bug.hunks.push_back(std::move(hunk));
  return bug;
}

}  // namespace adamant::bugs
