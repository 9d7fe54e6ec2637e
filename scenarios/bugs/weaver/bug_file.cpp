#include "scenarios/bugs/weaver/bug_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "scenarios/bugs/weaver/lines.h"

namespace adamant::bugs {

namespace {

bool is_id(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string in_ticks(std::string_view text) {
  return "`" + std::string(text) + "`";
}

class Reader {
 public:
  Reader(std::string const& path, std::string_view text, Problems& problems)
      : lines_(lines_of(text)), problems_(problems) {
    bug_.path = path;
    bug_.text = text;
  }

  BugFile read() {
    if (read_header()) read_hunks();
    return std::move(bug_);
  }

 private:
  bool at_end() const { return at_ == lines_.size(); }
  std::string_view line() const { return lines_[at_]; }
  int number() const { return static_cast<int>(at_) + 1; }
  bool is_comment() const { return !at_end() && line().starts_with('#'); }

  void fail_at(int at, std::string message) {
    problems_.push_back({bug_.path, at, std::move(message)});
  }
  bool fail(std::string message) {
    fail_at(number(), std::move(message));
    return false;
  }

  // ---- the header ----------------------------------------------------------------------------
  bool read_header() {
    while (is_comment()) ++at_;
    std::array<std::pair<std::string_view, std::string*>, 4> const keys = {
        {{"id", &bug_.id},
         {"law", &bug_.law},
         {"source", &bug_.source},
         {"symptom", &bug_.symptom}}};
    for (auto const& [key, value] : keys)
      if (!read_key(key, *value)) return false;
    check_id();
    if (at_end() || !line().empty())
      return fail("expected an empty line after the header, found " + found());
    ++at_;
    return true;
  }

  bool read_key(std::string_view key, std::string& value) {
    std::string const start = std::string(key) + ": ";
    if (at_end() || !line().starts_with(start))
      return fail("expected `" + start + "…`, found " + found() +
                  "; the header is id, law, source, symptom, in this order");
    value = line().substr(start.size());
    if (value.empty()) fail("`" + std::string(key) + "` says nothing");
    ++at_;
    return true;
  }

  std::string found() const { return at_end() ? "the end of the file" : in_ticks(line()); }

  void check_id() {
    int const id_line = number() - 4;
    std::string const stem = std::filesystem::path(bug_.path).stem().string();
    if (!is_id(bug_.id)) {
      fail_at(id_line, in_ticks(bug_.id) + " is no id: use letters, digits and underscores");
    } else if (stem != bug_.id) {
      fail_at(id_line, "the id is " + in_ticks(bug_.id) + " but the file is called " +
                           in_ticks(stem) + "; rename one");
    }
  }

  // ---- hunks ---------------------------------------------------------------------------------
  void read_hunks() {
    while (skip_blank(), !at_end()) {
      if (is_comment()) {
        read_comment();
      } else if (line().starts_with("--- ")) {
        read_target();
      } else if (line() == "@@" || line().starts_with("@@ ")) {
        read_hunk();
      } else {
        fail("expected `--- FILE` or `@@ FUNCTION`, found " + found());
        ++at_;
      }
    }
    if (bug_.hunks.empty()) {
      at_ = lines_.empty() ? 0 : lines_.size() - 1;
      fail("changes nothing: no `--- FILE` with a `@@ FUNCTION` below it");
    }
  }

  void skip_blank() {
    while (!at_end() && line().empty()) ++at_;
  }

  void read_comment() {
    ++at_;
    skip_blank();
    if (at_end() || !(is_comment() || line().starts_with("--- ")))
      fail("expected `--- FILE` after a comment, found " + found());
  }

  void read_target() {
    target_ = line().substr(4);
    target_line_ = number();
    if (!target_.starts_with("real/") || target_.find("..") != std::string::npos)
      fail("expected a file of real/, found " + in_ticks(target_));
    ++at_;
    skip_blank();
    if (at_end() || !line().starts_with("@@")) fail("expected `@@ FUNCTION`, found " + found());
  }

  void read_hunk() {
    Hunk hunk{.target = target_,
              .function = std::string(line().substr(std::min<std::size_t>(3, line().size()))),
              .line = number(),
              .target_line = target_line_,
              .lines = {}};
    if (target_.empty()) fail("no `--- FILE` says which file this is about");
    ++at_;
    while (!at_end() && read_hunk_line(hunk)) ++at_;
    // Empty lines at the end part it from what follows.
    while (!hunk.lines.empty() && is_separator(hunk.lines.back())) hunk.lines.pop_back();
    check(hunk);
    if (!target_.empty()) bug_.hunks.push_back(std::move(hunk));
  }

  static bool is_separator(HunkLine const& line) {
    return line.kind == HunkLine::Kind::context && line.text.empty();
  }

  bool read_hunk_line(Hunk& hunk) {
    using Kind = HunkLine::Kind;
    std::string_view const text = line();
    if (text.starts_with("--- ") || text.starts_with("@@") || text.starts_with("#")) return false;
    if (text.empty()) {  // editors cut the blank of an empty context line
      hunk.lines.push_back({Kind::context, "", number()});
      return true;
    }
    static constexpr std::string_view marks = " -+";
    std::size_t const kind = marks.find(text.front());
    if (kind == std::string_view::npos)
      return fail("a line of a hunk begins with a blank, `-` or `+`; found " + in_ticks(text)),
             true;
    hunk.lines.push_back({static_cast<Kind>(kind), std::string(text.substr(1)), number()});
    return true;
  }

  void check(Hunk const& hunk) {
    using Kind = HunkLine::Kind;
    auto const has = [&](Kind kind) {
      return std::ranges::any_of(hunk.lines, [&](HunkLine const& l) { return l.kind == kind; });
    };
    if (!has(Kind::removed) && !has(Kind::added)) {
      fail_at(hunk.line, "the hunk changes nothing");
    } else if (!has(Kind::removed) && !has(Kind::context)) {
      fail_at(hunk.line, "nothing says where the lines belong: give a line beside them as context");
    } else if (hunk.function.empty() && has(Kind::removed)) {
      fail_at(hunk.line,
              "a hunk outside of functions may only add lines; `@@ FUNCTION` changes one");
    }
  }

  std::vector<std::string_view> lines_;
  Problems& problems_;
  std::size_t at_ = 0;
  BugFile bug_;
  std::string target_;
  int target_line_ = 1;
};

}  // namespace

std::vector<HunkLine const*> Hunk::expected() const {
  std::vector<HunkLine const*> result;
  for (HunkLine const& one : lines)
    if (one.kind != HunkLine::Kind::added) result.push_back(&one);
  return result;
}

BugFile read_bug_file(std::string const& path, std::string_view text, Problems& problems) {
  return Reader(path, text, problems).read();
}

}  // namespace adamant::bugs
