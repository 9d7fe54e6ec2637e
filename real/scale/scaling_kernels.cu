// Launch:  looking and squaring take a fixed number of blocks, each of which goes through its share
//          of every part, up to `parts_max` parts a launch; later launches add to what the first
//          one wrote. The rest are single blocks over a few hundred words.
//          Threads of the first two take 8 elements at once by 16-byte accesses where parts lie so.
// Traffic: one read of the gradients: 4 bytes an element of fp32, 0.93 ms for 10^9 at 4.3 TB/s.
//          A thread sums squares in registers (square_sum.h) and adds to the block's words in
//          shared memory, less than once in 1,000 elements of one distribution, however large they
//          are; see real/gpu/KERNELS.md.
#include "real/scale/scaling_kernels.h"

#include <algorithm>
#include <type_traits>

#include "real/cuda/assert.h"
#include "real/cuda/lanes.h"
#include "real/cuda/launch.h"
#include "real/scale/square_sum.h"

namespace adamant::real {

namespace {

constexpr std::size_t parts_max = 32;

struct PartList {
  GradientPart parts[parts_max] = {};
  std::int32_t count = 0;
  std::int32_t first = 1;  // of several launches
};

struct LookArguments {
  PartList list;
  std::int32_t* flags = nullptr;
};

__global__ void look_kernel(__grid_constant__ LookArguments const a) {
  __shared__ int found;
  if (threadIdx.x == 0) found = a.list.first != 0 ? 0 : a.flags[blockIdx.x];
  __syncthreads();
  bool mine = false;
  for (int p = 0; p < a.list.count; ++p) {
    GradientPart const part = a.list.parts[p];
    for_each_lanes_in_grid(part.numel, [&](Lanes const& at) {
      float x[lanes] = {};
      load(part.values, at, x);
      for (int k = 0; k < lanes; ++k) mine = mine || !is_finite(x[k]);
    });
  }
  if (mine) found = 1;
  __syncthreads();
  if (threadIdx.x == 0) a.flags[blockIdx.x] = found;
}

/// A block's words while its threads add to them. Shared memory adds 32 bits by one instruction,
/// 64 only by trying until nobody else did; so the upper halves count what the lower ones overflow.
struct SharedWords {
  std::uint32_t* lower = nullptr;  // [word_count], as the upper ones behind them
  __device__ void add(int word, std::uint32_t part) const {
    std::uint32_t const before = atomicAdd(lower + word, part);
    if (before + part < part) atomicAdd(lower + word_count + word, 1U);
  }
};

struct SquaresArguments {
  PartList list;
  SquaresTarget target;
};
static_assert(sizeof(GradientPart) == sizeof(Numbers) + 8);
static_assert(std::has_unique_object_representations_v<SquaresTarget>);  // no padding

__global__ void squares_kernel(__grid_constant__ SquaresArguments const a) {
  __shared__ std::uint32_t halves[2 * word_count];
  __shared__ Word words[word_count];
  Word* const kept = a.target.words + static_cast<std::int64_t>(blockIdx.x) * word_count;
  for (unsigned w = threadIdx.x; w < word_count; w += blockDim.x) {
    words[w] = a.list.first != 0 ? 0 : kept[w];
    halves[w] = 0;
    halves[word_count + w] = 0;
  }
  __syncthreads();

  float const inverse = *a.target.inverse;
  SquareSum sum(SharedWords{halves});
  for (int p = 0; p < a.list.count; ++p) {
    GradientPart const part = a.list.parts[p];
    for_each_lanes_in_grid(part.numel, [&](Lanes const& at) {
      float x[lanes] = {};
      load(part.values, at, x);
      for (int k = 0; k < lanes; ++k) x[k] = x[k] * inverse;
      sum.add(x, at.count);
    });
  }
  sum.flush();
  __syncthreads();
  for (unsigned w = threadIdx.x; w < word_count; w += blockDim.x)
    words[w] += Word{halves[word_count + w]} << limb_bits | halves[w];
  __syncthreads();
  if (threadIdx.x == 0) carry(words);
  __syncthreads();
  for (unsigned w = threadIdx.x; w < word_count; w += blockDim.x) kept[w] = words[w];
}

struct NewScaleArguments {
  ScalingState* state = nullptr;
  float scale = 1;
  float inverse = 1;
  std::int32_t dynamic = 0;
  std::int32_t growth_tracker = 0;
  std::int32_t hysteresis = 0;
  std::int32_t unused = 0;  // no padding: see launch()
};

__global__ void new_scale_kernel(__grid_constant__ NewScaleArguments const a) {
  if (threadIdx.x != 0) return;
  ScalingState& state = *a.state;
  state.scale = a.scale;
  state.inverse = a.inverse;
  state.applied = a.inverse;
  state.overflowed = 0;
  state.dynamic = a.dynamic;
  state.growth_tracker = a.growth_tracker;
  state.hysteresis = a.hysteresis;
}

constexpr float first_dynamic_scale = 0x1p32F;
constexpr float least_dynamic_scale = 1.0F;
constexpr std::int32_t growth_interval = 1000;
constexpr std::int32_t full_hysteresis = 2;

__device__ void move_scale(ScalingState& state) {
  if (state.dynamic == 0) return;
  float scale = state.scale;
  if (state.overflowed != 0) {
    state.growth_tracker = 0;
    --state.hysteresis;
    if (state.hysteresis <= 0) scale = scale * 0.5F;
    if (scale < least_dynamic_scale) scale = least_dynamic_scale;
  } else if (++state.growth_tracker == growth_interval) {
    state.growth_tracker = 0;
    state.hysteresis = full_hysteresis;
    if (is_finite(scale * 2.0F)) scale = scale * 2.0F;
  }
  state.scale = scale;
  state.inverse = static_cast<float>(1.0 / static_cast<double>(scale));
}

struct DecideArguments {
  std::int32_t const* flags = nullptr;
  ScalingState* state = nullptr;
  std::int32_t count = 0;
  std::int32_t unused = 0;  // no padding: see launch()
};

__global__ void decide_kernel(__grid_constant__ DecideArguments const a) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < a.count; i += static_cast<int>(blockDim.x))
    if (a.flags[i] != 0) found = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  a.state->overflowed = found;
  a.state->applied = a.state->inverse;
  move_scale(*a.state);
}

