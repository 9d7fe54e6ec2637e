// Launch:  one block; a thread does every 256th group and parameter. A table row is 48 bytes, so
//          that 1,000 parameters cost less than the launch itself.
#include "real/step/device_table.h"

#include <algorithm>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/cuda/launch.h"
#include "real/step/bias_power.h"

namespace adamant::real {

namespace {

struct AdvanceArguments {
  DeviceGroup const* groups = nullptr;
  std::int64_t* group_steps = nullptr;
  ParameterState* parameters = nullptr;
  StepScalars* table = nullptr;
  std::int32_t const* skip = nullptr;
  std::int32_t group_count = 0;
  std::int32_t parameter_count = 0;
  std::int32_t per_parameter = 0;
  std::int32_t unused = 0;  // no padding: see launch()
};
static_assert(sizeof(AdvanceArguments) == 5 * sizeof(void*) + 16);

__device__ StepScalars row_of(DeviceGroup const& group, std::int64_t step, bool apply) {
  StepScalars row;
  row.learning_rate = group.learning_rate;
  row.beta1 = group.beta1;
  row.one_minus_beta1 = 1.0F - group.beta1;
  row.beta2 = group.beta2;
  row.one_minus_beta2 = 1.0F - group.beta2;
  row.epsilon = group.epsilon;
  row.weight_decay = group.weight_decay;
  row.decoupled = group.decoupled;
  row.apply = apply ? 1 : 0;
  if (group.bias_correction != 0) {
    row.correction1 = bias_correction_on_device(group.beta1, step);
    row.correction2 = bias_correction_on_device(group.beta2, step);
  }
  return row;
}

__device__ bool skips(AdvanceArguments const& a) {
  return a.skip != nullptr && *a.skip != 0;
}

__device__ void count_step(AdvanceArguments const& a) {
  if (skips(a)) return;
  for (auto g = static_cast<std::int32_t>(threadIdx.x); g < a.group_count;
       g += static_cast<std::int32_t>(blockDim.x))
    ++a.group_steps[g];
  for (auto p = static_cast<std::int32_t>(threadIdx.x); p < a.parameter_count;
       p += static_cast<std::int32_t>(blockDim.x))
    if (a.parameters[p].has_gradient != 0) ++a.parameters[p].step;
  __syncthreads();
}

__device__ void fill_table(AdvanceArguments const& a) {
  for (auto p = static_cast<std::int32_t>(threadIdx.x); p < a.parameter_count;
       p += static_cast<std::int32_t>(blockDim.x)) {
    ParameterState const state = a.parameters[p];
    std::int64_t const step = a.per_parameter != 0 ? state.step : a.group_steps[state.group];
    bool const apply = state.has_gradient != 0 && !skips(a);
    DeviceGroup const group = a.groups[state.group];
    StepScalars const row = row_of(group, step, apply);
    a.table[p] = row;
  }
}

__global__ void advance_kernel(__grid_constant__ AdvanceArguments const arguments) {
  count_step(arguments);
  fill_table(arguments);
}

constexpr std::int32_t flags_per_launch = 1024;
constexpr std::int32_t flags_per_word = 32;

struct FlagArguments {
  ParameterState* parameters = nullptr;
  std::int32_t count = 0;
  std::uint32_t flags[flags_per_launch / flags_per_word] = {};
  std::uint32_t unused = 0;  // no padding: see launch()
};
static_assert(sizeof(FlagArguments) == sizeof(void*) + 8 + flags_per_launch / 8);

__global__ void flag_kernel(__grid_constant__ FlagArguments const a) {
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < a.count;
       i += static_cast<std::int32_t>(blockDim.x))
    a.parameters[i].has_gradient =
        static_cast<std::int32_t>(a.flags[i / flags_per_word] >> (i % flags_per_word)) & 1;
}

DeviceGroup device_group(AdamConfig const& config) {
  return {.learning_rate = config.learning_rate,
          .beta1 = config.beta1,
          .beta2 = config.beta2,
          .epsilon = config.epsilon,
          .weight_decay = config.weight_decay,
          .decoupled = config.mode == AdamMode::adamw ? 1 : 0,
          .bias_correction = config.bias_correction ? 1 : 0};
}

std::size_t bytes_for(std::size_t groups, std::size_t parameters) {
  return groups * (sizeof(DeviceGroup) + sizeof(std::int64_t)) +
         parameters * sizeof(ParameterState);
}

}  // namespace

