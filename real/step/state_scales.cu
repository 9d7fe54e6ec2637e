// Launch:  one block; a thread makes the scales of every 256th parameter. What has a scale travels
//          in the argument struct, a byte a parameter, so a launch takes at most
//          `states_per_launch` of them.
// Traffic: 16 bytes a scale and 4 of the table's row; what counts is the launch.
#include "real/step/state_scales.h"

#include <algorithm>

#include "real/comm/integer_kernels.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/cuda/launch.h"
#include "real/cuda/state_numbers.h"

namespace adamant::real {

namespace {

// Two bits a slot, and one of them all.
constexpr int fp16_bits = 1;
constexpr int fp8_bits = 2;
constexpr int slot_bits = 2;
constexpr int slot_mask = (1 << slot_bits) - 1;
constexpr int local_bit = 1 << (slots_per_parameter * slot_bits);

constexpr std::int32_t states_per_launch = 1024;

struct NextArguments {
  StepScalars const* table = nullptr;
  std::int32_t const* amaxes = nullptr;
  std::int32_t const* joined = nullptr;
  float* next = nullptr;
  std::int32_t count = 0;
  std::int32_t unused = 0;  // no padding: see launch()
  std::uint8_t states[states_per_launch] = {};
};
static_assert(sizeof(NextArguments) == 4 * sizeof(void*) + 8 + states_per_launch);

__global__ void next_kernel(__grid_constant__ NextArguments const a) {
  for (auto p = static_cast<std::int32_t>(threadIdx.x); p < a.count;
       p += static_cast<std::int32_t>(blockDim.x)) {
    int const states = a.states[p];
    if (a.table[p].apply == 0) continue;
    std::int32_t const* const amaxes = (states & local_bit) != 0 ? a.amaxes : a.joined;
    for (int slot = 0; slot < slots_per_parameter; ++slot) {
      int const bits = states >> (slot * slot_bits) & slot_mask;
      if (bits == 0) continue;
      int const at = p * slots_per_parameter + slot;
      NumberFormat const format = bits == fp8_bits ? NumberFormat::fp8 : NumberFormat::fp16;
      a.next[at] = scale_for(__int_as_float(amaxes[at]), format);
    }
  }
}

int bits_of_states(ParameterLayout const& layout) {
  int bits = 0;
  for (int slot = 0; slot < slots_per_parameter; ++slot) {
    auto const format = layout.format(state_kinds[slot]);
    if (!format || !has_scale(state_kinds[slot], *format)) continue;
    bits |= (*format == NumberFormat::fp8 ? fp8_bits : fp16_bits) << (slot * slot_bits);
  }
  return bits;
}

/// Is the scale this rank's own? So it is, too, where there is nothing that ranks could share.
bool is_local(ParameterLayout const& layout) {
  return layout.formats.state_scale == StateScale::local || layout.numel == 0;
}

}  // namespace

StateScales::StateScales(Parts const& parts, bool on_host) : parts_(parts) {
  bool any = false;
  for (int p = 0; p < parts.layout.parameter_count(); ++p) {
    int const bits = bits_of_states(parts.layout[p]);
    bool const local = is_local(parts.layout[p]);
    states_.push_back(static_cast<std::uint8_t>(local ? bits | local_bit : bits));
    any = any || bits != 0;
    joins_ranks_ = joins_ranks_ || (bits != 0 && !local);
  }
  if (!any) return;
  slots_ = std::int64_t{parts.layout.parameter_count()} * slots_per_parameter;
  auto const bytes = static_cast<std::size_t>(slots_) * sizeof(float);
  device_ = DeviceBuffer(parts.ledger, Purpose::state_scales, 4 * bytes, parts.streams.compute);
  std::vector<float> const ones(static_cast<std::size_t>(slots_), 1.0F);
  upload(ones, now());
  upload(ones, next());
  if (!on_host) return;
  host_.emplace(parts.ledger, Purpose::state_scales, 3 * bytes);
  std::copy(ones.begin(), ones.end(), host_now());
  std::copy(ones.begin(), ones.end(), host_next());
}

// Waits: the source is pageable and about to die.
void StateScales::upload(std::span<float const> from, float* to) {
  ADAMANT_TRY(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice,
                              parts_.streams.compute.get()));
  parts_.streams.compute.synchronize();
}

