// Parameters that replicas have stepped a part each are gathered, in place: every replica then has
// the whole of its shard again. It knows nothing of steps.
#pragma once

#include <span>

#include "real/comm/mesh_communicators.h"
#include "real/cuda/streams.h"
#include "real/shard/layout.h"
#include "real/shard/tensors.h"

namespace adamant::real {

class AcrossReplicas {
 public:
  /// All of it outlives this.
  struct Parts {
    Layout const& layout;
    Tensors& tensors;
    Streams const& streams;
    MeshCommunicators& communicators;
  };

  explicit AcrossReplicas(Parts const& parts) : parts_(parts) {}

  // Nothing where replicas step the same. All ranks call them alike. Scales are not gathered: where
  // there are any, all ranks have them.
  //
  // Stream: on `comm`, after `compute` so far, and `compute` goes on after it. Can be captured.
  // Errors: CudaError, NcclError.

  void gather() { gather(parts_.layout.buckets()); }
  void gather_bucket_of(int parameter) { gather({&parts_.layout.bucket_of(parameter), 1}); }

 private:
  void gather(std::span<Bucket const> buckets);
  void gather_one(Bucket const& bucket);

  Parts parts_;
  Event forked_;
  Event joined_;
};

}  // namespace adamant::real
