#include "scenarios/search/minimize/weight.h"

#include <algorithm>
#include <limits>
#include <set>

#include "scenarios/language/operations.h"
#include "scenarios/language/registry.h"
#include "scenarios/language/verbs.h"
#include "scenarios/search/minimize/candidates.h"
#include "scenarios/search/minimize/weigh_keys.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t elements_of_empty = 8;
constexpr std::uint64_t size_of_schedule = 3;  // nobody reads one
constexpr std::uint64_t size_of_wild = 2;      // nor numbers of which any may be the one
constexpr std::size_t letters = 26;
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 4;

std::uint64_t number(std::int64_t count) {
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

/// a, b, …, z, aa, ab, …
std::string letters_of(std::size_t index) {
  std::string const before = index < letters ? "" : letters_of(index / letters - 1);
  return before + static_cast<char>('a' + index % letters);
}

/// Adds up what is at its default as 0.
class Weighing {
 public:
  explicit Weighing(Scenario const& scenario) : scenario_(scenario) {}

  Weight weigh() {
    weigh_ranks(scenario_.world);
    weigh_program(scenario_.program, 1);
    weigh_further_runs();
    weigh_params();
    for (auto const& [name, canonical] : canonical_checkpoints(scenario_))
      if (name != canonical) ++weight_[Digit::names];
    add(KeyWeight::of(scenario_.world));
    add(KeyWeight::of(scenario_.optimizer));
    add(KeyWeight::of(scenario_.precision));
    add(KeyWeight::of(scenario_.offload));
    for (Fault const& fault : scenario_.faults) {
      feature(true, 0);
      add(KeyWeight::of(fault));
    }
    weight_[Digit::features] += scenario_.engine.options.size();
    weigh_plain_keys();
    if (scenario_.gradients == GradientClass::wild) weight_[Digit::size] += size_of_wild;
    weigh_schedule();
    feature(scenario_.microbatches.has_value(), 0);
    weight_[Digit::microbatches] = number(scenario_.microbatches.value_or(0));
    weight_[Digit::seed] = scenario_.seed.value_or(0);
    weight_[Digit::size] += weight_[Digit::executed] + weight_[Digit::features] +
                            weight_[Digit::ranks] + weight_[Digit::params];
    return weight_;
  }

 private:
  void add(KeyWeight const& keys) {
    weight_[Digit::features] += keys.features;
    weight_[Digit::keys] += keys.keys;
    weight_[Digit::values] += keys.values;
  }
  void feature(bool present, std::uint64_t value) {
    KeyWeight weight;
    weight.add_feature(present, value);
    add(weight);
  }

  void weigh_ranks(World const& world) {
    std::uint64_t const ranks = number(world.rank_count());
    weight_[Digit::ranks] = std::max(weight_[Digit::ranks], ranks);
    weight_[Digit::ranks_of_all] += ranks;
  }

  /// Each executes the program once more, and a save and a load for each world on its way.
  void weigh_further_runs() {
    std::uint64_t const of_program = weight_[Digit::executed];
    weight_[Digit::executed] += of_program * scenario_.other_worlds.size();
    for (World const& world : scenario_.other_worlds) {
      feature(true, 0);
      add(KeyWeight::of(world));
      weigh_ranks(world);
    }
    for (Again const& again : scenario_.again) {
      feature(true, 0);
      add(KeyWeight::of(again));
      weight_[Digit::features] += again.options.size() + again.through.size();
      weight_[Digit::executed] += of_program + 2 * again.through.size();
      if (again.resumed_after) weight_[Digit::executed] += 2;
      for (World const& world : again.through) weigh_ranks(world);
    }
  }

  /// One of words, or of yes and no: the rest of a scenario has digits of its own.
  void weigh_plain_keys() {
    KeyWeight weight;
    for_each_key<Scenario>([&](auto const& row) {
      using Value = typename KindOf<std::remove_cvref_t<decltype(row)>>::Value;
      if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, bool>)
        weight.add_key(scenario_, row);
    });
    add(weight);
  }

  /// Operations that are executed `times`: those of a capture as often as they are replayed.
  void weigh_program(std::vector<Operation> const& program, std::uint64_t times) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      ++weight_[Digit::entries];
      weight_[Digit::kinds] += traits_of(program[i].action).weight;
      weigh_action(program[i].action, times);
      if (i > 0 && traits_of(program[i - 1].action).weight > traits_of(program[i].action).weight)
        weight_[Digit::disorder] += 1 + program.size() - i;
    }
  }

  void weigh_action(Action const& action, std::uint64_t times) {
    std::uint64_t executed = 1;
    if (auto const* train = std::get_if<Train>(&action))
      executed = number(train->count) * (scenario_.optimizer.clip ? 4 : 3);
    if (auto const* replay = std::get_if<Replay>(&action))
      executed = number(replay->count) * captured_;
    if (auto const* capture = std::get_if<Capture>(&action)) return weigh_capture(*capture);
    weight_[Digit::executed] += std::min(executed, most) * times;
    std::visit([&](auto const& one) { add(KeyWeight::of(one)); }, action);
    if (auto const* backward = std::get_if<Backward>(&action)) weigh_left_out(*backward);
    auto const* const load = std::get_if<Load>(&action);
    if (load != nullptr && load->world) weigh_ranks(*load->world);
  }

  /// Of parameters that are alike the first is left out.
  void weigh_left_out(Backward const& backward) {
    for (std::size_t p = 0; p < scenario_.params.size(); ++p)
      for (std::string const& name : backward.without)
        if (scenario_.params[p].name == name) weight_[Digit::disorder] += p;
  }

  void weigh_capture(Capture const& capture) {
    std::uint64_t const before = weight_[Digit::executed];
    weigh_program(capture.body, 1);
    captured_ = std::max<std::uint64_t>(1, weight_[Digit::executed] - before);
  }

  void weigh_params() {
    weight_[Digit::params] = scenario_.params.size();
    std::vector<std::string> names;
    for (Param const& param : scenario_.params) {
      if (!param.is_tied()) weigh_shape(param.shape);
      feature(param.is_tied(), place_of_name(param.tied));
      weigh_parts(param.parts);
      add(KeyWeight::of(param.precision));
      feature(!param.group.empty(), place_of_group(param.group));
      names.push_back(param.name);
    }
    weigh_names(names);
    for (std::size_t g = 0; g < scenario_.groups.size(); ++g) {
      feature(true, 0);
      add(KeyWeight::of(scenario_.groups[g].settings));
      if (scenario_.groups[g].name != canonical_group(g)) ++weight_[Digit::names];
    }
  }

  void weigh_shape(std::vector<std::int64_t> const& shape) {
    std::uint64_t numel = 1;
    for (std::int64_t const extent : shape) {
      std::uint64_t const count = number(extent);
      numel = count == 0 ? 0 : (numel > most / count ? most : numel * count);
    }
    std::uint64_t const elements = numel == 0 ? elements_of_empty : numel;
    weight_[Digit::elements] += elements;
    weight_[Digit::dimensions] += shape.size();
    // Larger tensors stand later.
    if (elements < last_elements_) ++weight_[Digit::disorder];
    last_elements_ = elements;
  }

  void weigh_parts(std::vector<std::string> const& parts) {
    feature(!parts.empty(), parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part)
      if (parts[part] != canonical_part(part)) ++weight_[Digit::names];
  }

  std::uint64_t place_of_name(std::string const& name) const {
    for (std::size_t p = 0; p < scenario_.params.size(); ++p)
      if (scenario_.params[p].name == name) return p;
    return 0;
  }

  std::uint64_t place_of_group(std::string const& name) const {
    for (std::size_t g = 0; g < scenario_.groups.size(); ++g)
      if (scenario_.groups[g].name == name) return g;
    return scenario_.groups.size();
  }

  void weigh_names(std::vector<std::string> const& names) {
    auto const units = assign_units(names);
    for (std::size_t p = 0; p < names.size(); ++p) {
      if (names[p] == canonical_name(p, units[p], false)) continue;
      weight_[Digit::names] += names[p] == canonical_name(p, units[p], true) ? 1 : 2;
    }
  }

  void weigh_schedule() {
    Schedule const& schedule = scenario_.schedule;
    bool const simple = schedule.strategy == Schedule::Strategy::fifo && !schedule.choices;
    if (simple) return;
    feature(true, 0);
    weight_[Digit::size] += size_of_schedule;
    if (!schedule.choices) {
      weight_[Digit::schedule] = most + static_cast<std::uint64_t>(schedule.strategy);
      weight_[Digit::choices] = schedule.seed.value_or(0);
      return;
    }
    weight_[Digit::schedule] = schedule.choices->size();
    for (std::uint32_t const choice : *schedule.choices) weight_[Digit::choices] += choice;
  }

  Scenario const& scenario_;
  Weight weight_;
  std::uint64_t captured_ = 1;  // operations that a replay executes
  std::uint64_t last_elements_ = 0;
};

}  // namespace

std::string canonical_part(std::size_t index) {
  return "part" + std::to_string(index);
}

std::string canonical_name(std::size_t index, int unit, bool in_units) {
  std::string name = in_units ? "h." + std::to_string(unit) + ".p" : std::string("p");
  name += std::to_string(index);
  return name;
}

std::string canonical_group(std::size_t index) {
  return std::string("g").append(std::to_string(index));  // "g" + …: g++ 12 warns
}

std::map<std::string, std::string> canonical_checkpoints(Scenario const& scenario) {
  std::set<std::string> const outside = loaded_from_outside(scenario.program);
  std::map<std::string, std::string> names;
  std::size_t next = 0;
  for (Save const* save : all<Save>(scenario.program)) {
    if (outside.contains(save->checkpoint) || names.contains(save->checkpoint)) continue;
    while (outside.contains(letters_of(next))) ++next;
    names[save->checkpoint] = letters_of(next++);
  }
  return names;
}

Weight weight_of(Scenario const& scenario) {
  return Weighing(scenario).weigh();
}

}  // namespace adamant::scenarios
