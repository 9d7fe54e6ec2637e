// The CPU's part of a hybrid step: gradients of its elements come down, the CPU steps them, weights
// go up, window by window. Their moments and main weights live in host memory alone. Where states
// have scales, the CPU looks at all windows first, so that device and CPU store by the same ones.
// It knows nothing of how steps are counted: its scalars are the kernel's.
//
// Invariants:
//   H1 a copy down starts after the last work that wrote the gradient
//   H2 the CPU touches a window after its copies down, which came after the last copies up
//   H3 a copy up starts after the CPU's step of its window, and after the last reader of what it
//      overwrites on the device
//   H4 whatever runs on `compute` after run() starts after the last copy up
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "real/cuda/streams.h"
#include "real/offload/cpu_adam.h"
#include "real/offload/host_array.h"
#include "real/offload/split.h"
#include "real/offload/streams.h"
#include "real/offload/workers.h"
#include "real/quantise/quantised_parameters.h"
#include "real/scale/scaling_state.h"
#include "real/shard/layout.h"
#include "real/shard/tensors.h"
#include "real/step/scale_slots.h"
#include "real/step/step_table.h"

namespace adamant::real {

/// What one step goes by, in host memory: the rows of its table, what gradients are multiplied by,
/// and the scales of states.
struct HostStep {
  std::span<StepScalars const> rows;
  CpuFactors factors;
  ScaleArrays scales;
};

class HybridStep {
 public:
  struct Parts {
    Layout const& layout;
    Split const& split;
    Tensors& tensors;
    QuantisedParameters const& quantised;
    Ledger& ledger;
    Streams const& streams;
    OffloadStreams const& copies;  // without overlap, everything runs on `compute`
    Workers& workers;
  };

  /// Allocates the host's arrays; moments are zeros. Errors: CudaError, std::bad_alloc.
  HybridStep(Parts const& parts, HybridConfig const& config, HybridGrain const& grain);

  /// The CPU's copy of one parameter, beside its main weights where there are any: `shard` is what
  /// this rank steps of it, already rounded to what the device holds. REQUIRES: nothing is in
  /// flight.
  void write_weights(int parameter, std::span<float const> shard);
  /// Sends the CPU's main weights of a quantised parameter up, as a step does. REQUIRES: nothing is
  /// in flight.
  ///
  /// Stream: on `compute`. Errors: CudaError.
  void send_main(int parameter);

  /// Sends gradients on their way down, before the device's part of the step is launched.
  ///
  /// Stream: ordered after `compute` so far. Errors: CudaError.
  void fetch_gradients();
  /// Raises the amaxes of scaled states, by slot, to those of what run() is going to store. Of
  /// `step`, the scales `next` are not read.
  ///
  /// Stream: waits for the copies down. Errors: CudaError.
  void find_amaxes(HostStep const& step, std::span<std::int32_t> amaxes);
  /// Steps every element of a parameter that has a gradient, and sends the weights up.
  ///
  /// Stream: waits for the copies down; `compute` goes on after the copies up. Errors: CudaError.
  void run(HostStep const& step);

  /// A state that is here, in whole or in part, as the door shows it.
  ShardView placed(ShardView view, TensorKind kind, int parameter) const;

 private:
  /// A run of elements of one parameter.
  struct Piece {
    int parameter = 0;
    std::int64_t first = 0;  // among those that the rank steps
    std::int64_t count = 0;
  };
  /// What is copied and stepped as one.
  struct Window {
    std::vector<Piece> pieces;
    std::vector<std::int64_t> ends;  // of the pieces, their elements numbered through
  };
  /// The host's arrays. `parameters` is what goes up: the weights themselves, or their rounding
  /// beside main weights; in fp32 where the device is going to quantise them.
  enum Array { gradients, parameters, main, exp_avg, exp_avg_sq, array_count };
  struct Room {
    std::array<std::size_t, array_count> begin = {};  // of the parameter's part, in bytes
  };

  void allocate(HybridConfig const& config);
  void cut_windows(std::int64_t numel_max);
  bool is_stepped(int parameter) const;
  bool is_stepped(Window const& window) const;
  Piece piece_of(int parameter) const;
  TensorKind kind_of(Array array, int parameter) const;
  std::optional<NumberFormat> format_of(Array array, int parameter) const;
  std::byte* at(Array array, Piece const& piece) const;
  std::byte* on_device(Array array, Piece const& piece) const;
  std::size_t bytes_of_piece(Array array, Piece const& piece) const;
  bool has_scale(TensorKind kind, int parameter) const;
  bool has_scales(Window const& window) const;
  CpuScale scale_of(TensorKind kind, int parameter) const;
  CpuAdamNumbers numbers(Piece const& piece) const;
  StepScalars const& row_of(Piece const& piece) const;
  int chunks_of(Window const& window) const;
  /// Cuts a window for the workers and calls `visit(chunk, i, part)`, many at once, for the part of
  /// piece i that is in a chunk, where it is stepped.
  template <typename Visit>
  void for_each_part(Window const& window, Visit visit) const;
  void step(Window const& window) const;
  void look_at(Window const& window, std::span<std::int32_t> amaxes) const;
  void raise(std::span<std::int32_t> amaxes, int parameter, CpuAmaxes const& found) const;
  void send_up(Window const& window);

  Parts parts_;
  HostStep step_;  // that is under way
  std::int64_t chunk_numel_;
  Stream const& down_;
  Stream const& up_;
  std::array<HostArray, array_count> arrays_;
  std::vector<Room> rooms_;  // by parameter
  std::deque<Window> windows_;
  std::deque<Event> fetched_;  // by window, on down
  Event ready_;                // on compute
  Event sent_;                 // on up
};

}  // namespace adamant::real
