#include "scenarios/search/generate/drawing.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scenarios/language/operations.h"
#include "scenarios/seam/refusal_parts.h"
#include "scenarios/search/generate/offers.h"

namespace adamant::scenarios {

namespace {

/// Does every load find something whole when save number `crashing` crashes? What comes between it
/// and the next load is skipped then.
bool survives(Scenario const& scenario, std::int64_t crashing) {
  std::set<std::string> there;
  std::int64_t saves = 0;
  bool skipping = false;
  for (Operation const& operation : scenario.program) {
    if (auto const* save = std::get_if<Save>(&operation.action); save != nullptr && !skipping) {
      skipping = ++saves == crashing;
      if (!skipping) there.insert(save->checkpoint);
    }
    if (auto const* load = std::get_if<Load>(&operation.action)) {
      if (!there.contains(load->from)) return false;
      skipping = false;
    }
  }
  return saves >= crashing;
}

/// Numbers of saves at which a crash is no reason for a refusal, from 1.
std::vector<std::int64_t> saves_that_may_crash(Scenario const& scenario) {
  std::vector<std::int64_t> numbers;
  std::int64_t const saves = std::ssize(all<Save>(scenario.program));
  for (std::int64_t nth = 1; nth <= saves; ++nth)
    if (survives(scenario, nth)) numbers.push_back(nth);
  return numbers;
}

/// Which checkpoints the counters have left behind: where a step was counted since the last save
/// under a name, files of two saves differ in it.
class CountedSteps {
 public:
  void follow(Action const& action) {
    if (auto const* const backward = std::get_if<Backward>(&action))
      has_gradients_ = backward->without.empty();
    if (is<ZeroGrad>(action)) has_gradients_ = false;
    if (is<Train>(action) || (is<Step>(action) && has_gradients_))
      for (auto& [name, since] : since_save_) since = true;
    if (auto const* const save = std::get_if<Save>(&action)) {
      between_saves_[save->checkpoint] = since_save_[save->checkpoint];
      since_save_[save->checkpoint] = false;
    }
    if (auto const* const load = std::get_if<Load>(&action)) {
      since_save_ = {{load->from, false}};  // of the others nothing is known then
      has_gradients_ = false;
    }
  }
  bool differ(std::string const& checkpoint) { return between_saves_[checkpoint]; }

 private:
  std::map<std::string, bool> since_save_;
  std::map<std::string, bool> between_saves_;
  bool has_gradients_ = false;
};

/// Has the save that load number `nth` reads counted a step since the save before it under its
/// name?
bool has_counted_since_older_save(Scenario const& scenario, std::int64_t nth) {
  CountedSteps counted;
  for (Operation const& operation : scenario.program) {
    auto const* const load = std::get_if<Load>(&operation.action);
    if (load != nullptr && --nth == 0) return counted.differ(load->from);
    counted.follow(operation.action);
  }
  return false;
}

class FaultDrawing {
 public:
  FaultDrawing(Drawing& draws, Scenario& scenario) : draws_(draws), scenario_(scenario) {}

  void make() {
    auto const saves = saves_that_may_crash(scenario_);
    std::int64_t const loads = std::ssize(all<Load>(scenario_.program));
    if (has_elements() && draws_.feature(Feature::out_of_memory, 4)) return make_out_of_memory();
    Profile const& profile = draws_.profile();
    if (!saves.empty() && draws_.feature(Feature::crash, profile.crashes)) return make_crash(saves);
    if (loads > 0 && draws_.feature(Feature::damage, profile.damages)) make_damage(loads);
  }

 private:
  bool has_elements() const {
    return std::any_of(scenario_.params.begin(), scenario_.params.end(), [](Param const& param) {
      return !param.is_tied() &&
             std::find(param.shape.begin(), param.shape.end(), 0) == param.shape.end();
    });
  }

  /// The first call is the model's; any engine asks for its parameters and, twice, for the table of
  /// a step.
  void make_out_of_memory() {
    Fault fault{.at = Fault::Where::malloc, .then = Fault::Then::out_of_memory};
    fault.nth = draws_.between(2, 4);
    fault.rank = draws_.below(scenario_.world.rank_count());
    scenario_.faults.push_back(fault);
    scenario_.expect = {.kind = Expectation::Kind::refused, .id = "out_of_memory"};
  }

  void make_crash(std::vector<std::int64_t> const& saves) {
    Fault fault{.at = Fault::Where::save, .then = Fault::Then::crash};
    fault.nth = saves[static_cast<std::size_t>(draws_.below(std::ssize(saves)))];
    fault.rank = draws_.below(scenario_.world.rank_count());
    fault.after_bytes = draws_.profile().crashes_by_operations ? draw_operations() : draw_bytes();
    scenario_.faults.push_back(fault);
  }

  /// What a rank of a process of its own does is counted, not what it writes. Half of all crashes
  /// come before its first operation: there another rank's file is all that is new. Of the others
  /// half come among the first few, since not all ranks have many, and half behind them, where the
  /// old metadata make room for the new.
  std::int64_t draw_operations() {
    bool const first = draws_.chance(50);
    bool const early = draws_.chance(50);
    if (first) return 0;
    return early ? draws_.between(1, file_operations_of_few_tensors)
                 : draws_.between(file_operations_of_few_tensors + 1, file_operations);
  }

  std::int64_t draw_bytes() {
    bool const early = draws_.chance(30);
    return draws_.below(early ? 64 : 6000);
  }

  void make_damage(std::int64_t loads) {
    auto const kinds = damage_kinds(draws_.able());
    Fault fault{.at = Fault::Where::load, .then = Fault::Then::stale_file};
    if (!kinds.empty()) fault.then = draws_.one_of(kinds);
    fault.nth = draws_.between(1, loads);
    bool const stale = may_be_stale(*fault.nth) && (kinds.empty() || draws_.chance(40));
    if (stale) fault.then = Fault::Then::stale_file;
    if (!stale && kinds.empty()) return;
    Profile const& profile = draws_.profile();
    fault.file = draws_.below(stale ? profile.damaged_when_stale : profile.damaged_files);
    bool const somewhere =
        fault.then == Fault::Then::flip_byte || fault.then == Fault::Then::truncate;
    if (somewhere) fault.byte = std::max<std::int64_t>(draws_.below(5000) - 100, 0);
    scenario_.faults.push_back(fault);
    scenario_.expect = {.kind = Expectation::Kind::refused, .id = "damaged_checkpoint"};
  }

  bool may_be_stale(std::int64_t load) const {
    return has_damage(draws_.able(), Fault::Then::stale_file) && has_older_save(scenario_, load) &&
           has_elements() && scenario_.optimizer.loss_scale == LossScale() &&
           has_counted_since_older_save(scenario_, load);
  }

  // About as many as a rank has that writes metadata beside a few and beside many tensors.
  static constexpr std::int64_t file_operations_of_few_tensors = 12;
  static constexpr std::int64_t file_operations = 32;

  Drawing& draws_;
  Scenario& scenario_;
};

}  // namespace

void draw_fault(Drawing& draws, Scenario& scenario) {
  FaultDrawing(draws, scenario).make();
}

}  // namespace adamant::scenarios
