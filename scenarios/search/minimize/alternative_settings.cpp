// Settings: what a scenario has of them, less of that, and one that is usual beside it. Worlds: few
// ranks, few parameters of few rows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "scenarios/language/operations.h"
#include "scenarios/language/table.h"
#include "scenarios/language/words.h"
#include "scenarios/search/minimize/alternatives.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios {

namespace {

using Fill = std::function<void(Scenario&)>;

constexpr std::size_t kept_max = 4;  // settings of the scenario: 16 sets of them
constexpr std::uint64_t other_seeds = 8;

template <typename Value>
constexpr bool is_word_or_flag = std::is_enum_v<Value> || std::is_same_v<Value, bool>;

template <typename Value>
std::size_t count_of() {
  if constexpr (std::is_same_v<Value, bool>)
    return 2;
  else
    return words_of<Value>.size();
}

/// Single settings.
class Settings {
 public:
  explicit Settings(Scenario const& scenario) : scenario_(scenario) {}

  /// Those that are not at their defaults.
  std::vector<Fill> own() {
    own_keys<Precision>([](auto& s) -> auto& { return s.precision; });
    own_keys<Optimizer>([](auto& s) -> auto& { return s.optimizer; });
    own_words();
    if (scenario_.offload.index() != 0) keep(&Scenario::offload);
    if (!scenario_.faults.empty()) keep(&Scenario::faults);
    if (!scenario_.engine.options.empty())
      add([options = scenario_.engine.options](Scenario& s) { s.engine.options = options; });
    bool const draws = scenario_.schedule.strategy != Schedule::Strategy::fifo;
    if (draws && !scenario_.schedule.choices) keep(&Scenario::schedule);
    return std::move(fills_);
  }

  /// Those that are usual.
  std::vector<Fill> usual() {
    usual_keys<Precision>([](Scenario & s) -> auto& { return s.precision; });
    usual_keys<Optimizer>([](Scenario & s) -> auto& { return s.optimizer; });
    for (AdamOverride const& usual : usual_overrides()) {
      add([usual](Scenario& s) { s.optimizer.adam = with(s.optimizer.adam, usual); });
    }
    for (Clip const& clip : usual_clips)
      if (clip) add([clip](Scenario& s) { s.optimizer.clip = clip; });
    for (LossScale const& scale : usual_loss_scales)
      if (scale != LossScale{}) add([scale](Scenario& s) { s.optimizer.loss_scale = scale; });
    for (auto const gradients : {GradientClass::normal, GradientClass::wild})
      add([gradients](Scenario& s) { s.gradients = gradients; });
    for (auto const layout : {Layout::flat, Layout::bucketed})
      add([layout](Scenario& s) { s.layout = layout; });
    for (Set const* set : all<Set>(scenario_.program))
      add([set](Scenario& s) { s.optimizer = with(s.optimizer, set->change); });
    add([](Scenario& s) { s.offload = OffloadedStates{}; });
    add([](Scenario& s) { s.offload = HybridOffload{}; });
    add([](Scenario& s) {
      s.precision.param = ParamType::bf16, s.precision.main = MainType::fp32;
    });
    if (StateType const type = scenario_.precision.exp_avg_sq; type != StateType{})
      add([type](Scenario& s) { s.precision.exp_avg = type; });
    if (is_quantised(scenario_.precision.param))
      add([](Scenario& s) {
        s.precision.param = ParamType::fp8_current, s.precision.main = MainType::fp32;
      });
    return std::move(fills_);
  }

 private:
  void add(Fill fill) { fills_.push_back(std::move(fill)); }

  template <typename Member>
  void keep(Member member) {
    add([member, value = scenario_.*member](Scenario& s) { s.*member = value; });
  }

  template <typename T, typename PartOf>
  void own_keys(PartOf part_of) {
    for_each_key<T>([&](auto const& row) {
      T const& own = part_of(scenario_);
      if (is_default(own, row)) return;
      add([part_of, row, value = value_at(own, row.place)](Scenario& s) {
        put(part_of(s), row.place, value);
      });
    });
  }

  void own_words() {
    if (scenario_.layout != Layout{}) keep(&Scenario::layout);
    if (scenario_.gradients != GradientClass{}) keep(&Scenario::gradients);
  }

  /// Both words after the default, or the other flag.
  template <typename T, typename PartOf>
  void usual_keys(PartOf part_of) {
    for_each_key<T>([&](auto const& row) {
      using Value = typename KindOf<std::remove_cvref_t<decltype(row)>>::Value;
      if constexpr (is_word_or_flag<Value>) {
        Value const usual = value_at(T{}, row.place);
        for (std::size_t number = 0; number < std::min<std::size_t>(3, count_of<Value>());
             ++number) {
          auto const value = static_cast<Value>(number);
          if (value == usual) continue;
          add([part_of, row, value](Scenario& s) { put(part_of(s), row.place, value); });
        }
      }
    });
  }

