#include "scenarios/peers/script/observation.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/model_part.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/peers/script/one_program.h"
#include "scenarios/peers/script/optimizer_part.h"
#include "scenarios/report/words/words.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;

/// A group as PyTorch numbers those that have parameters.
int number_of(Plan const& plan, GroupSettings const& settings) {
  auto const used = used_groups(plan.scenario);
  auto const found = std::find(used.begin(), used.end(), settings.group);
  return static_cast<int>(found == used.end() ? 0 : found - used.begin());
}

bool is_rank_law(Plan const& plan) {
  return plan.violation.law == Law::ranks_agree;
}

std::string coordinates_text(std::int64_t index, std::vector<std::int64_t> const& shape) {
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    at[d] = index % shape[d];
    index /= shape[d];
  }
  return fmt::format("{}", fmt::join(at, ", "));
}

int parameter_number(Draft const& draft) {
  return draft.names.find(parameter_of(draft.plan.violation));
}

/// The tensor itself, sharded.
std::string tensor_expression(Draft const& draft, Tensor const& tensor) {
  std::string const name = draft.names.in_model(parameter_number(draft));
  if (tensor.kind == TensorKind::gradient) return name + ".grad";
  if (tensor.kind == TensorKind::exp_avg || tensor.kind == TensorKind::exp_avg_sq)
    return fmt::format("optimizer.state[{}][\"{}\"]", name, name_of(tensor.kind));
  return name;
}

std::vector<std::int64_t> const& shape_of(Draft const& draft) {
  return draft.plan.scenario.params[static_cast<std::size_t>(parameter_number(draft))].shape;
}

/// With main weights the parameter itself is what a gather makes of them.
std::string cast_of(Draft const& draft, Tensor const& tensor) {
  Precision const& precision = draft.plan.worlds.back().setting.precision;
  if (tensor.kind != TensorKind::parameter || precision.main == MainType::none) return "";
  return fmt::format(".to({})", type_name(format_of(precision.param).value_or(NumberFormat::fp32)));
}

bool is_zero(Value const& value) {
  auto const* const number = std::get_if<Number>(&value);
  return number != nullptr && number->value() == 0.0F;
}

/// One element of the whole tensor. A collective.
void write_element(Draft& draft, Tensor const& tensor, std::string const& side) {
  std::string const expression = tensor_expression(draft, tensor);
  bool const moment = tensor.kind == TensorKind::exp_avg || tensor.kind == TensorKind::exp_avg_sq;
  std::string const whole = fmt::format(
      "{}.full_tensor()[{}]{}.item().hex()", expression,
      coordinates_text(draft.plan.violation.index, shape_of(draft)), cast_of(draft, tensor));
  Violation const& violation = draft.plan.violation;
  bool const may_be_missing =
      moment && (is_zero(violation.actual) || (draft.plan.two_runs && is_zero(violation.expected)));
  if (!may_be_missing) return draft.code.line(side + whole);
  draft.code.line(side + "\"0x0.0p+0\"  # what a moment that was not made yet counts as");
  Block const there(draft.code,
                    fmt::format("if \"{}\" in optimizer.state[{}]:", name_of(tensor.kind),
                                draft.names.in_model(parameter_number(draft))));
  draft.code.line(side + whole);
}

void write_scaler(Draft& draft, ScalingNumber what, std::string const& side) {
  switch (what) {
    case ScalingNumber::loss_scale:
      return draft.code.line(side + "scaler.get_scale().hex()");
    case ScalingNumber::growth_tracker:
      return draft.code.line(side + "float(scaler.state_dict()[\"_growth_tracker\"]).hex()");
    case ScalingNumber::norm:
      draft.code.line("norm = norm.full_tensor() if hasattr(norm, \"full_tensor\") else norm");
      return draft.code.line(side + "norm.item().hex()");
    case ScalingNumber::skipped:
      return draft.code.line(
          fmt::format("{}float(int(optimizer.state[{}].get(\"step\", 0)) == before).hex()", side,
                      draft.names.in_model(0)));
    default:
      throw NoScript("the violation is about the " + subject_in_words(draft.plan.violation) +
                     ", which no call of PyTorch returns");
  }
}

void write_setting(Draft& draft, GroupSettings const& settings, std::string const& side) {
  auto const difference = setting_difference(draft.plan.violation);
  if (!difference)
    throw NoScript("the violation is not about what a call of PyTorch returns: " +
                   message_of(draft.plan.violation));
  draft.code.line(fmt::format("{}f\"{{optimizer.param_groups[{}]{}:.9g}}\"", side,
                              number_of(draft.plan, settings), key_of(*difference)));
}

void write_step_count(Draft& draft, std::string const& side) {
  draft.code.line(fmt::format("{}str(int(optimizer.state[{}].get(\"step\", 0)))", side,
                              draft.names.in_model(parameter_number(draft))));
}

void write_tensor(Draft& draft, Tensor const& tensor, std::string const& side) {
  Violation const& violation = draft.plan.violation;
  std::string const expression = tensor_expression(draft, tensor);
  if (violation.breach == Breach::gradient_presence)
    return draft.code.line(fmt::format("{}\"{}\" if {} is None else \"{}\"", side, presence(false),
                                       expression, presence(true)));
  if (has_other_type(violation))
    return draft.code.line(fmt::format("{}str({}.dtype)", side, expression));
  if (std::holds_alternative<Elements>(violation.expected))
    return draft.code.line(fmt::format("{}f\"{{len({}.to_local())}} rows\"", side, expression));
  if (violation.index < 0)
    throw NoScript("the violation names no element: " + message_of(violation));
  write_element(draft, tensor, side);
}

