#include "sim/nccl/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/nccl/state.h"

namespace adamant::sim {
namespace {

// A message runs beside the others of its group, as NCCL's do: on a stream of the library, between
// what was on the user's stream before the group and what comes after it.
void issue_beside(Runtime& runtime, Request const& request, Stream& stream, Mark const& before) {
  Stream& own = runtime.world.add_stream(stream.device, cudaStreamNonBlocking, 0);
  own.name = fmt::format("{} ({} {})", stream.name, name_of(request.signature.function),
                         request.signature.root);
  wait_for(runtime, own, before);
  issue(runtime, request, own);
  wait_for(runtime, stream, mark(runtime, own));
}

void issue_messages(Runtime& runtime, std::vector<Request const*> const& messages, Stream& stream) {
  if (messages.size() == 1) return issue(runtime, *messages.front(), stream);
  if (messages.empty()) return;
  Mark const before = mark(runtime, stream);
  for (Request const* message : messages) issue_beside(runtime, *message, stream, before);
}

// All that a group has for one communicator: the group waits for all streams that its calls name,
// and all of them wait for it.
void issue_together(Runtime& runtime, std::vector<Request const*> const& requests) {
  Stream& launch = *requests.front()->stream;
  std::vector<Stream*> others;
  std::vector<Request const*> messages;
  for (Request const* request : requests) {
    bool const known = std::find(others.begin(), others.end(), request->stream) != others.end();
    if (request->stream != &launch && !known) others.push_back(request->stream);
    if (is_message(request->signature.function)) messages.push_back(request);
  }
  for (Stream* other : others) wait_for(runtime, launch, mark(runtime, *other));
  for (Request const* request : requests) {
    if (!is_message(request->signature.function)) issue(runtime, *request, launch);
  }
  issue_messages(runtime, messages, launch);
  for (Stream* other : others) wait_for(runtime, *other, mark(runtime, launch));
}

bool is_plain(std::vector<Request> const& requests) {
  return std::all_of(requests.begin(), requests.end(), [&](Request const& request) {
    return request.stream == requests.front().stream && !is_message(request.signature.function);
  });
}

void issue_all(Runtime& runtime, std::vector<Request> const& requests) {
  if (is_plain(requests)) {
    for (Request const& request : requests) issue(runtime, request, *request.stream);
    return;
  }
  std::vector<ncclComm*> members;
  for (Request const& request : requests) {
    if (std::find(members.begin(), members.end(), request.member) == members.end()) {
      members.push_back(request.member);
    }
  }
  for (ncclComm* member : members) {
    std::vector<Request const*> own;
    for (Request const& request : requests) {
      if (request.member == member) own.push_back(&request);
    }
    issue_together(runtime, own);
  }
}

// All streams of a group, or none of them, are captured, and those of one communicator by one
// capture: a host that drives several devices has one for each.
bool captured_alike(Runtime& runtime, std::vector<Request> const& requests) {
  if (runtime.captures.empty()) return true;
  std::map<ncclComm const*, Capture const*> captures;
  for (Request const& request : requests) {
    Capture const* const capture = capture_of(runtime, *request.stream);
    Capture const* const of_member = captures.try_emplace(request.member, capture).first->second;
    bool const some_are = capture_of(runtime, *requests.front().stream) != nullptr;
    if (of_member != capture || (capture != nullptr) != some_are) return false;
  }
  return true;
}

ncclResult_t end_group(Runtime& runtime, Group& group) {
  ncclResult_t result = ncclSuccess;
  runtime.world.host()->held_back_by = 0;
  for (ncclComm* member : std::exchange(group.creations, {})) {
    ncclResult_t const error = finish_creation(runtime, *member);
    if (result == ncclSuccess) result = error;
  }
  if (ncclResult_t const refused = std::exchange(group.refused, ncclSuccess);
      refused != ncclSuccess) {
    group.requests.clear();
    return refuse(refused, "a call of the group was refused, so none is issued");
  }
  if (group.requests.empty()) return result;
  if (!captured_alike(runtime, group.requests)) {
    group.requests.clear();
    return refuse(ncclInvalidUsage,
                  "a group mixes streams that are captured and that are not, or captures for one "
                  "communicator");
  }
  issue_all(runtime, group.requests);
  group.requests.clear();
  runtime.world.yield();
  return runtime.world.ended() ? ncclSystemError : result;
}

// A collective of one rank is a copy, which NCCL makes at the call.
bool waits_for_the_end(Group const& group, Request const& request) {
  bool const alone = request.member->communicator->ranks() == 1;
  return group.depth > 0 && (!alone || is_message(request.signature.function));
}

}  // namespace

ncclResult_t submit(Runtime& runtime, Request request) {
  request.call = record_call(runtime, request.signature);
  Group& group = nccl_state().group(runtime);
  if (waits_for_the_end(group, request)) {
    group.requests.push_back(std::move(request));
    runtime.world.host()->held_back_by = group.opened_by;
    return ncclSuccess;
  }
  issue(runtime, request, *request.stream);
  runtime.world.yield();
  return runtime.world.ended() ? ncclSystemError : ncclSuccess;
}

ncclResult_t note_result(Runtime& runtime, ncclResult_t result) {
  Group& group = nccl_state().group(runtime);
  if (group.depth > 0 && result != ncclSuccess) group.refused = result;
  return result;
}

ncclResult_t submit_creation(Runtime& runtime, ncclComm& member) {
  Group& group = nccl_state().group(runtime);
  if (group.depth == 0) return finish_creation(runtime, member);
  group.creations.push_back(&member);
  runtime.world.host()->held_back_by = group.opened_by;
  return ncclSuccess;
}

void judge_open_group(Runtime& runtime) {
  Group const& group = nccl_state().group(runtime);
  if (runtime.world.ended() || (group.requests.empty() && group.creations.empty())) return;
  Violation violation;
  violation.law = Law::order_collective;
  violation.breach = Breach::open_group;
  violation.rank = runtime.world.host()->rank;
  violation.operation = runtime.world.host()->program_operation;
  violation.message =
      fmt::format("the rank ends inside a group: {} calls and {} creations of it never begin",
                  group.requests.size(), group.creations.size());
  violation.missing = "ncclGroupEnd";
  violation.at = runtime.world.locations().line_of(group.opened_by);
  runtime.world.add_violation(std::move(violation));
}

}  // namespace adamant::sim

using namespace adamant::sim;

extern "C" {

ncclResult_t ncclGroupStart() {
  return nccl_call([](Runtime& runtime) {
    Group& group = nccl_state().group(runtime);
    if (group.depth++ == 0) {
      group.opened_by = record_call(runtime, OperationKind::host, "ncclGroupStart");
    }
    return ncclSuccess;
  });
}

ncclResult_t ncclGroupEnd() {
  return nccl_call([](Runtime& runtime) {
    Group& group = nccl_state().group(runtime);
    if (group.depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
    return --group.depth == 0 ? end_group(runtime, group) : ncclSuccess;
  });
}

}  // extern "C"
