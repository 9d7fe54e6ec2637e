#include "scenarios/explain/explain.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "scenarios/judge/formulas/formulas.h"
#include "scenarios/judge/verdict.h"
#include "scenarios/language/words.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

using oracle::Element;
using oracle::Telling;

class Explaining {
 public:
  Explaining(Element element, Arithmetic arithmetic, std::optional<std::int64_t> operation)
      : element_(std::move(element)), arithmetic_(arithmetic), operation_(operation) {}

  void follow(Primitive const& operation, Reference const& before, Reference const& after,
              WatchedElement const& watched) {
    if (auto const* save = operation.as<Save>())
      saved_.insert_or_assign(save->checkpoint, after.model());
    bool const number = element_.what == Element::What::number;
    if (explanations_.empty() && number && !is_of_gradient())
      explanations_.push_back(
          {.primitive = "initial value", .told = {.value = value_in(before.model(), element_)}});
    if (operation_ && operation.entry > *operation_) return;
    auto const* const replay = operation.as<resolved::Replay>();
    if (replay == nullptr) return add(operation, before, after, watched);
    Reference now = before;
    for (Recorded const& captured : replayed(*replay)) {
      Reference const earlier = now;
      now.follow(captured, [&](auto const& visit) {
        for (int p = 0; p < now.model().parameter_count(); ++p) visit(p);
      });
      add({operation.entry, executed(captured)}, earlier, now, watched);
    }
  }

  std::vector<Explanation>& explanations() { return explanations_; }

 private:
  bool is_of_gradient() const {
    return element_.kind == TensorKind::gradient || element_.kind == TensorKind::cast_gradient;
  }

  bool may_change(Primitive const& operation) const {
    bool const norm = element_.what == Element::What::norm;
    bool const gradient = element_.what == Element::What::number && is_of_gradient();
    return match(
        operation.what, [&](ClipNorm const&) { return norm; },
        [&](OneOf<resolved::Backward, ZeroGrad> auto const&) { return gradient; },
        [&](Step const&) { return !norm && !gradient; },
        [&](resolved::Load const&) { return !norm; },
        [](OneOf<resolved::Set, resolved::Replay> auto const&) { return false; },
        [](LeavesNumbers auto const&) { return false; });
  }

  void add(Primitive const& operation, Reference const& before, Reference const& after,
           WatchedElement const& watched) {
    if (!may_change(operation)) return;
    if (!explanations_.empty() && explanations_[0].operation != operation.entry)
      explanations_.clear();
    explanations_.push_back({.operation = operation.entry,
                             .primitive = name_of(operation),
                             .arithmetic = word_for(arithmetic_),
                             .told = told(operation, before, after, watched)});
  }

  oracle::Told told(Primitive const& operation, Reference const& before, Reference const& after,
                    WatchedElement const& watched) const {
    Telling const telling(element_, after.model());
    if (element_.what == Element::What::steps)
      return telling.other(
          fmt::format("the counter was {}", before.model().step_count(element_.parameter)));
    if (is<ClipNorm>(operation.what)) return telling.clip();
    if (auto const* backward = operation.as<resolved::Backward>())
      return told_of_backward(telling, *backward, before);
    if (auto const* load = operation.as<resolved::Load>()) {
      auto const saved = saved_.find(load->checkpoint);
      if (is_of_gradient()) return telling.other("a load leaves no gradient");
      return telling.load(saved == saved_.end() ? nullptr : &saved->second);
    }
    if (!is<Step>(operation.what))
      return telling.other("there is no gradient any more, or one of zeros");
    if (arithmetic_ == Arithmetic::own_order) return telling.step(before.model());
    bool const any = arithmetic_ == Arithmetic::interval;
    return telling.step(any ? Telling::Order::any : Telling::Order::torch, watched.step);
  }

  oracle::Told told_of_backward(Telling const& telling, resolved::Backward const& backward,
                                Reference const& before) const {
    int const p = element_.parameter;
    if (!has_part(backward, p)) return telling.other("the backward leaves the parameter out");
    Reference begun = before;
    begun.begin_backward(backward);
    auto const read = begun.reader(p, backward.index);
    std::vector<float> addends(static_cast<std::size_t>(begun.addend_count(p)));
    for (std::size_t i = 0; i < addends.size(); ++i)
      read(static_cast<int>(i), element_.index, {&addends[i], 1});
    Element gradient = element_;
    gradient.kind = TensorKind::gradient;
    return telling.backward({.addends = addends,
                             .divisor = begun.microbatch_count(),
                             .older = value_in(before.model(), gradient),
                             .format = begun.model().spec(p).formats.gradient},
                            !begun.sums_exactly(p));
  }

  Element element_;
  Arithmetic arithmetic_;
  std::optional<std::int64_t> operation_;
  std::map<std::string, oracle::Model, std::less<>> saved_;
  std::vector<Explanation> explanations_;
};

