// Collectives and messages: matching the calls of the ranks, executing them once all their streams
// have come, and who learns of whom by that.
//
// Only data makes order: a rank learns from those whose data its result holds. What NCCL happens to
// order beyond that, such as the kernels of one communicator, is no promise and gives no edge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/nccl/communicator.h"

namespace adamant::sim {

/// One rank's call, checked.
struct Request {
  ncclComm* member = nullptr;
  Signature signature;
  char const* send = nullptr;
  char* receive = nullptr;
  UserOperator user = {};  // of a scaled sum
  Stream* stream = nullptr;
  std::uint32_t call = 0;           // its record
  GraphNode const* node = nullptr;  // whose launch issues it
};

/// One rank's side of a call.
struct Part {
  ncclComm* member = nullptr;  // null: has not issued it
  Stream* stream = nullptr;
  StreamOperation* operation = nullptr;
  std::uint32_t call = 0;  // its record
  char const* send = nullptr;
  char* receive = nullptr;
  Scalar scalar = {};
  void const* scalar_on_device = nullptr;
  bool scaled = false;
};

/// What the ranks of a communicator do together. Kept and used again.
struct Call {
  Communicator* communicator = nullptr;
  std::uint64_t number = 0;  // of a message: source * ranks + destination
  Signature signature;       // of the rank that came first
  std::vector<Part> parts;   // by rank; of a message: the source's and the destination's
  Meeting meeting;
};

/// A part of a buffer.
struct Piece {
  char* begin = nullptr;
  std::uint64_t bytes = 0;
};
/// What the call writes on that side: of what is only moved not what lies there in place already.
std::array<Piece, 2> written(Call const& call, std::size_t side);

/// Adds the record of a call that the calling host makes now.
std::uint32_t record_call(Runtime& runtime, Signature const& signature);
/// Enqueues the request on `stream`, or captures it. Errors: ends the world where ranks disagree.
void issue(Runtime& runtime, Request const& request, Stream& stream);

/// Where what the rank has issued waits to be executed.
std::vector<Awaited> streams_of_calls(ncclComm const& member);
/// The rank gives up all that it has issued: its streams go on without.
void abandon_calls(Runtime& runtime, ncclComm& member);

}  // namespace adamant::sim
