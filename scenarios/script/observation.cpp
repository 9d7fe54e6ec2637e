#include "scenarios/script/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "scenarios/script/model_part.h"
#include "scenarios/script/no_script.h"
#include "scenarios/script/optimizer_part.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;

bool is_number(std::string const& text) {
  if (text.empty()) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return *end == '\0';
}

/// As Python's float.hex() writes it.
std::string python_hex(std::string const& text) {
  double const x = std::strtod(text.c_str(), nullptr);
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  if (x == 0.0) return std::signbit(x) ? "-0x0.0p+0" : "0x0.0p+0";
  return fmt::format("{:.13a}", x);
}

/// "[lo, hi] or inf or nan" in parts.
struct Interval {
  std::string low;
  std::string high;
  std::vector<std::string> others;
};

std::optional<Interval> interval_of(std::string const& text) {
  Interval interval;
  std::string rest = text;
  if (text.starts_with("[")) {
    auto const comma = text.find(", ");
    auto const end = text.find(']');
    if (comma == std::string::npos || end == std::string::npos) return std::nullopt;
    interval.low = text.substr(1, comma - 1);
    interval.high = text.substr(comma + 2, end - comma - 2);
    rest = end + 5 <= text.size() ? text.substr(end + 5) : "";
  } else if (text.find(" or ") == std::string::npos) {
    return std::nullopt;
  }
  while (!rest.empty()) {
    auto const end = std::min(rest.find(" or "), rest.size());
    interval.others.push_back(rest.substr(0, end));
    rest.erase(0, std::min(end + 4, rest.size()));
  }
  return interval;
}

/// "rows [0, 5) in fp32": what follows "in", and what stands before it.
std::optional<std::array<std::string, 2>> storage_of(std::string const& text) {
  auto const in = text.find(" in ");
  if (!text.starts_with("rows [") || in == std::string::npos) return std::nullopt;
  return std::array{text.substr(0, in), text.substr(in + 4)};
}

std::string type_of(std::string const& word) {
  return word == "bf16" ? "torch.bfloat16" : word == "fp16" ? "torch.float16" : "torch.float32";
}

/// "adamw lr 0.1 betas 0.9 0.99 eps 1e-08 weight_decay 0": one setting of a group.
struct Setting {
  std::string key;  // as Python finds it in the group
  std::string expected;
};

std::optional<Setting> setting_of(ViolationReport const& violation) {
  auto const words = [](std::string const& text) {
    std::istringstream in(text);
    std::vector<std::string> found;
    for (std::string word; in >> word;) found.push_back(word);
    return found;
  };
  auto const right = words(violation.expected);
  auto const wrong = words(violation.actual);
  constexpr std::array<std::pair<std::size_t, char const*>, 5> places = {
      {{2, "[\"lr\"]"},
       {4, "[\"betas\"][0]"},
       {5, "[\"betas\"][1]"},
       {7, "[\"eps\"]"},
       {9, "[\"weight_decay\"]"}}};
  if (right.size() < 10 || wrong.size() < 10 || right[1] != "lr") return std::nullopt;
  for (auto const& [place, key] : places)
    if (right[place] != wrong[place]) return Setting{.key = key, .expected = right[place]};
  return std::nullopt;
}

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

std::string expected_text(Plan const& plan) {
  ViolationReport const& violation = plan.violation;
  if (auto const stored = storage_of(violation.expected)) {
    auto const found = storage_of(violation.actual);
    if (found && (*found)[1] != (*stored)[1]) return type_of((*stored)[1]);
    long begin = 0;
    long end = 0;
    std::sscanf((*stored)[0].c_str(), "rows [%ld, %ld)", &begin, &end);
    return fmt::format("{} rows", end - begin);
  }
  if (violation.tensor.empty()) {
    auto const setting = setting_of(violation);
    return setting ? setting->expected : violation.expected;
  }
  bool const counts = violation.tensor.ends_with("/step");
  return is_number(violation.expected) && !counts ? python_hex(violation.expected)
                                                  : violation.expected;
}

