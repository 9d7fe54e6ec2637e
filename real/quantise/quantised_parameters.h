// Parameters that are kept as codes: their scales, and how both come from main weights after each
// step. It knows which elements are whose and where codes lie, and nothing of Adam.
//
// A quantisation, all of it on `compute` but the collective, on every rank, whatever it owns:
//
//   compute  clear - first read ----------- scales - second read
//                              \           /
//   comm                        max of ranks
//
// One collective joins the maxima of all parameters that need it: not of mxfp8 where a rank has
// whole rows.
//
// Invariants:
//   Q1 all ranks' maxima are joined before anybody makes a scale of them
//   Q2 addresses never change
//   Q3 codes and scales change together, in the order of `compute`
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "real/comm/communicator.h"
#include "real/cuda/streams.h"
#include "real/engine.h"
#include "real/offload/split.h"
#include "real/quantise/quantise_kernels.h"
#include "real/quantise/quantised_view.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"
#include "real/shard/tensors.h"
#include "real/step/step_table.h"

namespace adamant::real {

/// What a parameter has beside codes and mxfp8's scales, on the host: of the whole tensor.
struct QuantisedScales {
  std::vector<float> scales;              // as QuantisedView has them
  std::vector<std::uint8_t> scale_codes;  // of nvfp4, and of mxfp8 where they are not beside codes
  std::optional<DelayedScale> delayed;    // of fp8_delayed
};

class QuantisedParameters {
 public:
  /// All of it outlives this.
  struct Parts {
    Layout const& layout;
    Split const& split;
    Tensors const& tensors;
    Ledger& ledger;
    Streams const& streams;
    Communicator& communicator;
  };

  /// Scales are those of zeros. Nothing at all where no parameter is quantised. Waits.
  ///
  /// Errors: CudaError.
  explicit QuantisedParameters(Parts const& parts);

  bool exist() const { return !places_.empty(); }

  // REQUIRES: of a parameter, that it is quantised.

  /// What this rank has; without codes where that is nothing.
  QuantisedView view(int parameter) const;
  /// All of it, where codes of all ranks lie at `gathered`, and behind them what travels with them.
  QuantisedView whole(int parameter, std::byte const* gathered) const;
  /// Where this rank's weights come together of which the CPU steps some: those of the CPU are
  /// copied there by whoever has them. Null where the device steps all.
  float* weights_together(int parameter) const;

  // Ordered on `compute`. Errors: CudaError, NcclError.

  /// Quantises the main weights of all parameters whose row says `apply`. Can be captured.
  void renew(StepScalars const* table);
  /// Quantises one parameter for the first time; of fp8_delayed the history begins. All ranks call
  /// it alike. `main` is this rank's part, on the device or in pinned memory. Waits.
  void start(int parameter, ShardView const& main);
  /// Replaces what belongs to codes that somebody else has written. Waits.
  void write(int parameter, QuantisedScales const& scales);

 private:
  /// Where a parameter's parts of the buffer begin, in bytes; of the maxima, in numbers.
  struct Place {
    int parameter = 0;
    std::size_t first_maximum = 0;
    std::size_t scales = 0;
    std::size_t scale_codes = 0;
    std::size_t delayed = 0;
    std::size_t weights = 0;
  };
  struct Maxima {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void find_places();
  void write_first_scales();
  Place const& place_of(int parameter) const;
  /// Of scales that lie beside this rank's codes. Units: bytes from its first code.
  std::int64_t own_scale_codes_begin(int parameter) const;
  template <typename T>
  T* at(std::size_t begin) const {
    return reinterpret_cast<T*>(memory_.as<std::byte>() + begin);
  }
  std::int32_t* partial() const { return memory_.as<std::int32_t>(); }
  std::int32_t* joined() const { return at<std::int32_t>(joined_); }
  bool is_shared_with_cpu(int parameter) const;
  QuantiseTask task_of(Place const& place, float const* weights) const;
  float const* weights_of(int parameter, void const* on_device) const;
  void quantise(std::span<QuantiseTask const> tasks, Maxima maxima);
  void upload(void const* from, std::size_t bytes, std::byte* to) const;

  Parts parts_;
  std::vector<Place> places_;  // of the quantised ones alone, in registration order
  std::size_t maxima_ = 0;
  std::size_t joined_ = 0;  // where joined maxima begin, in bytes
  std::size_t bytes_ = 0;
  DeviceBuffer memory_;  // partial maxima, joined ones, and parameter by parameter what it keeps
  Event forked_;
  Event joined_ranks_;
};

}  // namespace adamant::real
