#include "oracle/explain/told.h"

#include <utility>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"

namespace adamant::oracle {

Telling::Telling(Element element, Model const& after)
    : element_(std::move(element)), after_(after) {
  if (element_.what != Element::What::number) return;
  auto const& formats = after.spec(element_.parameter).formats;
  auto const format = stored_format(formats, element_.kind);
  bool const scaled = (element_.kind == TensorKind::parameter && formats.recipe) ||
                      !after.scales(element_.parameter, element_.kind).empty();
  bool const raw = element_.part == "raw" && format != NumberFormat::fp32;
  if (!format || !(element_.part.empty() || scaled || raw))
    throw NoSuchElement("the parameter has no such tensor");
}

ElementOf Telling::place() const {
  return {.parameter = element_.parameter, .kind = element_.kind, .index = element_.index};
}

std::optional<float> value_in(Model const& model, Element const& element) {
  if (element.what == Element::What::steps)
    return static_cast<float>(model.step_count(element.parameter));
  if (element.what == Element::What::norm) return model.scaling().norm;
  auto const tensor = model.tensor(element.parameter, element.kind);
  if (tensor.empty()) return std::nullopt;
  return tensor[static_cast<std::size_t>(element.index)];
}

// Of how it is stored, what was traced under the name that files have for it.
Told Telling::told(Trace const& trace, std::string text) const {
  Told result{.text = std::move(text), .roundings = trace.roundings()};
  if (element_.part.empty()) result.value = value_in(after_, element_);
  std::string const name = element_.part == "raw"       ? "code"
                           : element_.part == "history" ? "amax"
                                                        : element_.part;
  for (Rounding const& rounding : result.roundings)
    if (!name.empty() && rounding.result == name) result.value = static_cast<float>(rounding.value);
  return result;
}

Told Telling::other(std::string text) const {
  return told({}, std::move(text));
}

Told Telling::step(Model const& before) const {
  Trace trace;
  bool const stepped = trace_step(trace, before, place()).has_value();
  return told(trace, stepped ? "" : "the step passes over it");
}

Told Telling::step(Order order, std::optional<SeenStep> const& seen) const {
  if (!seen) return other("the step passes over it");
  Trace trace;
  auto const formats = step_formats(after_.spec(element_.parameter).formats);
  auto const interval = order == Order::any ? trace_any_order(trace, *seen, formats, element_.kind)
                                            : trace_torch(trace, *seen, element_.kind);
  Told result = told(trace);
  result.interval = interval;
  return result;
}

Told Telling::load(Model const* saved) const {
  if (saved == nullptr) return other("as its files have it");
  auto const value = value_in(after_, element_), kept = value_in(*saved, element_);
  if (value && kept && ulp_distance(*value, *kept) == 0) return other("as it was saved");
  bool const weight = element_.kind == TensorKind::parameter || element_.kind == TensorKind::main;
  bool const has_main = !saved->tensor(element_.parameter, TensorKind::main).empty();
  TensorKind const source = !weight    ? element_.kind
                            : has_main ? TensorKind::main
                                       : TensorKind::parameter;
  auto const all = saved->tensor(element_.parameter, source);
  Trace trace;
  Term const x = trace.given("saved", all[static_cast<std::size_t>(element_.index)]);
  trace_store(trace, after_, place(), {.x = x, .all = all});
  return told(trace, "stored anew from what was saved");
}

Told Telling::backward(Summed const& summed, bool rounds) const {
  Trace trace;
  Term const mean = trace_mean(trace, summed);
  auto const format = stored_format(after_.spec(element_.parameter).formats, element_.kind);
  if (element_.kind == TensorKind::cast_gradient) trace.rounded("cast", mean, *format);
  Told result = told(trace);
  if (!rounds) return result;
  result.interval = mean_of_any_order(summed);
  result.text = "in this order; any order of summation is right";
  return result;
}

Told Telling::clip() const {
  Scaling const scaling = after_.scaling();
  Trace trace;
  Term const norm =
      trace.noted("norm", "root of the exact sum of squares", {}, scaling.norm, "fp32");
  Term const below = trace.sum("norm + 1e-6", norm, trace.given("1e-6", 1e-6F));
  Term const quotient = trace.quotient(
      "max_norm / (norm + 1e-6)", trace.given("max_norm", scaling.max_norm.value_or(0)), below);
  trace.noted("coefficient", "at most 1", {quotient}, scaling.coefficient);
  return told(trace);
}

}  // namespace adamant::oracle
