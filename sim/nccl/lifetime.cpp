// What a rank asks its communicator, and how it takes leave: finalize, destroy, abort.

#include <nccl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/nccl/state.h"

using namespace adamant::sim;

namespace {

// One host that drives several ranks comes once for all of them.
void count_farewell(Communicator& communicator, Host const* host) {
  for (ncclComm* member : communicator.members) {
    if (member == nullptr || member->host != host || member->host_came) continue;
    member->host_came = true;
    ++communicator.members_came;
  }
}

// A farewell orders nothing that the program may rely on: the host waits, but learns nothing.
void take_leave(Runtime& runtime, ncclComm& member) {
  member.finalized = true;
  if (member.communicator == nullptr) return;
  count_farewell(*member.communicator, member.host);
  for (Host* host : std::exchange(member.communicator->leaving, {})) runtime.world.wake(*host);
}

// REQUIRES: the member's own host has come.
bool others_came(ncclComm const& member) {
  return member.communicator->members_came == member.communicator->members.size();
}

std::string describe_others(ncclComm const& member) {
  Communicator const& communicator = *member.communicator;
  std::string text = "for rank";
  std::vector<int> const names = communicator.names_of_ranks();
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    if (!communicator.members[rank]->host_came) text += " " + std::to_string(names[rank]);
  }
  return text + " of " + communicator.describe();
}

std::vector<Awaited> others_missing(ncclComm const& member) {
  std::vector<Awaited> all;
  for (ncclComm const* other : member.communicator->members) {
    if (!other->host_came) all.push_back({.host = other->host});
  }
  return all;
}

std::string describe_own(ncclComm const& member) {
  Communicator const& communicator = *member.communicator;
  std::string text = "for " + std::to_string(member.outstanding) + " of its own calls on " +
                     communicator.describe();
  std::vector<int> const names = communicator.names_of_ranks();
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    if (communicator.members[rank]->aborted)
      text += ", of which rank " + std::to_string(names[rank]) + " has aborted";
  }
  return text;
}

ncclResult_t wait_for_own_calls(Runtime& runtime, ncclComm& member, char const* function) {
  if (member.outstanding == 0) return ncclSuccess;
  Host& host = *runtime.world.host();
  member.draining = &host;
  runtime.world.block(function, {.describe = [&] { return describe_own(member); },
                                 .whom = [&] { return streams_of_calls(member); }});
  member.draining = nullptr;
  return result_of_world(runtime);
}

ncclResult_t leave_together(Runtime& runtime, ncclComm& member, char const* function) {
  ncclResult_t error = wait_for_own_calls(runtime, member, function);
  if (error != ncclSuccess) return error;
  take_leave(runtime, member);
  Host& host = *runtime.world.host();
  while (!runtime.world.ended() && !others_came(member)) {
    member.communicator->leaving.push_back(&host);
    runtime.world.block(function, {.describe = [&] { return describe_others(member); },
                                   .whom = [&] { return others_missing(member); }});
  }
  return result_of_world(runtime);
}

ncclResult_t finalize(Runtime& runtime, ncclComm& member) {
  if (member.finalized) return refuse(ncclInvalidArgument, "ncclCommFinalize was called before");
  if (member.blocking) return leave_together(runtime, member, "ncclCommFinalize");
  take_leave(runtime, member);
  return ncclInProgress;
}

// NCCL keeps what launches of a graph need until the graph is gone, and its end waits for that.
void judge_graphs(Runtime& runtime, ncclComm const& member, char const* function) {
  auto const found = std::find_if(
      member.captured.begin(), member.captured.end(),
      [&](ncclComm::Captured const& captured) { return lives(runtime, *captured.graph); });
  if (found == member.captured.end()) return;
  Violation violation;
  violation.law = Law::access_lifetime;
  violation.breach = Breach::destroyed_handle;
  violation.about = "communicator of a graph";
  violation.rank = member.host->rank;
  violation.operation = member.host->program_operation;
  violation.message = std::string(function) + " of " + member.communicator->describe() +
                      " waits for ever for a graph to be destroyed that has captured its calls";
  violation.related.push_back(runtime.world.related("captured", found->call));
  runtime.world.add_violation(std::move(violation));
}

