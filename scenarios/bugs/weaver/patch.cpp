#include "scenarios/bugs/weaver/patch.h"

#include <algorithm>
#include <utility>

#include "scenarios/bugs/weaver/lines.h"

namespace adamant::bugs {

namespace {

/// Lines [begin, end) of a target, by index, in which a hunk may stand.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t function = 0;
};

std::string_view trimmed(std::string_view text) {
  std::size_t const begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin);
}

/// How alike two lines are: 2 for equal ones, else up to 1, by what they begin and end with.
double likeness(std::string_view a, std::string_view b) {
  if (a == b) return 2;
  a = trimmed(a);
  b = trimmed(b);
  std::size_t const longest = std::max(a.size(), b.size());
  if (longest == 0) return 0;
  auto const shortest = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  auto const front = std::mismatch(a.begin(), a.begin() + shortest, b.begin()).first - a.begin();
  auto const back =
      std::mismatch(a.rbegin(), a.rbegin() + (shortest - front), b.rbegin()).first - a.rbegin();
  return static_cast<double>(front + back) / static_cast<double>(longest);
}

class Fitter {
 public:
  Fitter(Hunk const& hunk, Target const& target, std::string const& bug, Problems& problems)
      : hunk_(hunk), target_(target), bug_(bug), problems_(problems), expected_(hunk.expected()) {}

  std::optional<Fit> find() {
    std::vector<Range> const ranges = allowed();
    if (ranges.empty()) return say_no_such_function(), std::nullopt;
    std::vector<Fit> fits;
    for (Range const& range : ranges)
      for (std::size_t i = range.begin; i + expected_.size() <= range.end; ++i)
        if (fits_at(i)) fits.push_back({i, range.function});
    if (fits.size() == 1) return fits.front();
    if (fits.empty())
      say_nearest(ranges);
    else
      say_ambiguous(fits);
    return std::nullopt;
  }

 private:
  std::vector<Range> allowed() const {
    if (hunk_.function.empty()) return {{.begin = 0, .end = target_.lines.size()}};
    std::vector<Range> ranges;
    for (std::size_t f = 0; f < target_.functions.size(); ++f) {
      Function const& function = target_.functions[f];
      if (!function.is_called(hunk_.function)) continue;
      ranges.push_back({.begin = static_cast<std::size_t>(function.first_line) - 1,
                        .end = static_cast<std::size_t>(function.close_line),
                        .function = f});
    }
    return ranges;
  }

  bool fits_at(std::size_t first) const {
    for (std::size_t i = 0; i < expected_.size(); ++i)
      if (target_.lines[first + i] != expected_[i]->text) return false;
    return hunk_.function.empty() ? adds_outside(first) : true;
  }

  /// Are all lines that the hunk adds at `first` outside of functions?
  bool adds_outside(std::size_t first) const {
    std::size_t at = first;  // the line before which the next one would be added
    for (HunkLine const& line : hunk_.lines) {
      if (line.kind != HunkLine::Kind::added)
        ++at;
      else if (is_inside(at))
        return false;
    }
    return true;
  }
  bool is_inside(std::size_t index) const {
    auto const line = static_cast<int>(index) + 1;
    return std::ranges::any_of(target_.functions, [&](Function const& f) {
      return line > f.first_line && line <= f.close_line;
    });
  }

  // ---- what to say where it does not fit -------------------------------------------------------
  void say(int line, std::string message) { problems_.push_back({bug_, line, std::move(message)}); }
  std::string place(std::size_t index) const {
    return target_.path + ":" + std::to_string(index + 1);
  }

  void say_no_such_function() {
    std::string message = target_.path + " defines no function `" + hunk_.function + "`";
    Function const* nearest = nullptr;
    double most = 0.3;  // less is no likeness
    for (Function const& function : target_.functions) {
      std::string_view const name = std::string_view(function.name);
      double const alike = likeness(
          name.substr(name.size() - std::min(name.size(), hunk_.function.size())), hunk_.function);
      if (alike > most) nearest = &function, most = alike;
    }
    if (nearest != nullptr)
      message +=
          "; the nearest is `" + nearest->name + "` in line " + std::to_string(nearest->first_line);
    say(hunk_.line, message);
  }

  void say_ambiguous(std::vector<Fit> const& fits) {
    std::string places;
    for (Fit const& found : fits) places += (places.empty() ? "" : " and at ") + place(found.first);
    say(hunk_.line, "the hunk fits at " + places + "; give more lines around the change");
  }

  /// The first line that differs at the place where most are the same.
  void say_nearest(std::vector<Range> const& ranges) {
    std::size_t best = ranges.front().begin;
    double most = -1;
    for (Range const& range : ranges) {
      for (std::size_t i = range.begin; i < range.end; ++i) {
        double alike = 0;
        for (std::size_t j = 0; j < expected_.size() && i + j < range.end; ++j)
          alike += likeness(target_.lines[i + j], expected_[j]->text);
        if (alike > most) best = i, most = alike;
      }
    }
    for (std::size_t j = 0; j < expected_.size(); ++j) {
      bool const past_end = best + j >= target_.lines.size();
      if (!past_end && target_.lines[best + j] == expected_[j]->text) continue;
      return say(
          expected_[j]->line,
          "expected `" + expected_[j]->text + "`" + where() + ", the nearest is " +
              (past_end ? "the end of " + target_.path
                        : place(best + j) + " `" + std::string(target_.lines[best + j]) + "`"));
    }
    say(hunk_.line, hunk_.function.empty()
                        ? "the hunk adds lines inside a function at " + place(best) +
                              "; name the function after @@"
                        : "the hunk fits only across the end of `" + hunk_.function + "`");
  }
  std::string where() const {
    return hunk_.function.empty() ? " in " + target_.path : " in `" + hunk_.function + "`";
  }

  Hunk const& hunk_;
  Target const& target_;
  std::string const& bug_;
  Problems& problems_;
  std::vector<HunkLine const*> const expected_;
};

}  // namespace

Target::Target(std::string file, std::string content)
    : path(std::move(file)),
      text(std::move(content)),
      lines(bugs::lines_of(text)),
      functions(find_functions(text)) {}

std::string_view Target::lines_of(Function const& function) const {
  std::string_view const first = lines[static_cast<std::size_t>(function.first_line) - 1];
  std::string_view const last = lines[static_cast<std::size_t>(function.close_line) - 1];
  std::size_t const begin = offset_of(first);
  return std::string_view(text).substr(begin, offset_of(last) + last.size() - begin);
}

std::size_t Target::offset_of(std::string_view part) const {
  return static_cast<std::size_t>(part.data() - text.data());
}

std::optional<Fit> fit(Hunk const& hunk, Target const& target, std::string const& bug,
                       Problems& problems) {
  return Fitter(hunk, target, bug, problems).find();
}

}  // namespace adamant::bugs
