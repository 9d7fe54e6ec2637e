#include "scenarios/search/minimize/minimize.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "scenarios/language/yaml/write.h"
#include "scenarios/search/minimize/alternatives.h"
#include "scenarios/search/minimize/passes.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t long_at_it = 1'000;  // runs

class Minimizer {
 public:
  Minimizer(Scenario scenario, RunResult result, Symptom const& symptom, Judge const& judge,
            MinimizeOptions const& options)
      : symptom_(symptom), judge_(judge), options_(options) {
    best_.scenario = std::move(scenario);
    best_.result = std::move(result);
    batch_max_ = options.at_once;
  }

  Minimized minimize() {
    // A recorded schedule hardly outlives an edit, and takes thousands of runs to shorten.
    if (best_.scenario.schedule.choices) find_alternative();
    apply_all();
    // A strategy draws anew in every candidate, so it outlives edits that a record would not.
    if (best_.complete && record_choices()) apply_all();
    return std::move(best_);
  }

 private:
  /// How something proposes scenarios from that one, from a place on.
  using Propose =
      std::function<void(Scenario const& from, std::size_t first, Candidates::Look const& look)>;

  /// Rounds of all passes until one of them changes nothing, and then of alternatives. A scenario
  /// that takes many runs to make smaller is probably nowhere near its end.
  void apply_all() {
    for (bool progress = true; progress && best_.complete;) {
      progress = false;
      for (Pass const& pass : passes()) {
        Propose const propose = [&](Scenario const& from, std::size_t first, auto const& look) {
          look_at_proposals(pass, from, options_.capabilities, first, look);
        };
        progress = exhaust(propose) || progress;
        bool const takes_long = best_.runs - runs_at_alternatives_ > long_at_it;
        if (takes_long && best_.complete) progress = find_alternative() || progress;
      }
      if (!progress && best_.complete) progress = find_alternative();
    }
  }

  bool find_alternative() {
    if (!best_.scenario.bug) alike_ = alike_by(best_.result, symptom_);
    Propose const propose = [&](Scenario const& from, std::size_t first, auto const& look) {
      look_at_alternatives(from, options_.capabilities, options_.alternatives_max, first, look);
    };
    bool const found = first_failing(propose, 0).has_value();
    runs_at_alternatives_ = best_.runs;
    alike_.reset();
    return found;
  }

  /// Takes the first of a pass's proposals that still fails, and goes on from its place in what the
  /// pass proposes next: what stood before it has just been tried. Once it gets to the end after
  /// a success it starts over.
  bool exhaust(Propose const& propose) {
    bool progress = false;
    for (bool again = true; again && best_.complete;) {
      again = false;
      std::size_t place = 0;
      while (auto const found = first_failing(propose, place)) {
        progress = true;
        place = *found;
        again = again || place > 0;
      }
    }
    return progress;
  }

  /// Proposals that will be judged in one call.
  struct Batch {
    std::vector<Scenario> scenarios;
    std::vector<std::string> texts;
    std::vector<std::size_t> places;

    bool has(std::string const& text) const {
      return std::find(texts.begin(), texts.end(), text) != texts.end();
    }
  };

  std::optional<std::size_t> first_failing(Propose const& propose, std::size_t first) {
    Scenario const from = best_.scenario;
    std::optional<std::size_t> found;
    Batch batch;
    auto const look = [&](Scenario candidate, std::size_t place) {
      std::string text = write_scenario(candidate);
      if (passed_.contains(text) || batch.has(text)) return true;
      batch.scenarios.push_back(std::move(candidate));
      batch.texts.push_back(std::move(text));
      batch.places.push_back(place);
      if (batch.scenarios.size() == batch_max_) found = try_all(std::exchange(batch, {}));
      return !found && best_.complete;
    };
    propose(from, first, look);
    if (!found && best_.complete && !batch.scenarios.empty()) found = try_all(batch);
    return found;
  }

  /// The first of these that still fails becomes the best one; its place.
  std::optional<std::size_t> try_all(Batch const& batch) {
    std::vector<RunResult> results = judge_(batch.scenarios);
    best_.complete = results.size() == batch.scenarios.size();
    for (std::size_t i = 0; i < results.size() && best_.complete; ++i) {
      ++best_.runs;
      best_.complete = best_.runs < options_.runs_max;
      if (shows(results[i], symptom_) && is_alike(results[i])) {
        batch_max_ = options_.at_once;
        best_.scenario = batch.scenarios[i];
        best_.result = std::move(results[i]);
        return batch.places[i];
      }
      passed_.insert(batch.texts[i]);
    }
    batch_max_ = std::min(2 * batch_max_, std::max(options_.at_once, options_.at_once_max));
    return std::nullopt;
  }

  bool is_alike(RunResult const& result) const {
    return !alike_ || alike_by(result, symptom_) == *alike_;
  }

  /// Puts the choices of the best run in the place of the strategy that drew them.
  bool record_choices() {
    Schedule const& schedule = best_.scenario.schedule;
    bool const drawn = schedule.strategy != Schedule::Strategy::fifo && !schedule.choices;
    if (!drawn || best_.result.choices.empty()) return false;
    Scenario recorded = best_.scenario;
    recorded.schedule = {.choices = best_.result.choices};
    return try_all({.scenarios = {recorded}, .texts = {""}, .places = {0}}).has_value();
  }

  Symptom const& symptom_;
  Judge const& judge_;
  MinimizeOptions const& options_;
  Minimized best_;
  std::size_t batch_max_ = 1;
  std::uint64_t runs_at_alternatives_ = 0;  // that had been made when they were last looked at
  std::optional<std::string> alike_;        // what a run has to look alike by
  std::set<std::string> passed_;  // by their text: tried, and they do not fail in this way
};

}  // namespace

Minimized minimize(Scenario scenario, RunResult result, Symptom const& symptom, Judge const& judge,
                   MinimizeOptions const& options) {
  return Minimizer(std::move(scenario), std::move(result), symptom, judge, options).minimize();
}

}  // namespace adamant::scenarios