struct NormArguments {
  NormSource source;
  ScalingState* state = nullptr;
};
static_assert(std::has_unique_object_representations_v<NormArguments>);  // no padding

constexpr float norm_epsilon = 1e-6F;

/// Sums the words of all blocks, one a thread, into shared memory.
__device__ void sum_blocks(Word const* all, int blocks, Word* words) {
  for (int w = static_cast<int>(threadIdx.x); w < word_count; w += static_cast<int>(blockDim.x)) {
    Word sum = 0;
    for (int b = 0; b < blocks; ++b) sum += all[b * word_count + w];
    words[w] = sum;
  }
}

__device__ float norm_of(Word* words) {
  if (words[nan_word] != 0) return __builtin_nanf("");
  if (words[infinity_word] != 0) return __builtin_inff();
  carry(words);
  return static_cast<float>(std::sqrt(rounded(words)));
}

__global__ void norm_kernel(__grid_constant__ NormArguments const a) {
  __shared__ Word words[word_count];
  sum_blocks(a.source.words, a.source.blocks, words);
  __syncthreads();
  if (threadIdx.x == 0) {
    float const norm = norm_of(words);
    float const coefficient = a.state->max_norm / (norm + norm_epsilon);
    a.state->norm = norm;
    a.state->coefficient = coefficient > 1.0F ? 1.0F : coefficient;
  }
}

struct NormSetting {
  ScalingState* state = nullptr;
  float max_norm = 1;
  std::int32_t unused = 0;  // no padding: see launch()
};

__global__ void max_norm_kernel(__grid_constant__ NormSetting const a) {
  if (threadIdx.x == 0) a.state->max_norm = a.max_norm;
}

__global__ void forget_norm_kernel(__grid_constant__ NormSetting const a) {
  if (threadIdx.x != 0) return;
  a.state->norm = 0;
  a.state->coefficient = 1;
}

/// Calls `launch_some` with lists that together hold all parts; once, too, where there is none.
template <typename Launch>
void in_lists(std::span<GradientPart const> parts, Launch launch_some) {
  std::size_t begin = 0;
  do {
    PartList list;
    auto const some = parts.subspan(begin, std::min(parts_max, parts.size() - begin));
    std::copy(some.begin(), some.end(), list.parts);
    list.count = static_cast<int>(some.size());
    list.first = begin == 0 ? 1 : 0;
    launch_some(list);
    begin += parts_max;
  } while (begin < parts.size());
}

dim3 grid_of(int blocks) {
  ADAMANT_REAL_ASSERT(blocks > 0);
  return dim3(static_cast<unsigned>(blocks));
}

}  // namespace

void launch_look(std::span<GradientPart const> parts, int blocks, std::int32_t* flags,
                 Stream const& stream) {
  in_lists(parts, [&](PartList const& list) {
    launch(look_kernel, grid_of(blocks), stream, LookArguments{.list = list, .flags = flags});
  });
}

void launch_squares(std::span<GradientPart const> parts, SquaresTarget const& target,
                    Stream const& stream) {
  in_lists(parts, [&](PartList const& list) {
    launch(squares_kernel, grid_of(target.blocks), stream,
           SquaresArguments{.list = list, .target = target});
  });
}

void launch_new_scale(LossScale const& setting, ScalingState* state, Stream const& stream) {
  SavedScaling fresh = {.loss_scale = setting};
  if (setting.kind == LossScale::Kind::fixed) fresh.scale = setting.value;
  if (setting.kind == LossScale::Kind::dynamic) {
    fresh.scale = first_dynamic_scale;
    fresh.hysteresis = full_hysteresis;
  }
  launch_resumed_scale(fresh, state, stream);
}

void launch_resumed_scale(SavedScaling const& saved, ScalingState* state, Stream const& stream) {
  launch(new_scale_kernel, dim3(1), stream,
         NewScaleArguments{.state = state,
                           .scale = saved.scale,
                           .inverse = static_cast<float>(1.0 / static_cast<double>(saved.scale)),
                           .dynamic = saved.loss_scale.kind == LossScale::Kind::dynamic ? 1 : 0,
                           .growth_tracker = saved.growth_tracker,
                           .hysteresis = saved.hysteresis});
}

void launch_decide(std::span<std::int32_t const> flags, ScalingState* state, Stream const& stream) {
  launch(
      decide_kernel, dim3(1), stream,
      DecideArguments{
          .flags = flags.data(), .state = state, .count = static_cast<std::int32_t>(flags.size())});
}

void launch_norm(NormSource const& source, ScalingState* state, Stream const& stream) {
  launch(norm_kernel, dim3(1), stream, NormArguments{.source = source, .state = state});
}

void launch_max_norm(float max_norm, ScalingState* state, Stream const& stream) {
  launch(max_norm_kernel, dim3(1), stream, NormSetting{.state = state, .max_norm = max_norm});
}

void launch_forget_norm(ScalingState* state, Stream const& stream) {
  launch(forget_norm_kernel, dim3(1), stream, NormSetting{.state = state});
}

}  // namespace adamant::real
