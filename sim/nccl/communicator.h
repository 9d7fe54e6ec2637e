// Communicators as the ranks' handles show them: who belongs to one, and where its ranks meet.
//
// What a collective computes is in collective.h, what a group delays in group.h.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/cuda/runtime.h"
#include "sim/nccl/arithmetic.h"
#include "sim/nccl/functions.h"

namespace adamant::sim {

struct Call;
struct Communicator;
struct Graph;

/// Where hosts wait for each other: nobody leaves before all have come.
struct HostBarrier {
  char const* function = "";
  Communicator const* communicator = nullptr;  // whose ranks come
  std::vector<std::uint32_t> calls;            // by rank, their records; 0: has not come
  int missing = 0;
  bool done = false;
  ncclResult_t result = ncclSuccess;
  VectorClock known;  // what all of them knew when they came
  std::uint64_t time_ns = 0;
  std::vector<Host*> waiting;
};

/// What all ranks of a collective, or both sides of a message, must agree on.
struct Signature {
  Function function = Function::all_reduce;
  ncclDataType_t type = ncclFloat32;
  Reduction reduction = Reduction::none;
  int root = 0;  // of messages: the peer
  std::size_t count = 0;
  bool replayed = false;  // issued by the launch of a graph
  bool operator==(Signature const&) const = default;

  bool sends(std::size_t side) const { return includes(row_of(function).senders, side, root); }
  bool receives(std::size_t side) const { return includes(row_of(function).receivers, side, root); }
  /// Of `count` elements.
  std::uint64_t bytes() const { return count * element_bytes(type); }
};
std::string describe(Signature const& signature);

/// ncclRedOpCreatePreMulSum's.
struct UserOperator {
  ncclDataType_t type = ncclFloat32;
  Scalar value = {};
  void const* on_device = nullptr;  // null: `value` holds it
  bool destroyed = false;
};

}  // namespace adamant::sim

/// One rank's handle.
struct ncclComm {
  adamant::sim::Communicator* communicator = nullptr;  // null until the ranks have met
  adamant::sim::HostBarrier* joining = nullptr;        // the creation of which it comes
  adamant::sim::Host* host = nullptr;
  int rank = 0;
  int device = 0;
  bool blocking = true;
  bool known = false;  // the host has learnt that the creation is over
  bool finalized = false;
  bool host_came = false;          // to take leave, with this or another of its ranks
  std::uint32_t destroyed_by = 0;  // or aborted by, the call's record; 0: it lives
  bool aborted = false;

  std::uint64_t calls = 0;       // collectives issued so far
  adamant::sim::Signature last;  // of them
  std::uint64_t splits = 0;
  std::uint64_t outstanding = 0;           // operations issued and not executed
  adamant::sim::Host* draining = nullptr;  // waits for them
  std::vector<adamant::sim::UserOperator> operators;

  /// A graph that has calls of it, and the record of the first.
  struct Captured {
    adamant::sim::Graph const* graph = nullptr;
    std::uint32_t call = 0;
  };
  std::vector<Captured> captured;
};

namespace adamant::sim {

/// One call of ncclCommSplit by all ranks of the parent.
struct Split {
  struct Wish {
    int color = 0;
    int key = 0;
    ncclComm* child = nullptr;
  };
  HostBarrier barrier;
  std::vector<Wish> wishes;  // by rank of the parent
};

struct Communicator {
  int number = 0;  // in the order of creation
  std::string name;
  std::vector<ncclComm*> members;  // by rank
  HostBarrier creation;
  std::deque<Split> splits;

  // The collectives that some ranks have issued and not all streams executed; the first of them is
  // call number `open_first`. Null: executed.
  std::deque<Call*> open;
  std::uint64_t open_first = 0;
  std::vector<Host*> leaving;    // wait for the others to take leave, too
  std::size_t members_came = 0;  // whose host has taken leave
  // Sends without receives yet, or the other way round, by source * ranks + destination.
  std::vector<std::deque<Call*>> messages;

  int ranks() const { return static_cast<int>(members.size()); }
  /// By its own numbers the ranks of the world; nothing while not all have come, or where one host
  /// drives several.
  std::optional<std::vector<int>> ranks_of_world() const;
  /// As reports name its ranks: by those of the world where these are known, else by its own.
  std::vector<int> names_of_ranks() const;
  /// "communicator 2 (ranks 1 and 3)", of the world; "communicator 0 of 4 ranks" where these are
  /// all of them in order, or not known.
  std::string describe() const;
};

/// Why a handle means nothing, or ncclSuccess; a destroyed or aborted one is a violation.
ncclResult_t exists(Runtime& runtime, ncclComm const* member);
/// Why a handle cannot be used now, or ncclSuccess.
ncclResult_t usable(Runtime& runtime, ncclComm const* member);

void prepare(HostBarrier& barrier, char const* function, Communicator const& communicator);
/// Comes to a barrier as `rank`; the last one lets all others go on.
void arrive(Runtime& runtime, HostBarrier& barrier, int rank);
/// Waits until all have come; the host then knows what they knew. False if the world ended.
bool wait_for_all(Runtime& runtime, HostBarrier& barrier);

Communicator& new_communicator(std::size_t ranks);
ncclComm& new_member(Runtime& runtime, int device, ncclConfig_t const* config);
bool is_valid(ncclConfig_t const* config);

/// ncclInProgress, after others had their turn.
ncclResult_t poll(Runtime& runtime);
/// The creation of a handle whose ranks have been announced: waits, or says ncclInProgress.
ncclResult_t finish_creation(Runtime& runtime, ncclComm& member);

/// The ranks of a communicator do not do the same.
struct Disagreement {
  std::string call;
  std::string message;
  Location at = {};                   // of the call; unknown: it goes on
  std::vector<Related> related = {};  // the call with which it is compared, at least
};
/// Ends the world with a violation.
void report_disagreement(Runtime& runtime, Disagreement found);

}  // namespace adamant::sim
