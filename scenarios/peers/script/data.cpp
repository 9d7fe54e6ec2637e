#include "scenarios/peers/script/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "oracle/formats/formats.h"
#include "scenarios/peers/client/gradients.h"

namespace adamant::scenarios::script {

namespace {

using python::Literal;

bool is_ambiguous(std::vector<std::int64_t> const& shape) {
  auto const zero = std::find(shape.begin(), shape.end(), 0);
  return zero != shape.end() && zero + 1 != shape.end();
}

/// Row-major values as lists in lists.
Literal nested(std::span<std::int64_t const> shape, std::span<float const> values) {
  std::vector<Literal> items;
  if (shape.size() == 1) {
    for (float const value : values) items.push_back(python::atom(python::number(value)));
    return python::list(std::move(items));
  }
  auto const rows = static_cast<std::size_t>(shape.front());
  for (std::size_t row = 0; row < rows; ++row)
    items.push_back(nested(shape.subspan(1),
                           values.subspan(row * (values.size() / rows), values.size() / rows)));
  return python::list(std::move(items));
}

Literal tensor(ParameterSpec const& spec, std::span<float const> values) {
  if (is_ambiguous(spec.shape))
    return python::atom(fmt::format("torch.zeros({})", fmt::join(spec.shape, ", ")));
  return nested(spec.shape, values);
}

/// A dictionary, or a list with one of each unit where there are several.
Literal by_unit(Names const& names, std::vector<std::pair<int, Literal>> tensors) {
  std::vector<std::vector<Literal>> units(static_cast<std::size_t>(names.unit_count()));
  for (auto& [parameter, literal] : tensors)
    units[static_cast<std::size_t>(names.unit(parameter))].push_back(
        python::keyed(names.attribute(parameter), std::move(literal)));
  std::vector<Literal> dictionaries;
  for (auto& unit : units) dictionaries.push_back(python::dictionary(std::move(unit)));
  return dictionaries.size() == 1 ? std::move(dictionaries.front())
                                  : python::list(std::move(dictionaries));
}

/// A number that reaches the reduction as it is: autograd narrows it to the type of the parameter
/// that it goes through, and the reduction to its own.
std::vector<NumberFormat> gradient_formats(std::vector<ParameterSpec> const& specs) {
  std::vector<NumberFormat> formats;
  for (ParameterSpec const& spec : specs)
    formats.push_back(spec.formats.parameter != NumberFormat::fp32 ? spec.formats.parameter
                                                                   : spec.formats.gradient);
  return formats;
}

Literal one_backward(Plan const& plan, Names const& names, std::int64_t number) {
  BackwardOf const& backward = plan.backwards[static_cast<std::size_t>(number)];
  auto const specs = parameter_specs(plan.worlds[backward.world].setting);
  auto const formats = gradient_formats(specs);
  int const ranks = plan.worlds[backward.world].ranks();
  auto const fed =
      fed_gradients({.parameters = specs,
                     .formats = formats,
                     .kind = plan.scenario.gradients,
                     .seed = plan.scenario.seed.value_or(0),
                     .microbatches = static_cast<int>(plan.scenario.microbatch_count()),
                     .ranks = ranks},
                    number, backward.overflow);
  std::vector<Literal> by_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<std::pair<int, Literal>> tensors;
    for (int p = 0; p < names.count(); ++p) {
      auto const at = static_cast<std::size_t>(p);
      auto const& without = backward.without;
      if (std::find(without.begin(), without.end(), specs[at].name) != without.end()) continue;
      tensors.emplace_back(p, tensor(specs[at], fed[static_cast<std::size_t>(rank)][at]));
    }
    by_rank.push_back(by_unit(names, std::move(tensors)));
  }
  return plan.alone() ? std::move(by_rank.front()) : python::list(std::move(by_rank));
}

}  // namespace

Literal initial_values(Plan const& plan, Names const& names) {
  auto const specs = parameter_specs(plan.scenario);
  auto values = scenarios::initial_values(specs, plan.scenario.seed.value_or(0));
  std::vector<std::pair<int, Literal>> tensors;
  for (int p = 0; p < names.count(); ++p) {
    auto const at = static_cast<std::size_t>(p);
    oracle::round_to(specs[at].formats.parameter, values[at]);
    tensors.emplace_back(p, tensor(specs[at], values[at]));
  }
  return by_unit(names, std::move(tensors));
}

Literal gradients(Plan const& plan, Names const& names) {
  std::vector<Literal> items;
  for (std::int64_t number = 0; number < std::ssize(plan.backwards); ++number)
    items.push_back(one_backward(plan, names, number));
  return python::list(std::move(items));
}

bool has_ambiguous_shape(Scenario const& scenario) {
  return std::any_of(scenario.params.begin(), scenario.params.end(),
                     [](Param const& param) { return is_ambiguous(param.shape); });
}

}  // namespace adamant::scenarios::script
