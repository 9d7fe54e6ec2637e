#include "scenarios/peers/script/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "oracle/formats/formats.h"
#include "scenarios/peers/client/gradients.h"

namespace adamant::scenarios::script {

namespace {

using python::Literal;

// So many zeros are said in a word: those of ranks that have no microbatch.
constexpr std::size_t zeros_min = 8;
// So many numbers are written once.
constexpr std::size_t repeated_min = 8;

bool is_ambiguous(std::vector<std::int64_t> const& shape) {
  auto const zero = std::find(shape.begin(), shape.end(), 0);
  return zero != shape.end() && zero + 1 != shape.end();
}

/// Row-major values as lists in lists.
Literal nested(std::span<std::int64_t const> shape, std::span<float const> values) {
  std::vector<Literal> items;
  if (shape.size() == 1) {
    bool const zeros = std::ranges::all_of(
        values, [](float value) { return value == 0.0F && !std::signbit(value); });
    if (zeros && values.size() >= zeros_min)
      return python::atom(fmt::format("[0.0] * {}", values.size()));
    for (float const value : values) items.push_back(python::atom(python::number(value)));
    return python::list(std::move(items));
  }
  auto const rows = static_cast<std::size_t>(shape.front());
  for (std::size_t row = 0; row < rows; ++row)
    items.push_back(nested(shape.subspan(1),
                           values.subspan(row * (values.size() / rows), values.size() / rows)));
  return python::list(std::move(items));
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

Literal one_backward(Plan const& plan, Names const& names, BackwardOf const& backward) {
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
                    backward.number, backward.overflow);
  std::vector<Literal> by_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<std::pair<int, Literal>> tensors;
    for (int p = 0; p < names.count(); ++p) {
      auto const at = static_cast<std::size_t>(p);
      auto const& without = backward.without;
      if (std::find(without.begin(), without.end(), specs[at].name) != without.end()) continue;
      tensors.emplace_back(p, tensor_of(specs[at].shape, fed[static_cast<std::size_t>(rank)][at]));
    }
    by_rank.push_back(by_unit(names, std::move(tensors)));
  }
  return plan.alone() ? std::move(by_rank.front()) : python::list(std::move(by_rank));
}

/// What a rank is given more than once, as constants whose names are left in its place.
std::vector<std::pair<std::string, Literal>> take_out_repeated(std::vector<Literal>& backwards) {
  std::map<std::string, int> counts;
  for (Literal const& backward : backwards)
    for (Literal const& rank : backward.items)
      if (python::atom_count(rank) >= repeated_min) ++counts[python::flat(rank)];
  std::vector<std::pair<std::string, Literal>> constants;
  std::map<std::string, std::string> names;
  for (Literal& backward : backwards)
    for (Literal& rank : backward.items) {
      std::string const text = python::flat(rank);
      if (auto const found = counts.find(text); found == counts.end() || found->second < 2)
        continue;
      auto const [at, is_new] = names.try_emplace(text, fmt::format("G{}", names.size()));
      Literal name = python::atom(at->second);
      if (is_new)
        constants.emplace_back(at->second, std::exchange(rank, std::move(name)));
      else
        rank = std::move(name);
    }
  return constants;
}

}  // namespace

Literal initial_values(Plan const& plan, Names const& names) {
  auto const specs = parameter_specs(plan.scenario);
  auto values = scenarios::initial_values(specs, plan.scenario.seed.value_or(0));
  std::vector<std::pair<int, Literal>> tensors;
  for (int p = 0; p < names.count(); ++p) {
    auto const at = static_cast<std::size_t>(p);
    oracle::round_to(specs[at].formats.parameter, values[at]);
    tensors.emplace_back(p, tensor_of(specs[at].shape, values[at]));
  }
  return by_unit(names, std::move(tensors));
}

std::vector<std::pair<std::string, Literal>> gradients(Plan const& plan, Names const& names,
                                                       bool takes_out) {
  std::vector<Literal> items;
  for (BackwardOf const& backward : plan.backwards)
    items.push_back(one_backward(plan, names, backward));
  std::vector<std::pair<std::string, Literal>> constants;
  if (takes_out && !plan.alone()) constants = take_out_repeated(items);
  if (!items.empty()) constants.emplace_back("GRADIENTS", python::list(std::move(items)));
  return constants;
}

Literal tensor_of(std::vector<std::int64_t> const& shape, std::span<float const> values) {
  if (is_ambiguous(shape))
    return python::atom(fmt::format("torch.zeros({})", fmt::join(shape, ", ")));
  return nested(shape, values);
}

bool has_ambiguous_shape(Scenario const& scenario) {
  return std::any_of(scenario.params.begin(), scenario.params.end(),
                     [](Param const& param) { return is_ambiguous(param.shape); });
}

}  // namespace adamant::scenarios::script
