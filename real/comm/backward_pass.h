// One backward over all units, last unit first: gather a unit's parameters, let the model fill
// whole gradients, sum them over the ranks, keep the mean of what this rank steps. It knows nothing
// of Adam.
//
//   sums of a unit:  | of this shard, over its replica's ranks |  then over replicas, where there
//                                                                are several: | of this rank |
//
// Invariants:
//   B1 whole parameters of at most two units are allocated, whole gradients and sums of one; the
//      host waits for a slot's last owner before it allocates in it again, or, where they are kept,
//      the streams wait before they use it again
//   B2 every rank issues the same groups in the same order, whatever it owns or computes
//   B3 what no wanted gradient fills of a bucket is zero before it is summed, and so is everything
//      on a rank that has no microbatch
//   B4 when run() returns, `compute` comes after all of its work, and no unit's buffer is held
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "real/comm/mesh_communicators.h"
#include "real/cuda/streams.h"
#include "real/engine.h"
#include "real/quantise/quantised_parameters.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"
#include "real/shard/tensors.h"

namespace adamant::real {

/// What a backward pass works with; all of it outlives the pass.
struct BackwardParts {
  Layout const& layout;
  Tensors& tensors;
  Ledger& ledger;
  Streams const& streams;
  MeshCommunicators& communicators;
  QuantisedParameters const& quantised;
  GradientSource& source;
  RankOfWorld where;
  int microbatches = 1;  // of the global batch
  /// Unit buffers live as long as the pass, so that a graph can hold them; then streams wait for a
  /// buffer's last owner where the host does otherwise.
  bool keeps_buffers = false;
};

class BackwardPass {
 public:
  explicit BackwardPass(BackwardParts const& parts);

  /// Shapes: `wanted` has one entry a parameter; where it is false the parameter gets no gradient.
  ///         `loss_scale` is one number on the device, or null.
  /// Errors: CudaError, NcclError, and whatever the source throws.
  void run(std::vector<bool> const& wanted, float const* loss_scale, int sequence = 0);

 private:
  /// A unit's gathered parameters.
  struct Slot {
    DeviceBuffer values;
    Event gathered;     // on comm: the values are here
    Event computed;     // on compute: nobody reads them any more, whole gradients are complete
    bool used = false;  // in this run
  };

  /// Where a bucket's whole gradients lie, and where their sums go: over the shards, then over the
  /// replicas where there are several.
  struct Sum {
    Bucket const* bucket = nullptr;
    std::byte const* whole = nullptr;
    std::byte* within = nullptr;
    std::byte* across = nullptr;
  };

  void keep_buffers();
  void gather(int unit);
  void compute(int unit);
  void reduce(int unit);

  void gather_one(Bucket const& bucket, std::byte* whole);
  void make_whole_gradients(int unit);
  void zero_between(Bucket const& bucket, std::size_t begin);
  void add_whole_tensors(Bucket const& bucket, std::byte* value, std::byte* gradient,
                         std::vector<WholeTensor>& tensors) const;
  std::vector<WholeTensor> whole_tensors(int unit) const;
  void call_source(int unit);
  std::vector<Sum> sums_of(int unit) const;
  void sum_within(std::span<Sum const> sums);
  void sum_across(std::span<Sum const> sums);
  void keep_mean(std::span<Sum const> sums);

  bool is_wanted(int parameter) const { return wanted_[static_cast<std::size_t>(parameter)]; }
  bool is_reduced(Bucket const& bucket) const;
  bool has_replicas() const { return parts_.layout.where().mesh.replicas > 1; }
  std::size_t bytes_within(Bucket const& bucket) const;
  std::size_t bytes_across(Bucket const& bucket) const;
  /// Of those buckets of a unit of which a gradient is reduced, or of all.
  template <typename BytesOf>
  std::size_t bytes_of_reduced(int unit, BytesOf bytes_of) const;
  Slot& slot(int unit) { return slots_[static_cast<std::size_t>(unit) % slots_.size()]; }
  Slot const& slot(int unit) const {
    return slots_[static_cast<std::size_t>(unit) % slots_.size()];
  }

  BackwardParts parts_;
  std::vector<bool> wanted_;
  float const* loss_scale_ = nullptr;
  int sequence_ = 0;
  bool reduces_ = false;    // the unit at hand
  bool sums_used_ = false;  // in this run

  std::array<Slot, 2> slots_;
  DeviceBuffer whole_gradients_;
  DeviceBuffer sums_;
  Event sums_released_;  // on comm: whole gradients and sums of the last unit are given back
  Event forked_;
  Event joined_;
};

}  // namespace adamant::real
