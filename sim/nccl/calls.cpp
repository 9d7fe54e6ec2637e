// The collectives and messages as a program calls them: arguments are judged at once, an error has
// no effect but on the group in which it is, and nothing is enqueued for a count of 0.

#include <nccl.h>

#include <array>

#include "sim/cuda/region.h"
#include "sim/nccl/state.h"

using namespace adamant::sim;

namespace {

struct Arguments {
  Function function = Function::all_reduce;
  void const* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  int op = -1;
  int root = 0;
  ncclComm* comm = nullptr;
  cudaStream_t stream = nullptr;
};

bool is_one_of(Sides sides, Arguments const& call) {
  return includes(sides, side_of(call.function, call.comm->rank), call.root);
}

bool uses_send(Arguments const& call) {
  return is_one_of(row_of(call.function).senders, call);
}

bool uses_receive(Arguments const& call) {
  return is_one_of(row_of(call.function).receivers, call);
}

// What NCCL can reach: memory of a device or pinned memory. What is freed is judged when it runs.
bool reachable(Runtime& runtime, void const* address) {
  return region_offset(address) < region_bytes || runtime.memory.find_present(address) != nullptr;
}

ncclResult_t check_values(Arguments const& call) {
  if (call.type < 0 || call.type >= ncclNumTypes) {
    return refuse(ncclInvalidArgument, "no such data type");
  }
  if (call.root < 0 || call.root >= call.comm->communicator->ranks()) {
    return refuse(ncclInvalidArgument, "no such root or peer");
  }
  return ncclSuccess;
}

ncclResult_t check_operator(Arguments const& call, Request& request) {
  static constexpr std::array<Reduction, ncclNumOps> reductions = {
      Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum,
      Reduction::average};
  if (call.op < 0) return ncclSuccess;
  if (!is_reducible(call.type)) {
    return refuse(ncclInvalidArgument, "8-bit floats are moved, not reduced, here");
  }
  if (call.op < ncclNumOps) {
    request.signature.reduction = reductions[static_cast<std::size_t>(call.op)];
    return ncclSuccess;
  }
  auto const index = static_cast<std::size_t>(call.op - ncclNumOps);
  std::vector<UserOperator> const& operators = call.comm->operators;
  if (index >= operators.size() || operators[index].destroyed ||
      operators[index].type != call.type) {
    return refuse(ncclInvalidArgument, "no such operator of this communicator and type");
  }
  request.signature.reduction = Reduction::scaled_sum;
  request.user = operators[index];
  return ncclSuccess;
}

// In place, the smaller buffer is the rank's own slot of the larger one. No other overlap is
// allowed.
ncclResult_t check_overlap(Arguments const& call) {
  if (!uses_send(call) || !uses_receive(call)) return ncclSuccess;
  auto const ranks = static_cast<std::uint64_t>(call.comm->communicator->ranks());
  std::uint64_t const bytes = call.count * element_bytes(call.type);
  std::uint64_t const own_slot = static_cast<std::uint64_t>(call.comm->rank) * bytes;
  FunctionRow const& row = row_of(call.function);
  bool const gathers = row.received == Holds::count_for_each_rank;
  bool const scatters = row.sent == Holds::count_for_each_rank;
  auto const send = reinterpret_cast<std::uintptr_t>(call.send);
  auto const receive = reinterpret_cast<std::uintptr_t>(call.receive);
  bool const apart = send + bytes * (scatters ? ranks : 1) <= receive ||
                     receive + bytes * (gathers ? ranks : 1) <= send;
  bool const in_place = send + (scatters ? own_slot : 0) == receive + (gathers ? own_slot : 0);
  if (apart || in_place) return ncclSuccess;
  return refuse(ncclInvalidArgument, "the buffers overlap, but not as an operation in place");
}

ncclResult_t check_buffers(Runtime& runtime, Arguments const& call) {
  if (uses_send(call) && (call.send == nullptr || !reachable(runtime, call.send))) {
    return refuse(ncclInvalidArgument, "sendbuff is not memory of a device");
  }
  if (uses_receive(call) && (call.receive == nullptr || !reachable(runtime, call.receive))) {
    return refuse(ncclInvalidArgument, "recvbuff is not memory of a device");
  }
  return check_overlap(call);
}

// The default stream is that of the communicator's device, whichever is current.
Stream* stream_of(Runtime& runtime, Arguments const& call) {
  bool const legacy = call.stream == nullptr || call.stream == cudaStreamLegacy;
  Stream* const stream = legacy ? &legacy_stream(runtime, call.comm->device)
                                : adamant::sim::stream_of(runtime, call.stream);
  return stream != nullptr && stream->device == call.comm->device ? stream : nullptr;
}

ncclResult_t serve(Runtime& runtime, Arguments const& call) {
  ncclResult_t error = usable(runtime, call.comm);
  if (error != ncclSuccess) return error;
  if (call.comm->finalized) return refuse(ncclInvalidUsage, "the communicator is finalized");
  Request request{.member = call.comm,
                  .signature = {.function = call.function,
                                .type = call.type,
                                .root = call.root,
                                .count = call.count},
                  .send = static_cast<char const*>(call.send),
                  .receive = static_cast<char*>(call.receive)};
  error = check_values(call);
  if (error == ncclSuccess) error = check_operator(call, request);
  if (error != ncclSuccess || call.count == 0) return error;
  error = check_buffers(runtime, call);
  if (error != ncclSuccess) return error;
  request.stream = stream_of(runtime, call);
  if (request.stream == nullptr) {
    return refuse(ncclUnhandledCudaError, "the stream is destroyed or of another device");
  }
  if (judge_work(runtime, *request.stream, name_of(call.function)) != cudaSuccess) {
    return refuse(ncclUnhandledCudaError, "a capture forbids it");
  }
  return submit(runtime, request);
}

ncclResult_t collective(Arguments const& call) {
  return nccl_call([&](Runtime& runtime) { return note_result(runtime, serve(runtime, call)); });
}

}  // namespace

