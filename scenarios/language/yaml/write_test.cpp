// Law:        load(write(s)) == s and write(load(write(s))) == write(s)
// Sense:      exact, numbers included.
// Not said:   that what is read means the right thing (load_test.cpp).
// Must catch: a key that the writer forgets, a default that reader and writer do not share.
#include "scenarios/language/yaml/write.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/table.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/scalar.h"

namespace adamant::scenarios {
namespace {

bool coin() {
  return *rc::gen::arbitrary<bool>();
}

template <typename Number>
Number number(Number least, Number most) {
  return *rc::gen::inRange<Number>(least, most);
}

template <typename Enum>
Enum any_of() {
  return static_cast<Enum>(number<std::size_t>(0, words_of<Enum>.size()));
}

template <typename Enum>
void maybe(std::optional<Enum>& value) {
  if (coin()) value = any_of<Enum>();
}

std::string name(std::set<std::string>& taken) {
  static constexpr std::string_view stems[] = {"w",    "h.0", "true", "1e5",
                                               "null", "_x",  "a-b",  "007"};
  std::string text(stems[number<std::size_t>(0, std::size(stems))]);
  while (!taken.insert(text).second) text += ".7";
  return text;
}

/// Any text at all: printable, quotes, breaks, control characters, more than ASCII.
std::string text() {
  static constexpr std::string_view parts[] = {"a",
                                               " ",
                                               ":",
                                               "#",
                                               "\"",
                                               "'",
                                               "\n",
                                               "\t",
                                               "\\",
                                               "-",
                                               "[",
                                               "}",
                                               "\x01",
                                               "\x7F",
                                               "\xC3\xA9",
                                               "\xC2\x85",
                                               "\xE2\x80\xA8",
                                               "\xEF\xBB\xBF",
                                               "\xF0\x9F\x99\x82",
                                               "0",
                                               "no",
                                               "%",
                                               "@",
                                               "&",
                                               "*",
                                               "!",
                                               "|",
                                               "  "};
  std::string whole;
  for (int i = number(0, 8); i > 0; --i) whole += parts[number<std::size_t>(0, std::size(parts))];
  return whole;
}

/// A binary32 from [0, below): zero, ordinary, subnormal.
float real(float below) {
  static constexpr float values[] = {0.0F,   0.1F,   0.5F,        1e-3F, 0.999F,
                                     1e-45F, 1e-30F, 0.33333334F, 1.0F,  7e30F};
  float const value = values[number<std::size_t>(0, std::size(values))];
  return value < below ? value : 0.25F;
}

AdamOverride adam_override(bool in_set) {
  AdamOverride settings;
  if (coin()) settings.lr = real(1e38F);
  if (coin()) {
    float const beta1 = real(1.0F);
    float const beta2 = real(1.0F);
    settings.betas = {beta1, beta2};
  }
  if (coin()) settings.eps = real(1e38F);
  if (coin()) settings.weight_decay = real(1e38F);
  if (!in_set && coin()) settings.bias_correction = coin();
  return settings;
}

PrecisionOverride precision_override() {
  PrecisionOverride precision;
  maybe(precision.param);
  maybe(precision.grad);
  maybe(precision.main);
  maybe(precision.exp_avg);
  maybe(precision.exp_avg_sq);
  maybe(precision.state_scale);
  return precision;
}

Clip clip() {
  return coin() ? Clip(0.5F + real(1e38F)) : Clip();
}

LossScale loss_scale() {
  switch (number(0, 3)) {
    case 0:
      return {};
    case 1:
      return {LossScale::Kind::dynamic, 0};
    default:
      return {LossScale::Kind::fixed, 1.0F + real(1e38F)};
  }
}

Offload offload() {
  switch (number(0, 3)) {
    case 0:
      return {};
    case 1:
      return OffloadedStates{.moments = coin()};
    default:
      return HybridOffload{.fraction = 0.1 * number(0, 10), .pin_grads = coin()};
  }
}

World world() {
  auto const shard = number<std::int64_t>(1, 9);
  auto const replicate = number<std::int64_t>(1, 3);
  return {shard, replicate, any_of<Outer>()};
}

Action action(Scenario const& scenario, std::set<std::string>& saved, int depth) {
  switch (number(0, depth < 3 ? 14 : 13)) {
    case 0:
      return Train{number<std::int64_t>(1, 5)};
    case 1:
      return coin() ? Backward{} : Backward{{scenario.params.front().name}};
    case 2:
      return ClipNorm{};
    case 3:
      return Step{};
    case 4:
      return ZeroGrad{coin()};
    case 5: {
      Set set{.change = {.adam = adam_override(true)}};
      if (coin()) set.change.loss_scale = loss_scale();
      set.change.clip = clip();  // so that something changes
      return set;
    }
    case 6:
      return Overflow{};
    case 7:
      return OffloadStates{};
    case 8:
      return ReloadStates{};
    case 9:
      return Replay{number<std::int64_t>(1, 5)};
    case 10:
      return Save{name(saved)};
    case 11: {
      if (saved.empty()) return Check{};
      Load load{.from = *saved.begin(), .precision = precision_override()};
      if (coin()) load.world = world();
      if (coin()) load.layout = any_of<Layout>();
      if (coin()) load.offload = offload();
      if (coin()) load.order = any_of<ParamOrder>();
      load.anew = coin();
      return load;
    }
    case 12:
      return Check{};
    default: {
      Capture capture;
      for (int i = number(1, 4); i > 0; --i) {
        capture.body.push_back({action(scenario, saved, depth + 1), {}});
      }
      return capture;
    }
  }
}

void add_params(Scenario& scenario) {
  std::set<std::string> groups;
  for (int i = number(0, 3); i > 0; --i) {
    std::string const group = name(groups);
    scenario.groups.push_back({group, adam_override(false)});
  }
  std::set<std::string> names;
  for (int i = number(1, 4); i > 0; --i) {
    Param param{.name = name(names)};
    if (!scenario.params.empty() && number(0, 5) == 0) {
      param.tied = scenario.params.front().name;
      scenario.params.push_back(param);
      continue;
    }
    for (int d = number(0, 4); d > 0; --d) param.shape.push_back(number<std::int64_t>(0, 20));
    if (!scenario.groups.empty() && coin()) param.group = scenario.groups.back().name;
    if (coin()) param.precision = precision_override();
    if (!param.shape.empty() && param.shape.front() % 2 == 0 && coin())
      param.parts = {"gate", "1e5"};
    scenario.params.push_back(param);
  }
}

void add_circumstances(Scenario& scenario) {
  static constexpr std::string_view engines[] = {"sim", "sim-unchecked", "cuda", "torch",
                                                 "exec:a b: c"};
  scenario.engine.name = engines[number<std::size_t>(0, std::size(engines))];
  if (coin()) scenario.engine.options = {{"format", "dcp"}, {"async save", "true"}};
  Schedule& schedule = scenario.schedule;
  schedule.strategy = any_of<Schedule::Strategy>();
  if (coin()) schedule.seed = *rc::gen::arbitrary<std::uint64_t>();
  if (schedule.strategy == Schedule::Strategy::pct && coin())
    schedule.depth = number<std::int64_t>(1, 9);
  if (coin()) schedule = {.choices = *rc::gen::arbitrary<std::vector<std::uint32_t>>()};
  for (int i = number(0, 3); i > 0; --i) {
    Fault fault{.at = any_of<Fault::Where>(), .then = any_of<Fault::Then>()};
    if (coin()) fault.rank = number<std::int64_t>(0, scenario.world.rank_count());
    if (coin()) fault.after_bytes = number<std::int64_t>(0, 5000);
    if (coin()) fault.byte = number<std::int64_t>(0, 5000);
    scenario.faults.push_back(fault);
  }
  for (int i = number(0, 2); i > 0; --i) scenario.other_worlds.push_back(world());
  for (int i = number(0, 2); i > 0; --i) {
    Again again;
    if (coin()) again.options = {{"async_save", "true"}};
    if (coin()) {
      again.resumed_after = number<std::int64_t>(0, scenario.program.size() + 1);
      for (int w = number(0, 3); w > 0; --w) again.through.push_back(world());
      again.order = any_of<ParamOrder>();
    }
    scenario.again.push_back(again);
  }
  if (coin()) scenario.bug = bugs::ids()[number<std::size_t>(0, bugs::ids().size())];
  if (coin()) scenario.expect = {Expectation::Kind::violates, "access"};
  if (coin()) scenario.expect = {Expectation::Kind::refused, "any"};
}

Scenario any_scenario() {
  Scenario scenario;
  scenario.name = text();
  if (coin()) scenario.about = text();
  if (coin()) scenario.source = text();
  if (coin()) scenario.seed = *rc::gen::arbitrary<std::uint64_t>();
  scenario.world = world();
  scenario.layout = any_of<Layout>();
  add_params(scenario);
  scenario.precision = with(Precision{}, precision_override());
  scenario.optimizer.adam = with(AdamConfig{.mode = any_of<AdamMode>()}, adam_override(false));
  scenario.optimizer.decoupled_grad = coin();
  scenario.optimizer.keep_cast_grad = coin();
  scenario.optimizer.step_counter = any_of<StepCounter>();
  scenario.optimizer.capturable = coin();
  scenario.optimizer.clip = clip();
  scenario.optimizer.loss_scale = loss_scale();
  scenario.offload = offload();
  scenario.gradients = any_of<GradientClass>();
  if (coin()) scenario.microbatches = number<std::int64_t>(1, 20);
  std::set<std::string> saved;
  for (int i = number(1, 8); i > 0; --i)
    scenario.program.push_back({action(scenario, saved, 0), {}});
  add_circumstances(scenario);
  return scenario;
}

RC_GTEST_PROP(WrittenScenario, ReadsBackEqualAndWritesTheSameTextAgain, ()) {
  Scenario const scenario = any_scenario();
  std::string const text = write_scenario(scenario);
  RC_LOG() << text;
  Scenario const again = load_scenario_text(text, "written");
  RC_ASSERT(again == scenario);
  RC_ASSERT(write_scenario(again) == text);
}

TEST(WrittenScenario, ANormalFormLeavesDefaultsOut) {
  Scenario scenario;
  scenario.name = "Smallest";
  scenario.params = {{.name = "w", .shape = {2, 3}}};
  scenario.program = {{Train{2}, {}}, {Capture{{{Step{}, {}}, {Replay{3}, {}}}}, {}}};
  scenario.schedule.choices = {{1, 2}};
  scenario.seed = 7;
  scenario.optimizer.adam.learning_rate = 0.5F;
  EXPECT_EQ(write_scenario(scenario),
            "adamant: 1\n"
            "name: Smallest\n"
            "seed: 7\n"
            "\n"
            "world: {shard: 1}\n"
            "params:\n"
            "  - {name: w, shape: [2, 3]}\n"
            "optimizer: {lr: 0.5}\n"
            "\n"
            "program:\n"
            "  - train: 2\n"
            "  - capture: [step, {replay: 3}]\n"
            "\n"
            "schedule: {choices: [1, 2]}\n");
}

TEST(WrittenScenario, AModelIsWrittenByItsName) {
  Scenario const scenario = load_scenario_file("scenarios/gpt2_124m_8_ranks.yaml");
  EXPECT_NE(write_scenario(scenario).find("params: {model: gpt2-124m}\n"), std::string::npos);
  EXPECT_EQ(load_scenario_text(write_scenario(scenario), "written"), scenario);
}

}  // namespace
}  // namespace adamant::scenarios
