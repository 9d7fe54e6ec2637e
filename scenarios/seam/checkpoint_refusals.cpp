#include "scenarios/seam/refusal_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/words.h"
#include "scenarios/seam/layout_padding.h"

namespace adamant::scenarios {

namespace {

using MaybeRefusal = std::optional<Refusal>;

std::string about(Param const& param) {
  return "parameter `" + param.name + "`";
}

/// What is refused of the loads of a program, each with what those before it have left.
class LoadWalk {
 public:
  LoadWalk(Scenario const& scenario, Capabilities const& able)
      : setting_(scenario), able_(able), offers_(able.precisions) {
    if (able.load_precisions)
      offers_.insert(offers_.end(), able.load_precisions->begin(), able.load_precisions->end());
  }

  MaybeRefusal visit(Load const& load, SourceLine line) {
    if (load.layout && !offers(able_.layouts, *load.layout))
      return unsupported("layout", "a load changes layout; supported: " + listed(able_.layouts),
                         line);
    if (auto refusal = refuse_world(load.world.value_or(setting_.world), line)) return refusal;
    if (auto refusal = refuse_precision(load.types(), line)) return refusal;
    setting_ = with(std::move(setting_), load);
    if (!load.keeps_addresses() && padded_.insert(setting_of(setting_)).second)
      if (auto refusal = refuse_padding(setting_, line)) return refusal;
    if (auto refusal = refuse_offload(load.offload.value_or(Offload()), line)) return refusal;
    if (load.order && *load.order != ParamOrder::listed && !able_.loads_in_any_order)
      return unsupported("order",
                         "a load asks for parameters in another order; supported: as listed", line);
    if (load.anew && !able_.loads_anew)
      return unsupported("anew", "a load asks for a new job; supported: loads without `anew`",
                         line);
    return std::nullopt;
  }

 private:
  MaybeRefusal refuse_world(World const& world, SourceLine line) const {
    if (world.replicate > able_.replicate_max)
      return unsupported("replicate",
                         "a load changes world; supported: " + replicas(able_.replicate_max), line);
    if (!offers(able_.outers, world.outer))
      return unsupported("outer", "a load changes world; supported: outer: " + listed(able_.outers),
                         line);
    if (world.rank_count() > able_.ranks_max)
      return unsupported(
          "ranks",
          "a load changes world; supported: up to " + std::to_string(able_.ranks_max) + " ranks",
          line);
    return std::nullopt;
  }

  MaybeRefusal refuse_precision(PrecisionOverride const& change, SourceLine line) {
    Precision const before = std::exchange(setting_.precision, with(setting_.precision, change));
    if (setting_.precision == before) return std::nullopt;
    if (!recipes_.insert(setting_.precision).second) return std::nullopt;
    if (auto const found = first_conflict(setting_))
      return unsupported(
          found->conflict.detail,
          "after a load, " + about(*found->param) + ": " + std::string(found->conflict.why), line);
    if (!able_.load_precisions)
      return unsupported("precision", "a load changes precision; supported: the same as saved",
                         line);
    for (Param const& param : setting_.params) {
      if (param.is_tied()) continue;
      if (auto refusal = refuse_types(param, line)) return refusal;
    }
    if (!able_.cast_gradients && makes_cast_copy(setting_))
      return unsupported("decoupled_grad",
                         "a load leads to types that need a cast copy; supported: "
                         "decoupled_grad: true, and types that need no cast",
                         line);
    return std::nullopt;
  }

  MaybeRefusal refuse_types(Param const& param, SourceLine line) const {
    Precision const types = setting_.precision_of(param);
    bool const offered = accepted(offers_, types);
    if (offered && accepted(offers_, types, setting_.optimizer.loss_scale.kind))
      return std::nullopt;
    if (offered)
      return unsupported("loss_scale",
                         "after a load, " + about(param) +
                             ": its types go without this loss scale; supported: none",
                         line);
    return unsupported(
        "precision",
        "after a load, " + about(param) + ": its types change; supported: " + text_of(offers_),
        line);
  }

  MaybeRefusal refuse_offload(Offload const& offload, SourceLine line) const {
    if (offloads_nothing(offload))
      return unsupported("offload",
                         "a load asks for an offload of neither moments nor main weights", line);
    if (offload.index() != 0 && !able_.offload)
      return unsupported("offload", "a load asks for an offload; supported: none", line);
    return std::nullopt;
  }

  Scenario setting_;
  Capabilities const& able_;
  std::vector<PrecisionOffer> offers_;  // of its parameters' types behind a load
  std::set<Precision> recipes_;         // that nothing is refused of
  std::set<Setting> padded_;            // likewise
};

MaybeRefusal refuse_missing(Action const& action, SourceLine line, Capabilities const& able) {
  bool const lacks = (std::holds_alternative<Save>(action) && !able.save) ||
                     (std::holds_alternative<Load>(action) && !able.load);
  if (!lacks) return std::nullopt;
  return unsupported(
      word_of(action),
      "engine " + able.engine + " has no checkpoints; supported: sim, sim-unchecked, cuda", line);
}

MaybeRefusal refuse_saves_and_loads(Scenario const& scenario, Capabilities const& able) {
  LoadWalk loads(scenario, able);
  for (Operation const& operation : scenario.program) {
    if (auto refusal = refuse_missing(operation.action, operation.line, able)) return refusal;
    auto const* const load = std::get_if<Load>(&operation.action);
    if (load == nullptr) continue;
    if (auto refusal = loads.visit(*load, operation.line)) return refusal;
  }
  return std::nullopt;
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

std::string without_fault(Fault const& fault, Capabilities const& able) {
  std::string const text = "engine " + able.engine + " takes no faults";
  bool const any = able.can_crash || able.out_of_memory || able.load;
  std::string const which = any ? " at " + std::string(word_for(fault.at)) : "";
  return text + which + "; supported: sim, sim-unchecked";
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

MaybeRefusal refuse_fault(Fault const& fault, Scenario const& scenario, Capabilities const& able,
                          std::vector<bool> const& older) {
  SourceLine const line = scenario.lines["faults"];
  if (!fits(fault))
    return unsupported("faults",
                       "no such fault can be injected; supported: at save then crash, at malloc "
                       "then out_of_memory, at load then flip_byte, truncate, remove_file or "
                       "stale_file",
                       line);
  if (!can_inject(fault, able)) return unsupported("faults", without_fault(fault, able), line);
  if (fault.then == Fault::Then::stale_file && !is_of_one(older, fault.nth.value_or(1)))
    return unsupported("faults",
                       "stale_file needs two saves under the name that is loaded: an older one to "
                       "take the file from",
                       line);
  return std::nullopt;
}

}  // namespace

bool has_older_save(Scenario const& scenario, std::int64_t nth) {
  return is_of_one(older_saves(scenario), nth);
}

MaybeRefusal refuse_checkpoints(Scenario const& scenario, Capabilities const& capabilities) {
  if (auto refusal = refuse_saves_and_loads(scenario, capabilities)) return refusal;
  auto const older = older_saves(scenario);
  for (Fault const& fault : scenario.faults)
    if (auto refusal = refuse_fault(fault, scenario, capabilities, older)) return refusal;
  return std::nullopt;
}

}  // namespace adamant::scenarios
