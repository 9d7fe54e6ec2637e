// The collectives that the engine may issue, in NCCL's words: five calls, put together into
// groups. Ranks call the same ones in the same order. Who carries them it does not say.
#pragma once

#include <cstdint>
#include <utility>

#include "oracle/types.h"
#include "real/cuda/handles.h"

namespace adamant::real {

/// Counts are elements of `format`; sums are over all ranks and rounded to it in an order that is
/// not said. A call outside a Group is a group of one. Buffers of one call are disjoint, but a rank
/// may gather from its own place among what it receives.
///
/// REQUIRES: all calls of a group on one stream, every count positive.
///
/// Stream: inputs are read and outputs written in the order of `stream`; calls may wait for the
///         hosts of other ranks, never for the device.
/// Errors: NcclError, CudaError.
class Communicator {
 public:
  virtual ~Communicator() = default;

  /// This rank has failed and will not keep step with the others any more: lets go of what waits
  /// for them on the device. Afterwards the communicator may only be destroyed.
  virtual void abandon() noexcept = 0;

  /// receive[r count + i] = send of rank r [i]
  virtual void all_gather(void const* send, void* receive, std::int64_t count, NumberFormat format,
                          Stream const& stream) = 0;
  /// The same of bytes that no arithmetic knows.
  virtual void all_gather_bytes(void const* send, void* receive, std::int64_t bytes,
                                Stream const& stream) = 0;
  /// receive[i] = sum over ranks of send[rank count + i]
  virtual void reduce_scatter(void const* send, void* receive, std::int64_t count,
                              NumberFormat format, Stream const& stream) = 0;
  /// receive[i] = sum over ranks of send[i]
  virtual void all_reduce(void const* send, void* receive, std::int64_t count, NumberFormat format,
                          Stream const& stream) = 0;
  /// The same, on `root` only; elsewhere `receive` is not touched.
  virtual void reduce(void const* send, void* receive, std::int64_t count, NumberFormat format,
                      int root, Stream const& stream) = 0;
  /// receive[i] = send of `root` [i]; elsewhere `send` is not read.
  virtual void broadcast(void const* send, void* receive, std::int64_t count, NumberFormat format,
                         int root, Stream const& stream) = 0;

  /// receive[i] = sum over ranks of send[i], modulo 2^64: exact in any order.
  virtual void all_reduce_sum(std::int64_t const* send, std::int64_t* receive, std::int64_t count,
                              Stream const& stream) = 0;
  /// receive[i] = the largest send[i] of all ranks
  virtual void all_reduce_max(std::int32_t const* send, std::int32_t* receive, std::int64_t count,
                              Stream const& stream) = 0;

 private:
  friend class Group;
  virtual void group_start() = 0;
  virtual void group_end() = 0;
  /// In place of group_end(): the group had no calls.
  virtual void group_drop() noexcept = 0;
};

/// The calls from its making to end() are one group. One that goes without an end, as where an
/// exception leaves it, has no calls, and none are open then.
class Group {
 public:
  explicit Group(Communicator& communicator) : communicator_(&communicator) {
    communicator.group_start();
  }
  ~Group() {
    if (communicator_ != nullptr) communicator_->group_drop();
  }
  Group(Group const&) = delete;
  Group& operator=(Group const&) = delete;

  /// Issues the calls. Errors: as of the calls; the group is over all the same.
  void end() { std::exchange(communicator_, nullptr)->group_end(); }

 private:
  Communicator* communicator_;
};

}  // namespace adamant::real