DeviceTable::DeviceTable(std::span<ParameterSpec const> parameters,
                         std::span<AdamConfig const> groups, StepCounter counter, Ledger& ledger,
                         Streams const& streams)
    : streams_(streams),
      per_parameter_(counter == StepCounter::parameter),
      group_count_(groups.size()),
      memory_(ledger, Purpose::step_table, bytes_for(groups.size(), parameters.size()),
              streams.compute),
      staging_(ledger, Purpose::step_table, groups.size() * sizeof(DeviceGroup)) {
  for (ParameterSpec const& spec : parameters) first_parameters_.push_back({.group = spec.group});
  auto* const rows = staging_.as<DeviceGroup>();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    DeviceGroup const row = device_group(groups[g]);
    rows[g] = row;
  }
  ADAMANT_TRY(cudaMemcpyAsync(this->groups(), rows, groups.size() * sizeof(DeviceGroup),
                              cudaMemcpyHostToDevice, streams.compute.get()));
  upload(std::vector<std::int64_t>(groups.size(), 0), first_parameters_);
}

// Both lists are pageable and about to die, so the host waits.
void DeviceTable::upload(std::vector<std::int64_t> const& group_steps,
                         std::vector<ParameterState> const& parameters) {
  ADAMANT_TRY(cudaMemcpyAsync(this->group_steps(), group_steps.data(),
                              group_steps.size() * sizeof(std::int64_t), cudaMemcpyHostToDevice,
                              streams_.compute.get()));
  ADAMANT_TRY(cudaMemcpyAsync(this->parameters(), parameters.data(),
                              parameters.size() * sizeof(ParameterState), cudaMemcpyHostToDevice,
                              streams_.compute.get()));
  streams_.compute.synchronize();
}

void DeviceTable::set_group(int group, AdamConfig const& config) {
  auto const g = static_cast<std::size_t>(group);
  uploaded_.synchronize();
  DeviceGroup const row = device_group(config);
  staging_.as<DeviceGroup>()[g] = row;
  ADAMANT_TRY(cudaMemcpyAsync(groups() + g, staging_.as<DeviceGroup>() + g, sizeof(DeviceGroup),
                              cudaMemcpyHostToDevice, streams_.compute.get()));
  uploaded_.record(streams_.compute);
}

void DeviceTable::set_gradients(ParameterSet const& have_gradients) {
  auto const count = static_cast<std::int32_t>(have_gradients.count());
  ADAMANT_REAL_ASSERT(have_gradients.count() == first_parameters_.size());
  for (std::int32_t first = 0; first < count; first += flags_per_launch) {
    FlagArguments arguments{.parameters = parameters() + first,
                            .count = std::min(flags_per_launch, count - first)};
    for (std::int32_t i = 0; i < arguments.count; ++i)
      if (have_gradients.has(first + i))
        arguments.flags[i / flags_per_word] |= 1U << (i % flags_per_word);
    launch(flag_kernel, dim3(1), streams_.compute, arguments);
  }
}

void DeviceTable::set_counters(std::vector<std::int64_t> const& group_steps,
                               std::vector<std::int64_t> const& parameter_steps) {
  ADAMANT_REAL_ASSERT(group_steps.size() == group_count_);
  ADAMANT_REAL_ASSERT(parameter_steps.size() == first_parameters_.size());
  std::vector<ParameterState> parameters = first_parameters_;
  for (std::size_t p = 0; p < parameters.size(); ++p) parameters[p].step = parameter_steps[p];
  upload(group_steps, parameters);
}

DeviceTable::Counters DeviceTable::read_counters() const {
  Counters counters{.of_groups = std::vector<std::int64_t>(group_count_), .of_parameters = {}};
  std::vector<ParameterState> parameters(first_parameters_.size());
  ADAMANT_TRY(cudaMemcpyAsync(counters.of_groups.data(), group_steps(),
                              group_count_ * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                              streams_.compute.get()));
  ADAMANT_TRY(cudaMemcpyAsync(parameters.data(), this->parameters(),
                              parameters.size() * sizeof(ParameterState), cudaMemcpyDeviceToHost,
                              streams_.compute.get()));
  streams_.compute.synchronize();
  for (ParameterState const& parameter : parameters)
    counters.of_parameters.push_back(parameter.step);
  return counters;
}

std::int64_t const* DeviceTable::counter_of(int parameter) const {
  if (per_parameter_) return &parameters()[parameter].step;
  return group_steps() + first_parameters_[static_cast<std::size_t>(parameter)].group;
}

void DeviceTable::advance(StepScalars* table, std::int32_t const* skip) {
  AdvanceArguments const arguments{
      .groups = groups(),
      .group_steps = group_steps(),
      .parameters = parameters(),
      .table = table,
      .skip = skip,
      .group_count = static_cast<std::int32_t>(group_count_),
      .parameter_count = static_cast<std::int32_t>(first_parameters_.size()),
      .per_parameter = per_parameter_ ? 1 : 0};
  launch(advance_kernel, dim3(1), streams_.compute, arguments);
}

}  // namespace adamant::real
