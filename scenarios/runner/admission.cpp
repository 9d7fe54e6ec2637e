#include "scenarios/runner/admission.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "oracle/formats/formats.h"
#include "oracle/reduce/sum_bound.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/language/further_runs.h"
#include "scenarios/language/operations.h"
#include "scenarios/language/registry.h"
#include "scenarios/seam/layout_padding.h"

namespace adamant::scenarios {

namespace {

constexpr double element_bytes = 4;
constexpr double bytes_per_rank = 64 << 10;  // a fiber's stack and an engine without tensors
// A long program may be meant to be interrupted; it is let in for its first backwards.
constexpr double backwards_counted_max = 3;

double numel_of(ParameterSpec const& spec) {
  double numel = 1;
  for (std::int64_t const extent : spec.shape) numel *= static_cast<double>(extent);
  return numel;
}

/// Elements of the largest unit.
double largest_unit(std::span<ParameterSpec const> specs) {
  std::vector<double> numels(specs.size() + 1);
  for (ParameterSpec const& spec : specs)
    numels[static_cast<std::size_t>(spec.unit)] += numel_of(spec);
  return *std::max_element(numels.begin(), numels.end());
}

double backward_count(Scenario const& scenario) {
  double count = 0;
  for (Operation const& operation : scenario.program) {
    if (auto const* train = std::get_if<Train>(&operation.action))
      count += static_cast<double>(train->count);
    if (is<Backward>(operation.action)) ++count;
  }
  return count;
}

double bytes_per_pair(Scenario const& scenario, PairBytes const& bytes) {
  double const backwards = std::min(backward_count(scenario), backwards_counted_max);
  return bytes.always + bytes.per_gather * static_cast<double>(scenario.params.size()) * backwards;
}

/// Elements of buffers that are no parameter's, in the worst of the settings that the program comes
/// to.
double most_padding(Scenario const& scenario) {
  std::int64_t padding = 0;
  for_each_setting(scenario, [&](Scenario const& setting) {
    if (setting.layout != Layout::fsdp2)
      padding = std::max(padding, padding_of(setting).value_or(0));
  });
  return static_cast<double>(padding);
}

/// Copies of parameters, main weights and moments that checkpoints keep: of each name one with the
/// oracle, one on the simulated disk, and there another one while it is replaced.
double checkpoint_copies(Scenario const& scenario) {
  std::set<std::string> names;
  for (Save const* save : all<Save>(scenario.program)) names.insert(save->checkpoint);
  for (Load const* load : all<Load>(scenario.program)) names.insert(load->from);
  return 3 * static_cast<double>(names.size());
}

/// What is kept of each element of a parameter.
struct Kept {
  double numbers = 0;
  double bytes = 0;
};

Kept kept_of_each(ParameterSpec const& spec) {
  Kept kept;
  for (TensorKind const kind : all_tensor_kinds) {
    auto const format = oracle::stored_format(spec.formats, kind);
    if (!format) continue;
    ++kept.numbers;
    kept.bytes += static_cast<double>(bytes_of(*format));
  }
  return kept;
}

double bytes_of_this_machine() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GiB", bytes / (1 << 30));
  return text;
}

// Sums of exact gradients stay exact for so many, bounds of others hold for so many.
std::int64_t microbatches_max(GradientClass gradients, NumberFormat format) {
  return gradients == GradientClass::exact ? exact_microbatches_max(format)
                                           : oracle::inputs_max(format);
}

/// The types in which microbatches of one parameter are summed, on a rank and between ranks.
std::vector<NumberFormat> summed_in(Precision const& precision, GradientType local) {
  std::vector<NumberFormat> formats{format_of(precision.grad)};
  auto const param = format_of(precision.param);
  if (local != GradientType::grad && param) formats.push_back(*param);
  return formats;
}

std::optional<Refusal> refuse_microbatches(Scenario const& scenario, GradientType local) {
  Registry const registry = registry_of(scenario.params);
  for (auto const& names : registry.names) {
    Param const& param = scenario.params[static_cast<std::size_t>(names.front())];
    for (NumberFormat const format : summed_in(scenario.precision_of(param), local)) {
      std::int64_t const max =
          microbatches_max(scenario.gradients, format) / std::ssize(names);  // each gives one
      if (scenario.microbatch_count() <= max) continue;
      std::string const about = " microbatches are asked for; supported for gradients in ";
      return unsupported("microbatches",
                         std::to_string(scenario.microbatch_count()) + about +
                             std::string(name_of(format)) + ": up to " + std::to_string(max),
                         scenario.lines["microbatches"]);
    }
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_size(Scenario const& scenario, Capabilities const& capabilities) {
  double const needed = bytes_needed(scenario, capabilities);
  double const there = bytes_of_this_machine();
  if (needed <= there) return std::nullopt;
  return Refusal{.id = "out_of_memory",
                 .message = "the run needs about " + gibibytes(needed) + ", this machine has " +
                            gibibytes(there),
                 .line = scenario.lines["world"].value};
}

}  // namespace

// The oracle keeps every kind of tensor in fp32, and the mean of one parameter; ranks keep the same
// kinds in their own formats as shards, padded by up to a row each, twice where some are offloaded,
// and while a unit is computed the whole of it three times over (its parameters, its gradients, the
// parameters of the next). Padding of buffers is nobody's, and lies beside all of it.
double bytes_needed(Scenario const& scenario, Capabilities const& capabilities) {
  double const ranks = static_cast<double>(most_ranks(scenario));
  bool const offloads = scenario.offload.index() != 0;
  double oracle = 0;
  double shards = 0;
  double largest = 0;
  double most_kept = 0;  // bytes of an element
  auto const specs = parameter_specs(scenario);
  for (std::size_t p = 0; p < specs.size(); ++p) {
    double const numel = numel_of(specs[p]);
    largest = std::max(largest, numel);
    double const rows = specs[p].shape.empty() ? 1.0 : static_cast<double>(specs[p].shape.front());
    double const padding = rows > 0 ? ranks * (numel / rows) : 0;
    Kept const kept = kept_of_each(specs[p]);
    oracle += element_bytes * kept.numbers * numel;
    shards += kept.bytes * (numel + padding) * (offloads ? 2 : 1);
    most_kept = std::max(most_kept, kept.bytes * (offloads ? 2 : 1));
  }
  double const padding = most_padding(scenario);
  shards += most_kept * padding;
  double const units = element_bytes * 3 * ranks * (largest_unit(specs) + padding);
  double const pairs = ranks * ranks * bytes_per_pair(scenario, capabilities.pair_bytes);
  double const checkpoints = oracle * checkpoint_copies(scenario);
  return oracle + element_bytes * largest + shards + units + pairs + checkpoints +
         ranks * bytes_per_rank;
}

std::optional<Refusal> refuse_to_plan(Scenario const& scenario, Capabilities const& capabilities) {
  if (auto refusal = refuse(scenario, capabilities)) return refusal;
  if (auto refusal = refuse_microbatches(scenario, capabilities.gradient_type)) return refusal;
  if (most_ranks(scenario) > std::numeric_limits<int>::max())
    return refuse_size(scenario, capabilities);  // not even ranks can be counted
  for (FurtherRun const& run : further_runs(scenario))
    if (auto refusal = refuse_to_plan(run.scenario, in_further_runs(capabilities))) return refusal;
  return std::nullopt;
}

std::optional<Refusal> refuse_to_run(Scenario const& scenario, Capabilities const& capabilities) {
  if (auto refusal = refuse_to_plan(scenario, capabilities)) return refusal;
  if (auto refusal = refuse_size(scenario, capabilities)) return refusal;
  for (FurtherRun const& run : further_runs(scenario))
    if (auto refusal = refuse_size(run.scenario, capabilities)) return refusal;
  return std::nullopt;
}

}  // namespace adamant::scenarios