/// The files of a save, by what is in them.
void write_digests(Draft& draft, World const& world, std::string const& side) {
  draft.imports.add("hashlib");
  draft.imports.add("pathlib");
  auto const [checkpoint, pattern] = files_like(draft.plan.violation);
  std::string_view const run = draft.plan.one_program ? "{side}-"
                               : world.of_second      ? of_second_run
                                                      : "";
  draft.code.line(fmt::format("paths = sorted(pathlib.Path(f\"{{directory}}/{}{}\").rglob({}))",
                              run, checkpoint, python::quoted(pattern)));
  draft.code.line(
      "digests = [hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths]");
  draft.code.line(side + "str(digests)");
}

/// Lines after which a side, such as "actual = ", is what the violation names.
void write_value(Draft& draft, World const& world, std::string const& side) {
  Violation const& violation = draft.plan.violation;
  if (auto const* settings = about<GroupSettings>(violation))
    return write_setting(draft, *settings, side);
  if (auto const* number = about<ScalingNumber>(violation))
    return write_scaler(draft, *number, side);
  if (about<StepCount>(violation) != nullptr) return write_step_count(draft, side);
  if (auto const* tensor = about<Tensor>(violation)) return write_tensor(draft, *tensor, side);
  if (violation.breach == Breach::other_file_in_run) return write_digests(draft, world, side);
  throw NoScript("the violation is not about what a call of PyTorch returns: " +
                 message_of(violation));
}

/// One element of what was read from a checkpoint.
void write_read_value(Draft& draft) {
  auto const* const tensor = about<Tensor>(draft.plan.violation);
  if (tensor == nullptr) return draft.code.line("actual = str(int(tensor))");
  draft.code.line(fmt::format("actual = tensor[{}]{}.item().hex()",
                              coordinates_text(draft.plan.violation.index, shape_of(draft)),
                              cast_of(draft, *tensor)));
}

bool is_about_scaling(Plan const& plan, ScalingNumber number) {
  auto const* const of = about<ScalingNumber>(plan.violation);
  return of != nullptr && *of == number;
}

}  // namespace

bool observes_error(Plan const& plan) {
  Violation const& violation = plan.violation;
  bool const of_value =
      about<Tensor>(violation) != nullptr || about<StepCount>(violation) != nullptr ||
      about<ScalingNumber>(violation) != nullptr || about<GroupSettings>(violation) != nullptr;
  return !of_value && (violation.law == Law::error_clean || is_about_checkpoints(violation.law));
}

bool wants_error(Plan const& plan) {
  Breach const breach = plan.violation.breach;
  return breach == Breach::damage_unnoticed || breach == Breach::damage_misjudged ||
         breach == Breach::foreign_loaded;
}

bool observes_norm(Plan const& plan) {
  return is_about_scaling(plan, ScalingNumber::norm);
}

bool compares_ranks(Plan const& plan) {
  return is_rank_law(plan);
}

void write_before_step(Draft& draft) {
  if (!is_about_scaling(draft.plan, ScalingNumber::skipped)) return;
  draft.code.line(
      fmt::format("before = int(optimizer.state[{}].get(\"step\", 0))", draft.names.in_model(0)));
}

void write_look(Draft& draft, World const& world) {
  Plan const& plan = draft.plan;
  if (plan.reading) return write_read_value(draft);
  if (plan.repeated)
    return draft.code.line("open(f\"{directory}/{side}-{rank}\", \"w\").write(\"\\n\".join(seen))");
  bool const in_script = plan.alone() || world.in_main;
  char const* const file = world.shows_first ? "expected" : "actual";
  write_value(draft, world, fmt::format("{} = ", in_script ? file : "actual"));
  if (in_script) return;
  if (compares_ranks(plan))
    return draft.code.line("open(f\"{directory}/rank-{rank}\", \"w\").write(actual)");
  if (plan.in_chain)
    return draft.code.line("open(f\"{directory}/{shows}-{rank}\", \"w\").write(actual)");
  std::string const write = fmt::format("open(f\"{{directory}}/{}\", \"w\").write(actual)",
                                        plan.one_program ? "{side}" : file);
  if (world.ranks() == 1) return draft.code.line(write);
  Block const one(draft.code, fmt::format("if rank == {}:", plan.violation.rank));
  draft.code.line(write);
}

std::string title(Plan const& plan) {
  Violation const& violation = plan.violation;
  Scenario const& scenario = plan.scenario;
  std::string const optimizer =
      fmt::format("{}({})", scenario.optimizer.adam.mode == AdamMode::adamw ? "AdamW" : "Adam",
                  option(scenario, "implementation", "single") == "fused"     ? "fused=True"
                  : option(scenario, "implementation", "single") == "foreach" ? "foreach=True"
                                                                              : "foreach=False");
  std::string const place = place_of(violation);
  std::string what = place.empty() ? message_of(violation) : place + " is not what it has to be";
  if (plan.repeated) {
    what = "a run differs when it is repeated";
  } else if (hangs(violation)) {
    what = "ranks wait for ever";
  } else if (wants_error(plan)) {
    what = "a damaged checkpoint is loaded without an error";
  } else if (observes_error(plan)) {
    what = "an operation fails that has to succeed";
  } else if (violation.law == Law::checkpoint_roundtrip) {
    what = fmt::format("a load does not return what was saved of {}", place);
  } else if (plan.two_runs) {
    what = fmt::format("{} differs between two runs", place);
  } else if (compares_ranks(plan)) {
    what = fmt::format("ranks disagree about {}", place);
  }
  return fmt::format("{} under fully_shard: {}.", optimizer, what);
}

}  // namespace adamant::scenarios::script
