// A world of one parameter that is right but for what a test does to its shards, and what the judge
// of values says of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "scenarios/judge/testing/second_oracle.h"
#include "scenarios/judge/value_judge.h"

namespace adamant::scenarios {

class JudgedWorld {
 public:
  /// As it begins, on the scenario's ranks and replicas.
  JudgedWorld(Scenario scenario, std::vector<ParameterSpec> parameters)
      : scenario_(std::move(scenario)),
        parameters_(std::move(parameters)),
        layout_(oracle::lay_out(scenario_.layout, parameters_, mesh_of(scenario_.world))),
        reference_(fresh_reference()),
        engine_(fresh_reference()),
        values_(reference_, findings_),
        formulas_(make_formulas(Arithmetic::own_order, {.gradients = scenario_.gradients,
                                                        .reference = reference_,
                                                        .values = values_,
                                                        .findings = findings_,
                                                        .follow_each = {}})),
        world_(engine_.model(), layout_,
               layout_.mesh().rank_count() / layout_.holder_count(TensorKind::exp_avg)) {
    values_.judge_by(*formulas_);
    values_.begin_world(layout_);
  }

  void step(std::vector<float> const& gradient) {
    for (Reference* const each : {&reference_, &engine_}) {
      each->model().set_gradient(0, gradient);
      each->model().begin_step();
      each->model().step_parameter(0);
    }
  }

  void tamper_with(ShardTamper tamper) { world_.tamper = std::move(tamper); }

  bool agrees() const {
    for (TensorKind const kind : stepped_kinds)
      if (!values_.agrees(world_, 0, kind)) return false;
    return true;
  }
  std::vector<Violation> const& compared() {
    for (TensorKind const kind : stepped_kinds) values_.compare(world_, 0, kind);
    return findings_.violations();
  }
  /// Compared with `tamper` done to every shard; there has to be one violation.
  Violation found_after(ShardTamper tamper) {
    tamper_with(std::move(tamper));
    EXPECT_FALSE(agrees());
    EXPECT_EQ(compared().size(), 1U);
    return compared().empty() ? Violation{} : compared().front();
  }

  std::vector<ParameterSpec> const& parameters() const { return parameters_; }
  Reference const& reference() const { return reference_; }
  oracle::Model const& model() const { return reference_.model(); }
  Reference fresh_reference() const { return {scenario_, parameters_, 7}; }
  SecondOracle const& world() const { return world_; }

 private:
  Scenario const scenario_;
  std::vector<ParameterSpec> const parameters_;
  oracle::Layout const layout_;
  Reference reference_;
  Reference engine_;
  RunFindings findings_;
  ValueJudge values_;
  std::unique_ptr<Formulas> const formulas_;
  SecondOracle world_;
};

}  // namespace adamant::scenarios