  Scenario const& scenario_;
  std::vector<Fill> fills_;
};

/// Each set of those that are kept, together.
std::vector<Fill> subsets_of(std::vector<Fill> const& own) {
  std::vector<Fill> subsets;
  std::size_t const sets = std::size_t{1} << std::min(own.size(), kept_max);
  for (std::size_t set = 0; set < sets; ++set) {
    std::vector<Fill> kept;
    for (std::size_t i = 0; i < own.size(); ++i)
      if ((set >> i & 1U) != 0) kept.push_back(own[i]);
    subsets.emplace_back([kept](Scenario& s) {
      for (Fill const& fill : kept) fill(s);
    });
  }
  return subsets;
}

std::vector<Param> params_of(std::vector<std::int64_t> const& rows) {
  std::vector<Param> params;
  for (std::size_t p = 0; p < rows.size(); ++p)
    params.push_back({.name = canonical_name(p, 0, false), .shape = {rows[p]}});
  return params;
}

void copy_world(Scenario const& from, Scenario& s) {
  s.seed = from.seed;
  s.world = from.world;
  s.model = from.model;
  s.params = from.params;
  s.order = from.order;
  s.groups = from.groups;
  s.microbatches = from.microbatches;
}

template <typename Add>
void add_usual_worlds(Add const& add) {
  static std::vector<std::vector<std::int64_t>> const rows{{1},    {2},    {3},   {1, 1},
                                                           {1, 2}, {2, 1}, {1, 0}};
  static std::array<std::optional<std::int64_t>, 3> const microbatches{std::nullopt, 1, 3};
  constexpr std::size_t rows_of_microbatches = 2;
  for (World const& world : {World{}, World{.shard = 2}, World{.replicate = 2},
                             World{.replicate = 2, .outer = Outer::optim}, World{.shard = 3}}) {
    for (auto const& count : microbatches) {
      for (std::size_t row = 0; row < (count ? rows_of_microbatches : rows.size()); ++row) {
        add([world, count, params = params_of(rows[row])](Scenario& s) {
          s.world = world;
          s.params = params;
          s.microbatches = count;
        });
      }
    }
  }
}

/// On two ranks, each of them with a row: what is quantised is a matrix.
template <typename Add>
void add_smallest_matrices(Add const& add) {
  for (std::uint64_t seed = 0; seed < other_seeds; ++seed) {
    add([seed](Scenario& s) {
      s.world = {.shard = 2};
      s.params = params_of({2});
      s.params.front().shape.push_back(1);
      s.seed = seed;
    });
  }
}

}  // namespace

void add_settings(Scenario const& scenario, Lists& lists) {
  Scenario const blank = blank_like(scenario);
  std::vector<Fill> const own = Settings(scenario).own();
  std::vector<Fill> const usual = Settings(scenario).usual();
  auto const add = [&](Fill fill) { lists.settings.push_back(make_part(blank, std::move(fill))); };
  add([own](Scenario& s) {
    for (Fill const& fill : own) fill(s);
  });
  auto const add_with = [&](Fill const& kept, Fill const& one) {
    add([kept, one](Scenario& s) {
      kept(s);
      one(s);
    });
  };
  // The empty set is the first, all of them the last.
  std::vector<Fill> const subsets = subsets_of(own);
  for (Fill const& kept : subsets) add(kept);
  lists.own_settings = lists.settings.size();
  for (Fill const& one : usual) add(one);
  if (subsets.size() > 1)
    for (Fill const& one : usual) add_with(subsets.back(), one);
  lists.few_settings = lists.settings.size();
  for (std::size_t i = 1; i + 1 < subsets.size(); ++i)
    for (Fill const& one : usual) add_with(subsets[i], one);
}

void add_worlds(Scenario const& scenario, Lists& lists) {
  Scenario const blank = blank_like(scenario);
  auto const add = [&](Fill fill) { lists.worlds.push_back(make_part(blank, std::move(fill))); };
  add([&](Scenario& s) { copy_world(scenario, s); });
  add([](Scenario&) {});
  add([](Scenario& s) { s.world = {.shard = 2}; });
  add([](Scenario& s) { s.params = params_of({1, 1}); });
  if (scenario.microbatches)
    add([&](Scenario& s) { s.world = scenario.world, s.microbatches = scenario.microbatches; });
  for (Load const* load : all<Load>(scenario.program))
    if (load->world)
      add([&scenario, load](Scenario& s) { s.world = *load->world, s.params = scenario.params; });
  lists.few_worlds = lists.worlds.size();
  for (std::uint64_t seed = 1; seed < other_seeds; ++seed)
    add([seed](Scenario& s) { s.seed = seed; });
  if (scenario.params.size() > 1 || !scenario.groups.empty())
    add([&](Scenario& s) { s.params = scenario.params, s.groups = scenario.groups; });
  if (scenario.world != World{}) add([&](Scenario& s) { s.world = scenario.world; });
  if (is_quantised(scenario.precision.param)) add_smallest_matrices(add);
  add_usual_worlds(add);
}

}  // namespace adamant::scenarios