ScaleArrays StateScales::on_device() const {
  return exist() ? ScaleArrays{now(), next()} : ScaleArrays{};
}

ScaleArrays StateScales::on_host() const {
  return host_ ? ScaleArrays{host_now(), host_next()} : ScaleArrays{};
}

float const* StateScales::at(int parameter, TensorKind kind) const {
  auto const format = parts_.layout[parameter].format(kind);
  if (!format || !has_scale(kind, *format)) return nullptr;
  return now() + scale_slot(parameter, kind);
}

void StateScales::write(int parameter, TensorKind kind, float scale) {
  ADAMANT_REAL_ASSERT(at(parameter, kind) != nullptr);
  std::size_t const slot = scale_slot(parameter, kind);
  upload({&scale, 1}, now() + slot);
  upload({&scale, 1}, next() + slot);  // A1
  if (!host_) return;
  host_now()[slot] = scale;
  host_next()[slot] = scale;
}

std::int32_t* StateScales::clear_amaxes() {
  std::size_t const bytes = device_.bytes() / 4;
  zero_async(device_, 2 * bytes, 3 * bytes, parts_.streams.compute);
  return amaxes();
}

// A4: this step's host has waited for what the last one sent down, which came after its own amaxes.
std::span<std::int32_t> StateScales::clear_host_amaxes() {
  std::span const words(host_amaxes(), static_cast<std::size_t>(slots_));
  std::fill(words.begin(), words.end(), 0);
  return words;
}

void StateScales::join_host_amaxes() {
  Stream const& compute = parts_.streams.compute;
  ADAMANT_TRY(cudaMemcpyAsync(joined(), host_amaxes(), device_.bytes() / 4, cudaMemcpyHostToDevice,
                              compute.get()));
  void const* const both[] = {amaxes(), joined()};
  launch_integer_max(both, amaxes(), slots_, compute);
}

void StateScales::renew(StepScalars const* table) {
  Stream const& compute = parts_.streams.compute;
  if (joins_ranks_) {
    order(compute, forked_, parts_.streams.comm);
    parts_.communicator.all_reduce_max(amaxes(), joined(), slots_, parts_.streams.comm);  // A2
    order(parts_.streams.comm, joined_ranks_, compute);
  }
  make_next(table);
  if (!host_) return;
  ADAMANT_TRY(cudaMemcpyAsync(host_next(), next(), device_.bytes() / 4, cudaMemcpyDeviceToHost,
                              compute.get()));
  arrived_.record(compute);
}

void StateScales::make_next(StepScalars const* table) {
  auto const count = static_cast<std::int32_t>(states_.size());
  for (std::int32_t first = 0; first < count; first += states_per_launch) {
    std::int32_t const slot = first * slots_per_parameter;
    NextArguments arguments{.table = table + first,
                            .amaxes = amaxes() + slot,
                            .joined = joined() + slot,
                            .next = next() + slot,
                            .count = std::min(states_per_launch, count - first)};
    std::copy_n(states_.begin() + first, arguments.count, arguments.states);
    launch(next_kernel, dim3(1), parts_.streams.compute, arguments);
  }
}

void StateScales::take_next() {
  ADAMANT_TRY(cudaMemcpyAsync(now(), next(), device_.bytes() / 4, cudaMemcpyDeviceToDevice,
                              parts_.streams.compute.get()));
}

void StateScales::take_next_on_host() {
  std::copy_n(host_next(), slots_, host_now());
}

}  // namespace adamant::real
