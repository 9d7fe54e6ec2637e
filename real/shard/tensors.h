// This rank's shards: one flat buffer for each kind of tensor, and which parameters have a gradient
// at the moment. The gradients' buffer comes and goes; the others live as long as the engine,
// unless somebody takes them. It knows how many bytes an element has, and nothing else of numbers.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "real/cuda/streams.h"
#include "real/engine.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"
#include "real/shard/parameter_set.h"

namespace adamant::real {

/// What the memory of one kind is for.
Purpose purpose_of(TensorKind kind);

/// How much of each kind's flat buffer the device holds, from its beginning, indexed by TensorKind.
using DeviceBytes = std::array<std::size_t, tensor_kind_count>;

/// Which buffers live as long as the engine instead of coming and going with the gradients.
struct KeptBuffers {
  bool gradients = false;
  bool cast_gradients = false;
};

class Tensors {
 public:
  /// Allocates parameters, both moments and main weights and zeroes them, padding included, on
  /// `compute`.
  Tensors(Layout const& layout, DeviceBytes const& bytes, Ledger& ledger, Streams const& streams,
          KeptBuffers kept = {});

  /// Start of the flat buffer; null where it holds nothing.
  std::byte* flat(TensorKind kind) const;
  /// The first element that this rank has; null where the flat buffer holds nothing.
  std::byte* at(TensorKind kind, int parameter) const;
  /// The first element that this rank steps; likewise.
  std::byte* stepped_at(TensorKind kind, int parameter) const;
  /// As the door shows it.
  ShardView view(TensorKind kind, int parameter) const;

  /// Hands a kind's buffer over, and holds none until put() brings one.
  DeviceBuffer take(TensorKind kind) { return std::exchange(buffer(kind), DeviceBuffer()); }
  void put(TensorKind kind, DeviceBuffer memory) { buffer(kind) = std::move(memory); }

  /// Makes the gradients' buffer unless it is there; contents undefined. Ordered on `compute`.
  void ensure_gradients();
  /// Copies every gradient that the optimizer takes in another format than its own; the copies stay
  /// where they are until drop_gradients(). Due whenever gradients have changed. Ordered on
  /// `compute`.
  void cast_gradients();
  /// No parameter has a gradient any more; the memory, that of cast copies too, goes back in the
  /// order of `compute`, unless it is kept.
  void drop_gradients();
  /// Every parameter has a gradient of zeros, and cast copies of zeros; a buffer that exists keeps
  /// its address.
  void zero_gradients();

  bool has_gradient(int parameter) const { return have_gradients_.has(parameter); }
  void set_has_gradient(int parameter) { have_gradients_.add(parameter); }
  ParameterSet const& have_gradients() const { return have_gradients_; }
  void set_have_gradients(ParameterSet const& parameters) { have_gradients_ = parameters; }
  bool any_gradient() const { return !have_gradients_.empty(); }

 private:
  DeviceBuffer& buffer(TensorKind kind) { return buffers_[static_cast<std::size_t>(kind)]; }
  DeviceBuffer const& buffer(TensorKind kind) const {
    return buffers_[static_cast<std::size_t>(kind)];
  }

  Layout const& layout_;
  Ledger& ledger_;
  Streams const& streams_;
  KeptBuffers kept_;
  std::array<DeviceBuffer, tensor_kind_count> buffers_;  // indexed by TensorKind
  ParameterSet have_gradients_;
};

}  // namespace adamant::real
