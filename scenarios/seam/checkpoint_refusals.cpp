#include "scenarios/seam/refusal_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/operations.h"
#include "scenarios/language/words.h"
#include "scenarios/seam/layout_padding.h"

namespace adamant::scenarios {

namespace {

/// What is refused of the loads of a program, each with what those before it have left.
class LoadWalk {
 public:
  LoadWalk(Scenario const& scenario, Capabilities const& able)
      : setting_(scenario), able_(able), offers_(able.precisions) {
    if (able.load_precisions)
      offers_.insert(offers_.end(), able.load_precisions->begin(), able.load_precisions->end());
  }

  /// Errors: Refused.
  void visit(Load const& load, SourceLine line) {
    if (load.layout && !offers(able_.layouts, *load.layout))
      refuse_at(line, "layout", "a load changes layout; supported: {}", listed(able_.layouts));
    refuse_world(load.world.value_or(setting_.world), line);
    refuse_precision(load.types(), line);
    setting_ = with(std::move(setting_), load);
    if (!load.keeps_addresses() && padded_.insert(setting_of(setting_)).second)
      refuse_where(refuse_padding(setting_, line));
    refuse_offload(load.offload.value_or(Offload()), line);
    if (load.order && *load.order != ParamOrder::listed && !able_.loads_in_any_order)
      refuse_at(line, "order", "a load asks for parameters in another order; supported: as listed");
    if (load.anew && !able_.loads_anew)
      refuse_at(line, "anew", "a load asks for a new job; supported: loads without `anew`");
  }

 private:
  void refuse_world(World const& world, SourceLine line) const {
    if (world.replicate > able_.replicate_max)
      refuse_at(line, "replicate", "a load changes world; supported: {}",
                replicas(able_.replicate_max));
    if (!offers(able_.outers, world.outer))
      refuse_at(line, "outer", "a load changes world; supported: outer: {}", listed(able_.outers));
    if (world.rank_count() > able_.ranks_max)
      refuse_at(line, "ranks", "a load changes world; supported: up to {} ranks", able_.ranks_max);
  }

  void refuse_precision(PrecisionOverride const& change, SourceLine line) {
    Precision const before = std::exchange(setting_.precision, with(setting_.precision, change));
    if (setting_.precision == before || !recipes_.insert(setting_.precision).second) return;
    if (auto const found = first_conflict(setting_))
      refuse_at(line, found->conflict.detail, "after a load, parameter `{}`: {}",
                found->param->name, found->conflict.why);
    if (!able_.load_precisions)
      refuse_at(line, "precision", "a load changes precision; supported: the same as saved");
    for (Param const& param : setting_.params)
      if (!param.is_tied()) refuse_types(param, line);
    if (!able_.cast_gradients && makes_cast_copy(setting_))
      refuse_at(line, "decoupled_grad",
                "a load leads to types that need a cast copy; supported: decoupled_grad: true, and "
                "types that need no cast");
  }

  void refuse_types(Param const& param, SourceLine line) const {
    Precision const types = setting_.precision_of(param);
    if (!accepted(offers_, types))
      refuse_at(line, "precision", "after a load, parameter `{}`: its types change; supported: {}",
                param.name, text_of(offers_));
    if (!accepted(offers_, types, setting_.optimizer.loss_scale.kind))
      refuse_at(line, "loss_scale",
                "after a load, parameter `{}`: its types go without this loss scale; supported: "
                "none",
                param.name);
  }

  void refuse_offload(Offload const& offload, SourceLine line) const {
    if (offloads_nothing(offload))
      refuse_at(line, "offload", "a load asks for an offload of neither moments nor main weights");
    if (offload.index() != 0 && !able_.offload)
      refuse_at(line, "offload", "a load asks for an offload; supported: none");
  }

  Scenario setting_;
  Capabilities const& able_;
  std::vector<PrecisionOffer> offers_;  // of its parameters' types behind a load
  std::set<Precision> recipes_;         // that nothing is refused of
  std::set<Setting> padded_;            // likewise
};

void refuse_saves_and_loads(Scenario const& scenario, Capabilities const& able) {
  LoadWalk loads(scenario, able);
  for (Operation const& operation : scenario.program) {
    Action const& action = operation.action;
    auto const* const load = std::get_if<Load>(&action);
    if ((is<Save>(action) && !able.save) || (load != nullptr && !able.load))
      refuse_at(operation.line, word_of(action),
                "engine {} has no checkpoints; supported: sim, sim-unchecked, cuda", able.engine);
    if (load != nullptr) loads.visit(*load, operation.line);
  }
}

bool fits(Fault const& fault) {
  switch (fault.at) {
    case Fault::Where::save:
      return fault.then == Fault::Then::crash;
    case Fault::Where::malloc:
      return fault.then == Fault::Then::out_of_memory;
    case Fault::Where::load:
      break;
  }
  return fault.then != Fault::Then::crash && fault.then != Fault::Then::out_of_memory;
}

bool can_inject(Fault const& fault, Capabilities const& able) {
  switch (fault.at) {
    case Fault::Where::save:
      return able.can_crash;
    case Fault::Where::malloc:
      return able.out_of_memory;
    case Fault::Where::load:
      break;
  }
  return able.load;
}

/// Of each load, in order: had its checkpoint been saved twice before?
std::vector<bool> older_saves(Scenario const& scenario) {
  std::map<std::string_view, int> saves;
  std::vector<bool> older;
  for (Operation const& operation : scenario.program) {
    if (auto const* save = std::get_if<Save>(&operation.action)) ++saves[save->checkpoint];
    if (auto const* load = std::get_if<Load>(&operation.action))
      older.push_back(saves[load->from] >= 2);
  }
  return older;
}

bool is_of_one(std::vector<bool> const& loads, std::int64_t nth) {
  return nth <= std::ssize(loads) && loads[static_cast<std::size_t>(nth - 1)];
}

void refuse_fault(Fault const& fault, Scenario const& scenario, Capabilities const& able,
                  std::vector<bool> const& older) {
  SourceLine const line = scenario.lines["faults"];
  if (!fits(fault))
    refuse_at(line, "faults",
              "no such fault can be injected; supported: at save then crash, at malloc then "
              "out_of_memory, at load then flip_byte, truncate, remove_file or stale_file");
  bool const takes_any = able.can_crash || able.out_of_memory || able.load;
  if (!can_inject(fault, able))
    refuse_at(line, "faults", "engine {} takes no faults{}{}; supported: sim, sim-unchecked",
              able.engine, takes_any ? " at " : "", takes_any ? word_for(fault.at) : "");
  if (fault.then == Fault::Then::stale_file && !is_of_one(older, fault.nth.value_or(1)))
    refuse_at(line, "faults",
              "stale_file needs two saves under the name that is loaded: an older one to take the "
              "file from");
}

}  // namespace

bool has_older_save(Scenario const& scenario, std::int64_t nth) {
  return is_of_one(older_saves(scenario), nth);
}

void refuse_checkpoints(Scenario const& scenario, Capabilities const& capabilities) {
  refuse_saves_and_loads(scenario, capabilities);
  auto const older = older_saves(scenario);
  for (Fault const& fault : scenario.faults) refuse_fault(fault, scenario, capabilities, older);
}

}  // namespace adamant::scenarios
