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

ncclDataType_t type_of(NumberFormat format) {
  constexpr ncclDataType_t types[] = {ncclFloat32, ncclBfloat16, ncclFloat16};
  return types[static_cast<std::size_t>(format)];
}

}  // namespace

NcclCommunicator::NcclCommunicator(ncclUniqueId const& id, RankOfWorld where)
    : exceptions_at_birth_(std::uncaught_exceptions()) {
  ADAMANT_TRY(ncclCommInitRank(&comm_, where.world_size, id, where.rank));
}

NcclCommunicator::NcclCommunicator(NcclCommunicator const& all, int group, RankOfWorld where)
    : exceptions_at_birth_(std::uncaught_exceptions()) {
  ADAMANT_TRY(ncclCommSplit(all.comm_, group, where.rank, &comm_, nullptr));
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

// NCCL has no call for it, and an end would issue what there is, which waits for ranks that issue
// something else. But a call that is refused takes its whole group with it.
void NcclCommunicator::group_drop() noexcept {
  static_cast<void>(ncclAllGather(nullptr, nullptr, 1, ncclUint8, nullptr, nullptr));
  static_cast<void>(ncclGroupEnd());
}

void NcclCommunicator::all_gather(void const* send, void* receive, std::int64_t count,
                                  NumberFormat format, Stream const& stream) {
  ADAMANT_TRY(ncclAllGather(send, receive, checked(count), type_of(format), comm_, stream.get()));
}

void NcclCommunicator::all_gather_bytes(void const* send, void* receive, std::int64_t bytes,
                                        Stream const& stream) {
  ADAMANT_TRY(ncclAllGather(send, receive, checked(bytes), ncclUint8, comm_, stream.get()));
}

void NcclCommunicator::reduce_scatter(void const* send, void* receive, std::int64_t count,
                                      NumberFormat format, Stream const& stream) {
  ADAMANT_TRY(ncclReduceScatter(send, receive, checked(count), type_of(format), ncclSum, comm_,
                                stream.get()));
}

void NcclCommunicator::all_reduce(void const* send, void* receive, std::int64_t count,
                                  NumberFormat format, Stream const& stream) {
  ADAMANT_TRY(
      ncclAllReduce(send, receive, checked(count), type_of(format), ncclSum, comm_, stream.get()));
}

void NcclCommunicator::reduce(void const* send, void* receive, std::int64_t count,
                              NumberFormat format, int root, Stream const& stream) {
  ADAMANT_TRY(ncclReduce(send, receive, checked(count), type_of(format), ncclSum, root, comm_,
                         stream.get()));
}

void NcclCommunicator::broadcast(void const* send, void* receive, std::int64_t count,
                                 NumberFormat format, int root, Stream const& stream) {
  ADAMANT_TRY(
      ncclBroadcast(send, receive, checked(count), type_of(format), root, comm_, stream.get()));
}

void NcclCommunicator::all_reduce_sum(std::int64_t const* send, std::int64_t* receive,
                                      std::int64_t count, Stream const& stream) {
  ADAMANT_TRY(
      ncclAllReduce(send, receive, checked(count), ncclInt64, ncclSum, comm_, stream.get()));
}

void NcclCommunicator::all_reduce_max(std::int32_t const* send, std::int32_t* receive,
                                      std::int64_t count, Stream const& stream) {
  ADAMANT_TRY(
      ncclAllReduce(send, receive, checked(count), ncclInt32, ncclMax, comm_, stream.get()));
}

}  // namespace adamant::real