extern "C" {

ncclResult_t ncclAllReduce(void const* sendbuff, void* recvbuff, std::size_t count,
                           ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return collective({.function = Function::all_reduce,
                     .send = sendbuff,
                     .receive = recvbuff,
                     .count = count,
                     .type = datatype,
                     .op = op,
                     .comm = comm,
                     .stream = stream});
}

ncclResult_t ncclReduceScatter(void const* sendbuff, void* recvbuff, std::size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  return collective({.function = Function::reduce_scatter,
                     .send = sendbuff,
                     .receive = recvbuff,
                     .count = recvcount,
                     .type = datatype,
                     .op = op,
                     .comm = comm,
                     .stream = stream});
}

ncclResult_t ncclAllGather(void const* sendbuff, void* recvbuff, std::size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return collective({.function = Function::all_gather,
                     .send = sendbuff,
                     .receive = recvbuff,
                     .count = sendcount,
                     .type = datatype,
                     .comm = comm,
                     .stream = stream});
}

ncclResult_t ncclReduce(void const* sendbuff, void* recvbuff, std::size_t count,
                        ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return collective({.function = Function::reduce,
                     .send = sendbuff,
                     .receive = recvbuff,
                     .count = count,
                     .type = datatype,
                     .op = op,
                     .root = root,
                     .comm = comm,
                     .stream = stream});
}

ncclResult_t ncclBroadcast(void const* sendbuff, void* recvbuff, std::size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return collective({.function = Function::broadcast,
                     .send = sendbuff,
                     .receive = recvbuff,
                     .count = count,
                     .type = datatype,
                     .root = root,
                     .comm = comm,
                     .stream = stream});
}

ncclResult_t ncclBcast(void* buff, std::size_t count, ncclDataType_t datatype, int root,
                       ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

ncclResult_t ncclSend(void const* sendbuff, std::size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return collective({.function = Function::send,
                     .send = sendbuff,
                     .count = count,
                     .type = datatype,
                     .root = peer,
                     .comm = comm,
                     .stream = stream});
}

ncclResult_t ncclRecv(void* recvbuff, std::size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return collective({.function = Function::receive,
                     .receive = recvbuff,
                     .count = count,
                     .type = datatype,
                     .root = peer,
                     .comm = comm,
                     .stream = stream});
}

}  // extern "C"
