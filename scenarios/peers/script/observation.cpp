#include "scenarios/peers/script/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "scenarios/peers/script/model_part.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/peers/script/optimizer_part.h"
#include "scenarios/peers/script/violation_text.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;

/// The group that "… of group 1 differ" names, as PyTorch numbers those that have parameters.
int group_of(Plan const& plan) {
  auto const at = plan.violation.message.find("of group ");
  int const group =
      at == std::string::npos ? 0 : std::atoi(plan.violation.message.c_str() + at + 9);
  auto const used = used_groups(plan.scenario);
  auto const found = std::find(used.begin(), used.end(), group);
  return static_cast<int>(found == used.end() ? 0 : found - used.begin());
}

bool is_rank_law(Plan const& plan) {
  return plan.violation.law == "ranks.agree";
}

std::string coordinates_text(std::int64_t index, std::vector<std::int64_t> const& shape) {
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    at[d] = index % shape[d];
    index /= shape[d];
  }
  return fmt::format("{}", fmt::join(at, ", "));
}

/// The tensor itself, sharded.
std::string tensor_expression(Draft const& draft, Subject const& subject) {
  int const parameter = draft.names.find(subject.parameter);
  if (parameter < 0)
    throw NoScript("the violation is about `" + draft.plan.violation.tensor +
                   "`, which no call of PyTorch returns");
  std::string const name = draft.names.in_model(parameter);
  if (subject.kind == "gradient") return name + ".grad";
  if (subject.kind.starts_with("exp_avg"))
    return fmt::format("optimizer.state[{}][\"{}\"]", name, subject.kind);
  return name;
}

std::vector<std::int64_t> const& shape_of(Draft const& draft, Subject const& subject) {
  auto const parameter = static_cast<std::size_t>(draft.names.find(subject.parameter));
  return draft.plan.scenario.params[parameter].shape;
}

/// With main weights the parameter itself is what a gather makes of them.
std::string cast_of(Draft const& draft, Subject const& subject) {
  Precision const& precision = draft.plan.worlds.back().setting.precision;
  if (!subject.kind.empty() || precision.main == MainType::none) return "";
  return fmt::format(".to({})", type_name(format_of(precision.param).value_or(NumberFormat::fp32)));
}

/// One element of the whole tensor. A collective.
void write_element(Draft& draft, Subject const& subject) {
  std::string const tensor = tensor_expression(draft, subject);
  bool const moment = subject.kind.starts_with("exp_avg");
  std::string const whole =
      fmt::format("{}.full_tensor()[{}]{}.item().hex()", tensor,
                  coordinates_text(draft.plan.violation.index, shape_of(draft, subject)),
                  cast_of(draft, subject));
  bool const may_be_missing =
      moment && std::strtod(draft.plan.violation.actual.c_str(), nullptr) == 0.0;
  if (!may_be_missing) return draft.code.line("actual = " + whole);
  std::string const name = draft.names.in_model(draft.names.find(subject.parameter));
  draft.code.line("actual = \"0x0.0p+0\"  # what a moment that was not made yet counts as");
  Block const there(draft.code,
                    fmt::format("if \"{}\" in optimizer.state[{}]:", subject.kind, name));
  draft.code.line("actual = " + whole);
}

void write_scaler(Draft& draft, std::string const& what) {
  if (what == "loss scale") return draft.code.line("actual = scaler.get_scale().hex()");
  if (what == "growth tracker")
    return draft.code.line("actual = float(scaler.state_dict()[\"_growth_tracker\"]).hex()");
  if (what == "norm") {
    draft.code.line("norm = norm.full_tensor() if hasattr(norm, \"full_tensor\") else norm");
    return draft.code.line("actual = norm.item().hex()");
  }
  if (what == "skip of the last step")
    return draft.code.line(
        fmt::format("actual = float(int(optimizer.state[{}].get(\"step\", 0)) == before).hex()",
                    draft.names.in_model(0)));
  throw NoScript("the violation is about the " + what + ", which no call of PyTorch returns");
}

