#include "real/comm/nccl_communicator.h"

#include <cstddef>
#include <exception>
#include <utility>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

std::size_t checked(std::int64_t count) {
  ADAMANT_REAL_ASSERT(count > 0);
  return static_cast<std::size_t>(count);
}

}  // namespace

NcclCommunicator::NcclCommunicator(ncclUniqueId const& id, RankOfWorld where)
    : exceptions_at_birth_(std::uncaught_exceptions()) {
  ADAMANT_TRY(ncclCommInitRank(&comm_, where.world_size, id, where.rank));
}

// Destroying is collective within a node. A rank that unwinds cannot count on the others to come.
NcclCommunicator::~NcclCommunicator() {
  if (std::uncaught_exceptions() > exceptions_at_birth_) abandon();
  if (comm_ != nullptr) static_cast<void>(ncclCommDestroy(comm_));
}

void NcclCommunicator::abandon() noexcept {
  if (comm_ != nullptr) static_cast<void>(ncclCommAbort(std::exchange(comm_, nullptr)));
}

void NcclCommunicator::group_start() {
  ADAMANT_TRY(ncclGroupStart());
}

void NcclCommunicator::group_end() {
  ADAMANT_TRY(ncclGroupEnd());
}

void NcclCommunicator::all_gather(float const* send, float* receive, std::int64_t count,
                                  Stream const& stream) {
  ADAMANT_TRY(ncclAllGather(send, receive, checked(count), ncclFloat32, comm_, stream.get()));
}

void NcclCommunicator::reduce_scatter(float const* send, float* receive, std::int64_t count,
                                      Stream const& stream) {
  ADAMANT_TRY(
      ncclReduceScatter(send, receive, checked(count), ncclFloat32, ncclSum, comm_, stream.get()));
}

void NcclCommunicator::all_reduce(float const* send, float* receive, std::int64_t count,
                                  Stream const& stream) {
  ADAMANT_TRY(
      ncclAllReduce(send, receive, checked(count), ncclFloat32, ncclSum, comm_, stream.get()));
}

void NcclCommunicator::reduce(float const* send, float* receive, std::int64_t count, int root,
                              Stream const& stream) {
  ADAMANT_TRY(
      ncclReduce(send, receive, checked(count), ncclFloat32, ncclSum, root, comm_, stream.get()));
}

void NcclCommunicator::broadcast(float const* send, float* receive, std::int64_t count, int root,
                                 Stream const& stream) {
  ADAMANT_TRY(ncclBroadcast(send, receive, checked(count), ncclFloat32, root, comm_, stream.get()));
}

}  // namespace adamant::real