/// Lets a verdict judge a run, and looks at the oracle before and after each operation, as far as
/// no law was broken before.
class Explainer final : public Observer {
 public:
  Explainer(Verdict& verdict, Explaining& explaining)
      : verdict_(verdict), explaining_(explaining) {}

  bool started(WorldView const& world) override { return verdict_.started(world); }
  bool after(Primitive const& operation, WorldView const& world) override {
    if (!verdict_.violations().empty()) return false;
    Reference const before = verdict_.reference();
    verdict_.watched().step.reset();
    verdict_.after(operation, world);
    explaining_.follow(operation, before, verdict_.reference(), verdict_.watched());
    return true;
  }
  void finished(WorldView const&) override {}
  void ended(Leftovers const&) override {}
  bool restarted(Primitive const& load, WorldView const& world) override {
    return verdict_.restarted(load, world);
  }
  void crashed(Primitive const& save, bool returned) override { verdict_.crashed(save, returned); }
  void damaged(Primitive const& load, DamagedFiles const& files) override {
    verdict_.damaged(load, files);
  }

 private:
  Verdict& verdict_;
  Explaining& explaining_;
};

}  // namespace

std::vector<Explanation> explain(Scenario const& scenario, RunOptions const& options,
                                 std::string_view element, std::optional<std::int64_t> operation) {
  auto const parameters = parameter_specs(scenario);
  auto const asked = oracle::element_of(element, parameters);
  if (operation && *operation >= std::ssize(scenario.program))
    throw oracle::NoSuchElement(
        fmt::format("the last operation is number {}", scenario.program.size() - 1));
  std::uint64_t const seed = scenario.seed.value_or(0);
  Program const program(scenario);
  Verdict verdict(scenario, program, parameters, seed);
  verdict.watched() = {.parameter = asked.parameter, .index = asked.index};
  Explaining explaining(asked, capabilities_of(scenario.engine.name).arithmetic, operation);
  Explainer explainer(verdict, explaining);
  make_scenario_engine(scenario.engine.name)
      ->execute({.scenario = scenario,
                 .program = program,
                 .parameters = parameters,
                 .seed = seed,
                 .schedule = scenario.schedule,
                 .initial_values = [&](int p) { return verdict.initial_values(p); },
                 .device_bytes = options.device_bytes,
                 .foreign_checkpoints = options.checkpoints},
                explainer);
  return std::move(explaining.explanations());
}

std::string describe(Explanation const& explanation, std::string_view element) {
  std::string text = fmt::format("{}: {}\n", element, explanation.primitive);
  if (explanation.operation >= 0)
    text = fmt::format("{}: operation {}, {}, arithmetic {}\n", element, explanation.operation,
                       explanation.primitive, explanation.arithmetic);
  if (!explanation.told.text.empty()) text += "  " + explanation.told.text + "\n";
  for (oracle::Rounding const& rounding : explanation.told.roundings) text += text_of(rounding);
  if (explanation.told.interval)
    text += fmt::format("  {:<18} {}\n", "may be",
                        value_in_words(Breach::outside_step, *explanation.told.interval));
  return text + fmt::format("  {:<18} {}\n", element,
                            explanation.told.value
                                ? oracle::in_both_notations(*explanation.told.value)
                                : "is not there");
}

StrictJson to_json(Explanation const& explanation) {
  StrictJson json{{"operation", explanation.operation},
                  {"primitive", explanation.primitive},
                  {"arithmetic", explanation.arithmetic},
                  {"operations", StrictJson::array()}};
  if (!explanation.told.text.empty()) json["text"] = explanation.told.text;
  for (oracle::Rounding const& rounding : explanation.told.roundings) {
    StrictJson entry{{"result", rounding.result}, {"formula", rounding.formula}};
    for (oracle::Term const& input : rounding.inputs)
      entry["inputs"].push_back(
          {{"name", input.name}, {"value", fmt::format("{:a}", input.value)}});
    if (rounding.exact) entry["exact"] = fmt::format("{:a}", *rounding.exact);
    if (rounding.distance) entry["distance"] = *rounding.distance;
    entry["rounded_to"] = rounding.format;
    entry["value"] = fmt::format("{:a}", rounding.value);
    entry["value_decimal"] = fmt::format("{:.9g}", rounding.value);
    json["operations"].push_back(std::move(entry));
  }
  if (explanation.told.interval)
    json["interval"] = value_in_words(Breach::outside_step, *explanation.told.interval);
  if (explanation.told.value) json["value"] = hexadecimal(*explanation.told.value);
  if (explanation.told.value) json["value_decimal"] = decimal(*explanation.told.value);
  return json;
}

}  // namespace adamant::scenarios