/// Lines after which `actual` is what the violation names.
void write_value(Draft& draft) {
  ViolationReport const& violation = draft.plan.violation;
  Subject const subject = subject_of(violation);
  if (violation.tensor.empty()) {
    auto const setting = setting_of(violation);
    if (!setting)
      throw NoScript("the violation is not about what a call of PyTorch returns: " +
                     violation.message);
    return draft.code.line(fmt::format("actual = f\"{{optimizer.param_groups[{}]{}:.9g}}\"",
                                       group_of(draft.plan), setting->key));
  }
  if (draft.names.find(subject.parameter) < 0) return write_scaler(draft, violation.tensor);
  std::string const name = draft.names.in_model(draft.names.find(subject.parameter));
  if (subject.kind == "step")
    return draft.code.line(
        fmt::format("actual = str(int(optimizer.state[{}].get(\"step\", 0)))", name));
  if (violation.index < 0 && subject.kind == "gradient")
    return draft.code.line(
        fmt::format("actual = \"no gradient\" if {}.grad is None else \"a gradient\"", name));
  if (auto const stored = storage_of(violation.expected)) {
    auto const found = storage_of(violation.actual);
    std::string const tensor = tensor_expression(draft, subject);
    if (found && (*found)[1] != (*stored)[1])
      return draft.code.line(fmt::format("actual = str({}.dtype)", tensor));
    return draft.code.line(fmt::format("actual = f\"{{len({}.to_local())}} rows\"", tensor));
  }
  if (violation.index < 0) throw NoScript("the violation names no element: " + violation.message);
  write_element(draft, subject);
}

/// One element of what was read from a checkpoint.
void write_read_value(Draft& draft) {
  Subject const subject = subject_of(draft.plan.violation);
  if (subject.kind == "step") return draft.code.line("actual = str(int(tensor))");
  draft.code.line(
      fmt::format("actual = tensor[{}]{}.item().hex()",
                  coordinates_text(draft.plan.violation.index, shape_of(draft, subject)),
                  cast_of(draft, subject)));
}

}  // namespace

bool observes_error(Plan const& plan) {
  ViolationReport const& violation = plan.violation;
  if (violation.law == "error.clean" && violation.tensor.empty() && !setting_of(violation))
    return true;
  return violation.law.starts_with("checkpoint.") && violation.tensor.empty() &&
         !setting_of(violation);
}

bool wants_error(Plan const& plan) {
  return observes_error(plan) && plan.violation.expected.starts_with("a refusal");
}

bool observes_norm(Plan const& plan) {
  return plan.violation.tensor == "norm";
}

bool compares_ranks(Plan const& plan) {
  return is_rank_law(plan);
}

void write_before_step(Draft& draft) {
  if (draft.plan.violation.tensor != "skip of the last step") return;
  draft.code.line(
      fmt::format("before = int(optimizer.state[{}].get(\"step\", 0))", draft.names.in_model(0)));
}

void write_look(Draft& draft) {
  Plan const& plan = draft.plan;
  if (plan.reading) return write_read_value(draft);
  write_value(draft);
  if (plan.alone() || plan.worlds.back().in_main) return;
  if (compares_ranks(plan))
    return draft.code.line("open(f\"{directory}/rank-{rank}\", \"w\").write(actual)");
  std::string const write = "open(f\"{directory}/actual\", \"w\").write(actual)";
  if (plan.worlds.back().ranks() == 1) return draft.code.line(write);
  Block const one(draft.code, fmt::format("if rank == {}:", plan.violation.rank));
  draft.code.line(write);
}

std::string title(Plan const& plan) {
  ViolationReport const& violation = plan.violation;
  Scenario const& scenario = plan.scenario;
  std::string const optimizer =
      fmt::format("{}({})", scenario.optimizer.adam.mode == AdamMode::adamw ? "AdamW" : "Adam",
                  option(scenario, "implementation", "single") == "fused"     ? "fused=True"
                  : option(scenario, "implementation", "single") == "foreach" ? "foreach=True"
                                                                              : "foreach=False");
  std::string const place = place_of(violation);
  std::string what = place.empty() ? violation.message : place + " is not what it has to be";
  if (hangs(violation)) {
    what = "ranks wait for ever";
  } else if (wants_error(plan)) {
    what = "a damaged checkpoint is loaded without an error";
  } else if (observes_error(plan)) {
    what = "an operation fails that has to succeed";
  } else if (violation.law == "checkpoint.roundtrip") {
    what = fmt::format("a load does not return what was saved of {}", place);
  } else if (compares_ranks(plan)) {
    what = fmt::format("ranks disagree about {}", place);
  }
  return fmt::format("{} under fully_shard: {}.", optimizer, what);
}

}  // namespace adamant::scenarios::script