bool is_hexadecimal(Plan const& plan) {
  return expected_text(plan).find("0x") != std::string::npos ||
         interval_of(plan.violation.expected);
}

std::string place_of(ViolationReport const& violation) {
  if (violation.tensor.empty()) return "";
  std::string place = violation.tensor;
  if (violation.index >= 0) place += fmt::format("[{}]", violation.index);
  return place;
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

Subject subject_of(ViolationReport const& violation) {
  std::string name = violation.tensor;
  constexpr std::string_view whole = " (whole)";  // gathered by a rank, as all values here are
  if (name.ends_with(whole)) name.erase(name.size() - whole.size());
  auto const slash = name.find('/');
  if (slash == std::string::npos) return {.parameter = name, .kind = ""};
  return {.parameter = name.substr(0, slash), .kind = name.substr(slash + 1)};
}

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

void write_expectation(Draft& draft) {
  if (observes_error(draft.plan) || compares_ranks(draft.plan) || hangs(draft.plan.violation))
    return;
  if (auto const interval = interval_of(draft.plan.violation.expected)) {
    if (!interval->low.empty())
      draft.code.line(fmt::format("LOW, HIGH = float.fromhex(\"{}\"), float.fromhex(\"{}\")",
                                  interval->low, interval->high));
    return;
  }
  draft.code.line(fmt::format("EXPECTED = {}", python::quoted(expected_text(draft.plan))));
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

void write_verdict(Draft& draft) {
  Plan const& plan = draft.plan;
  draft.imports.add("sys");
  if (hangs(plan.violation)) {
    draft.code.line("print(\"expected: each rank ends with exit status 0\")");
    draft.code.line(
        "print(f\"actual:   exit statuses {ended}; None did not end within {SECONDS} s\")");
    return draft.code.line(fmt::format("sys.exit(ended != [0] * {})", plan.worlds.back().ranks()));
  }
  if (wants_error(plan)) {
    draft.code.line("print(f\"expected: an error\\nactual:   {actual}\")");
    return draft.code.line("sys.exit(actual == \"no error\")");
  }
  if (observes_error(plan)) {
    draft.code.line("print(f\"expected: no error\\nactual:   {actual}\")");
    return draft.code.line("sys.exit(actual != \"no error\")");
  }
  std::string const place = place_of(plan.violation);
  std::string const shown =
      is_hexadecimal(plan) ? "{actual} = {float.fromhex(actual)}" : "{actual}";
  auto const interval = interval_of(plan.violation.expected);
  if (interval) {
    std::string allowed = interval->low.empty() ? "" : "[{LOW.hex()}, {HIGH.hex()}]";
    std::string test = interval->low.empty() ? "" : "LOW <= value <= HIGH";
    for (std::string const& other : interval->others) {
      allowed.append(allowed.empty() ? "" : " or ").append(other);
      test.append(test.empty() ? "" : " or ")
          .append(fmt::format("actual == {}", python::quoted(other)));
    }
    draft.code.line("value = float.fromhex(actual)");
    draft.code.line(fmt::format("print(f\"{}: expected {}\")", place, allowed));
    draft.code.line(fmt::format("print(f\"{}: actual   {}\")", place, shown));
    return draft.code.line(fmt::format("sys.exit(not ({}))", test));
  }
  if (compares_ranks(plan)) {
    draft.code.line(fmt::format("print(f\"{}: rank 0 has {{expected}}, rank {} has {{actual}}\")",
                                place, plan.violation.rank));
    return draft.code.line("sys.exit(actual != expected)");
  }
  draft.code.line(
      fmt::format("print(f\"{}: expected {}\")", place,
                  is_hexadecimal(plan) ? "{EXPECTED} = {float.fromhex(EXPECTED)}" : "{EXPECTED}"));
  draft.code.line(fmt::format("print(f\"{}: actual   {}\")", place, shown));
  draft.code.line("sys.exit(actual != EXPECTED)");
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
