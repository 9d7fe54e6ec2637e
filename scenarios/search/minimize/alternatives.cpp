#include "scenarios/search/minimize/alternatives.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace adamant::scenarios {

namespace {

using Parts = std::vector<AlternativePart>;

/// The first so many parts of a list, the smallest before the others.
Parts sorted(Parts const& parts, std::size_t count) {
  Parts few(parts.begin(),
            parts.begin() + static_cast<std::ptrdiff_t>(std::min(count, parts.size())));
  std::stable_sort(few.begin(), few.end(), [](AlternativePart const& a, AlternativePart const& b) {
    return a.size < b.size;
  });
  return few;
}

/// Without those that fill in the same as one before them.
Parts distinct(Parts const& parts, Scenario const& blank) {
  Parts few;
  std::vector<Scenario> known;
  for (AlternativePart const& part : parts) {
    Scenario filled = blank;
    part.fill(filled);
    if (std::find(known.begin(), known.end(), filled) != known.end()) continue;
    known.push_back(std::move(filled));
    few.push_back(part);
  }
  return few;
}

/// What can be put together from three lists of parts.
class Alternatives {
 public:
  Alternatives(Scenario const& scenario, Candidates& candidates, std::size_t most)
      : blank_(blank_like(scenario)), candidates_(candidates), most_(most) {
    std::uint64_t const size = weight_of(scenario)[Digit::size];
    size_max_ = size - std::min(size, weight_of(blank_)[Digit::size]);
  }

  /// All that are no larger than the scenario, the smallest first; at most so many.
  void offer_all(Parts const& programs, Parts const& settings, Parts const& worlds) {
    left_ = most_;
    for (std::uint64_t size = 0; size <= size_max_ && left_ > 0; ++size)
      offer_all_of(size, programs, settings, worlds);
  }

 private:
  void offer_all_of(std::uint64_t size, Parts const& programs, Parts const& settings,
                    Parts const& worlds) {
    for (AlternativePart const& setting : settings) {
      for (AlternativePart const& program : programs) {
        if (program.size + setting.size > size) break;
        for (AlternativePart const& world : worlds) {
          std::uint64_t const whole = program.size + setting.size + world.size;
          if (whole > size || left_ == 0) break;
          if (whole == size) offer(program, setting, world);
        }
      }
    }
  }

  void offer(AlternativePart const& program, AlternativePart const& settings,
             AlternativePart const& world) {
    bool const offered = candidates_.offer([&](Scenario& s) {
      s = blank_;
      world.fill(s);
      settings.fill(s);
      program.fill(s);
    });
    if (offered) --left_;
  }

  Scenario blank_;
  Candidates& candidates_;
  std::size_t most_;
  std::size_t left_ = 0;
  std::uint64_t size_max_ = 0;
};

}  // namespace

Scenario blank_like(Scenario const& scenario) {
  return {.name = scenario.name,
          .about = scenario.about,
          .source = scenario.source,
          .seed = 0,
          .params = {{.name = canonical_name(0, 0, false), .shape = {1}}},
          .engine = {.name = scenario.engine.name},
          .bug = scenario.bug,
          .expect = scenario.expect};
}

Lists lists_of(Scenario const& scenario) {
  Lists lists;
  add_programs(scenario, lists);
  add_settings(scenario, lists);
  add_worlds(scenario, lists);
  return lists;
}

AlternativePart make_part(Scenario const& blank, std::function<void(Scenario&)> fill) {
  Scenario filled = blank;
  fill(filled);
  return {.fill = std::move(fill),
          .size = weight_of(filled)[Digit::size] - weight_of(blank)[Digit::size]};
}

void look_at_alternatives(Scenario const& scenario, Capabilities const& capabilities,
                          std::size_t most, std::size_t first, Candidates::Look const& look) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  Candidates candidates(scenario, capabilities, first, look);
  Alternatives alternatives(scenario, candidates, most);
  Lists const lists = lists_of(scenario);
  Parts const programs = sorted(lists.programs, all);
  Parts const settings = sorted(lists.settings, all);
  Scenario const blank = blank_like(scenario);
  Parts const worlds = distinct(sorted(lists.worlds, all), blank);
  Parts const few_programs = distinct(sorted(lists.programs, lists.few_programs), blank);
  Parts const program{lists.programs.front()};
  Parts const setting{lists.settings.front()};
  Parts const world{lists.worlds.front()};
  alternatives.offer_all(program, settings, world);
  alternatives.offer_all(programs, setting, world);
  alternatives.offer_all(program, setting, worlds);
  Parts const few_worlds = distinct(sorted(lists.worlds, lists.few_worlds), blank);
  alternatives.offer_all(programs, {lists.no_settings()}, few_worlds);
  Parts const own_settings = distinct(sorted(lists.settings, lists.own_settings), blank);
  alternatives.offer_all(programs, own_settings, {lists.blank_world()});
  Parts const few_settings = distinct(sorted(lists.settings, lists.few_settings), blank);
  alternatives.offer_all(few_programs, few_settings, few_worlds);
  alternatives.offer_all(program, few_settings, worlds);
  alternatives.offer_all(programs, few_settings, {lists.blank_world()});
}

}  // namespace adamant::scenarios