// Whether a farewell that did not wait goes on.
bool is_leaving(ncclComm const& member) {
  bool const waits_for_others = member.outstanding > 0 || !others_came(member);
  return member.finalized && !member.blocking && waits_for_others;
}

ncclResult_t destroy(Runtime& runtime, ncclComm& member) {
  if (is_leaving(member))
    return refuse(ncclInvalidArgument,
                  "ncclCommFinalize goes on: ask ncclCommGetAsyncError until it is over");
  judge_graphs(runtime, member, "ncclCommDestroy");
  ncclResult_t const error = leave_together(runtime, member, "ncclCommDestroy");
  member.destroyed_by = record_call(runtime, OperationKind::host, "ncclCommDestroy");
  return error;
}

ncclResult_t abort(Runtime& runtime, ncclComm& member) {
  judge_graphs(runtime, member, "ncclCommAbort");
  member.aborted = true;
  member.destroyed_by = record_call(runtime, OperationKind::host, "ncclCommAbort");
  if (member.communicator != nullptr) abandon_calls(runtime, member);
  take_leave(runtime, member);
  return ncclSuccess;
}

// A rank that has aborted will never come to what this one has issued.
bool waits_in_vain(ncclComm const& member) {
  std::vector<ncclComm*> const& all = member.communicator->members;
  return member.outstanding > 0 &&
         std::any_of(all.begin(), all.end(), [](ncclComm const* other) { return other->aborted; });
}

// What a non-blocking call has started: is it over? The host that is told so may rely on it.
ncclResult_t async_error(Runtime& runtime, ncclComm& member) {
  if (!member.known) return finish_creation(runtime, member);
  if (waits_in_vain(member)) return ncclRemoteError;
  return is_leaving(member) ? poll(runtime) : ncclSuccess;
}

template <typename Read>
ncclResult_t ask(ncclComm* comm, void const* result, Read&& read) {
  return nccl_call([&](Runtime& runtime) {
    ncclResult_t const error = usable(runtime, comm);
    if (error != ncclSuccess) return error;
    if (result == nullptr) return refuse(ncclInvalidArgument, "no place for the result");
    read();
    return ncclSuccess;
  });
}

}  // namespace

extern "C" {

ncclResult_t ncclCommCount(ncclComm_t const comm, int* count) {
  return ask(comm, count, [&] { give(count, comm->communicator->ranks()); });
}

ncclResult_t ncclCommCuDevice(ncclComm_t const comm, int* device) {
  return ask(comm, device, [&] { give(device, comm->device); });
}

ncclResult_t ncclCommUserRank(ncclComm_t const comm, int* rank) {
  return ask(comm, rank, [&] { give(rank, comm->rank); });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
  return nccl_call([&](Runtime& runtime) {
    ncclResult_t const error = exists(runtime, comm);
    if (error != ncclSuccess) return error;
    if (result == nullptr) return refuse(ncclInvalidArgument, "no place for the result");
    give(result, async_error(runtime, *comm));
    return result_of_world(runtime);
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return nccl_call([&](Runtime& runtime) {
    if (comm == nullptr) return ncclSuccess;
    ncclResult_t const error = usable(runtime, comm);
    return error != ncclSuccess ? error : finalize(runtime, *comm);
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return nccl_call([&](Runtime& runtime) {
    if (comm == nullptr) return ncclSuccess;
    ncclResult_t const error = usable(runtime, comm);
    return error != ncclSuccess ? error : destroy(runtime, *comm);
  });
}

// Unlike the others, allowed while the creation is going on.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return nccl_call([&](Runtime& runtime) {
    if (comm == nullptr) return ncclSuccess;
    if (!comm->known && !comm->aborted) return abort(runtime, *comm);
    ncclResult_t const error = usable(runtime, comm);
    return error != ncclSuccess ? error : abort(runtime, *comm);
  });
}

}  // extern "C"
