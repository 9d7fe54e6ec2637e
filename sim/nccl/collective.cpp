#include "sim/nccl/collective.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cuda/region.h"
#include "sim/nccl/execution.h"
#include "sim/nccl/state.h"
#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

// Ring, protocol Simple: a base, NVLink hops, and the bandwidth of one rank's links.
constexpr std::uint64_t base_ns = 8400;
constexpr std::uint64_t hop_ns = 3400;
constexpr std::uint64_t bytes_per_ns = 363;

std::uint64_t cost_ns(Signature const& signature, std::uint64_t ranks) {
  FunctionRow const& row = row_of(signature.function);
  std::uint64_t const bytes = signature.bytes();
  if (is_message(signature.function)) return base_ns + hop_ns + bytes / bytes_per_ns;
  if (has_root(signature.function)) return base_ns + (ranks - 1) * hop_ns + bytes / bytes_per_ns;
  bool const once = row.sent != Holds::count || row.received != Holds::count;
  if (once) return base_ns + (ranks - 1) * (hop_ns + bytes / bytes_per_ns);
  return base_ns + 2 * (ranks - 1) * (hop_ns + bytes / ranks / bytes_per_ns);
}

// ---- who is missing, for deadlock reports -------------------------------------------------------

// A message is between two of the ranks.
std::size_t rank_of_side(Call const& call, std::size_t side) {
  if (!is_message(call.signature.function)) return side;
  std::size_t const ranks = call.communicator->members.size();
  return side == 0 ? call.number / ranks : call.number % ranks;
}

bool has_arrived(Call const& call, std::size_t side) {
  Part const& part = call.parts[side];
  auto const& arrived = call.meeting.arrived;
  return part.operation != nullptr && part.operation == part.stream->head() &&
         std::find(arrived.begin(), arrived.end(), part.stream) != arrived.end();
}

// By rank, but the destination of a message after its source.
std::vector<Awaited> missing(Call const& call) {
  std::vector<Awaited> all;
  for (std::size_t side = 0; side < call.parts.size(); ++side) {
    ncclComm const& member = *call.communicator->members[rank_of_side(call, side)];
    if (member.aborted || has_arrived(call, side)) continue;
    all.push_back({.host = member.host, .stream = call.parts[side].stream});
  }
  return all;
}

std::string what_instead(Call const& call, std::size_t side) {
  Part const& part = call.parts[side];
  if (part.member != nullptr) {
    if (part.member->aborted) return "has aborted";
    return fmt::format("has issued it, but `{}` has not come to it", part.stream->name);
  }
  if (is_message(call.signature.function)) return "has not issued its side";
  ncclComm const& member = *call.communicator->members[side];
  if (member.aborted) return "has aborted";
  if (member.calls == 0) return "has issued nothing there";
  return fmt::format("has issued {} calls there, {} last", member.calls, describe(member.last));
}

std::string describe(Call const& call, std::string const& communicator) {
  if (!is_message(call.signature.function))
    return fmt::format("(call {} of {})", call.number, communicator);
  std::vector<int> const names = call.communicator->names_of_ranks();
  return fmt::format("(from rank {} to rank {} of {})", names[rank_of_side(call, 0)],
                     names[rank_of_side(call, 1)], communicator);
}

std::string describe_missing(Call const& call) {
  std::vector<int> const names = call.communicator->names_of_ranks();
  std::string text = describe(call, call.communicator->describe()) + " waits";
  for (std::size_t side = 0; side < call.parts.size(); ++side) {
    if (has_arrived(call, side)) continue;
    text += fmt::format("; rank {} {}", names[rank_of_side(call, side)], what_instead(call, side));
  }
  return text;
}

// ---- matching -----------------------------------------------------------------------------------

Call& take_call(Communicator& communicator, Signature const& signature, std::size_t sides) {
  NcclState& state = nccl_state();
  if (state.free_calls.empty()) {
    Call& call = state.calls.emplace_back();
    call.meeting.execute = [&call](Meeting&) { execute(*current_runtime, call); };
    call.meeting.describe = [&call] { return describe(call, call.communicator->name); };
    call.meeting.describe_missing = [&call] { return describe_missing(call); };
    call.meeting.missing = [&call] { return missing(call); };
    state.free_calls.push_back(&call);
  }
  Call& call = *state.free_calls.back();
  state.free_calls.pop_back();
  call.communicator = &communicator;
  call.signature = signature;
  call.parts.assign(sides, {});
  call.meeting.expected = static_cast<std::uint32_t>(sides);
  return call;
}

// A collective that a graph's launch issues has the line of the launch, any other one its own.
void report_difference(Runtime& runtime, Request const& request, Part const& other,
                       std::string message) {
  World& world = runtime.world;
  Disagreement found{.call = name_of(request.signature.function), .message = std::move(message)};
  if (request.node == nullptr) {
    found.at = world.locations().line_of(request.call);
  } else {
    found.related.push_back(world.related("captured", request.call));
  }
  found.related.push_back(world.related("called", other.call));
  if (std::uint32_t const captured = world.record(other.call).captured; captured != 0) {
    found.related.push_back(world.related("captured", captured));
  }
  report_disagreement(runtime, std::move(found));
}

bool agree(Runtime& runtime, Call const& call, Request const& request) {
  if (call.signature == request.signature) return true;
  Part const& first = *std::find_if(call.parts.begin(), call.parts.end(),
                                    [](Part const& part) { return part.member != nullptr; });
  std::vector<int> const names = call.communicator->names_of_ranks();
  report_difference(
      runtime, request, first,
      fmt::format("rank {} called {} as call {} of {}, rank {} {}",
                  names[static_cast<std::size_t>(first.member->rank)], describe(call.signature),
                  call.number, call.communicator->describe(),
                  names[static_cast<std::size_t>(request.member->rank)],
                  describe(request.signature)));
  return false;
}

Call* match_collective(Runtime& runtime, Request const& request) {
  ncclComm& member = *request.member;
  Communicator& communicator = *member.communicator;
  std::uint64_t const at = member.calls - communicator.open_first;
  if (at == communicator.open.size()) {
    Call& call = take_call(communicator, request.signature, communicator.members.size());
    call.number = member.calls;
    communicator.open.push_back(&call);
  }
  Call* const call = communicator.open[at];
  ADAMANT_SIM_ASSERT(call != nullptr);
  if (!agree(runtime, *call, request)) return nullptr;
  ++member.calls;
  member.last = request.signature;
  return call;
}

// Sends and receives between two ranks match in their orders.
Call* match_message(Runtime& runtime, Request const& request, std::size_t side) {
  Communicator& communicator = *request.member->communicator;
  int const rank = request.member->rank;
  int const peer = request.signature.root;
  int const ranks = communicator.ranks();
  int const way = side == 0 ? rank * ranks + peer : peer * ranks + rank;
  communicator.messages.resize(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks));
  std::deque<Call*>& open = communicator.messages[static_cast<std::size_t>(way)];
  if (open.empty() || open.front()->parts[side].member != nullptr) {
    Call& call = take_call(communicator, request.signature, 2);
    call.number = static_cast<std::uint64_t>(way);
    open.push_back(&call);
    return &call;
  }
  Call* const call = open.front();
  Signature const& other = call->signature;
  if (other.count == request.signature.count && other.type == request.signature.type) {
    open.pop_front();
    return call;
  }
  std::vector<int> const names = communicator.names_of_ranks();
  report_difference(
      runtime, request, call->parts[1 - side],
      fmt::format("rank {} called {} in {}, rank {} {}", names[static_cast<std::size_t>(peer)],
                  describe(other), communicator.describe(), names[static_cast<std::size_t>(rank)],
                  describe(request.signature)));
  return nullptr;
}

Part part_of(Request const& request, Stream& stream) {
  Part part{.member = request.member,
            .stream = &stream,
            .send = request.send,
            .receive = request.receive};
  if (request.signature.reduction == Reduction::scaled_sum) {
    part.scaled = true;
    part.scalar = request.user.value;
    part.scalar_on_device = request.user.on_device;
  }
  return part;
}

}  // namespace

namespace {

// Arguments are values from now on; each launch matches its peers' launches anew.
void capture_request(Runtime& runtime, Capture& capture, Request const& request, Stream& stream) {
  GraphNode& node = add_node(runtime, capture, stream, request.call);
  auto& captured = request.member->captured;
  if (captured.empty() || captured.back().graph != capture.graph)
    captured.push_back({.graph = capture.graph, .call = request.call});
  hold_address(runtime, node, request.send);
  hold_address(runtime, node, request.receive);
  hold_address(runtime, node, request.user.on_device);
  node.issue = [&runtime, request](Stream& branch, GraphNode const& self) {
    Request replayed = request;
    replayed.node = &self;
    replayed.signature.replayed = true;
    if (usable(runtime, request.member) == ncclSuccess) issue(runtime, replayed, branch);
  };
}

}  // namespace

std::uint32_t record_call(Runtime& runtime, Signature const& signature) {
  return record_call(runtime, OperationKind::collective, name_of(signature.function),
                     signature.bytes());
}

void issue(Runtime& runtime, Request const& request, Stream& stream) {
  if (runtime.world.ended()) return;
  if (Capture* const capture = capture_of(runtime, stream)) {
    return capture_request(runtime, *capture, request, stream);
  }
  Function const function = request.signature.function;
  std::size_t const side = side_of(function, request.member->rank);
  Call* const call = is_message(function) ? match_message(runtime, request, side)
                                          : match_collective(runtime, request);
  if (call == nullptr) return;
  Part& part = call->parts[side];
  part = part_of(request, stream);
  part.call = request.node == nullptr ? request.call : record_call(runtime, request.signature);
  StreamOperation& operation = runtime.world.make(part.call);
  operation.meeting = &call->meeting;
  operation.node = request.node;
  if (request.node != nullptr) runtime.world.stems_from(operation, request.node->call);
  operation.cost_ns = cost_ns(request.signature, request.member->communicator->members.size());
  part.operation = &operation;
  ++request.member->outstanding;
  order_against_legacy(runtime, stream);
  runtime.world.push(stream, operation);
}

std::vector<Awaited> streams_of_calls(ncclComm const& member) {
  std::vector<Awaited> all;
  for (Call const& call : nccl_state().calls) {
    for (Part const& part : call.parts) {
      if (part.member == &member && part.operation != nullptr)
        all.push_back({.host = member.host, .stream = part.stream});
    }
  }
  return all;
}

std::array<Piece, 2> written(Call const& call, std::size_t side) {
  Signature const& signature = call.signature;
  if (!signature.receives(side)) return {};
  FunctionRow const& row = row_of(signature.function);
  Part const& part = call.parts[side];
  bool const from_each = row.received == Holds::count_for_each_rank;
  std::uint64_t const bytes = signature.bytes();
  std::uint64_t const all = from_each ? bytes * call.parts.size() : bytes;
  std::uint64_t const own = from_each ? bytes * side : 0;
  bool const in_place = signature.sends(side) && part.send == part.receive + own;
  if (row.reduces || !in_place) return {Piece{part.receive, all}};
  return {Piece{part.receive, own}, Piece{part.receive + own + bytes, all - own - bytes}};
}

// Anything may stand in what such a call was to receive, and the stream's next work may read it.
void abandon_calls(Runtime& runtime, ncclComm& member) {
  for (Call& call : nccl_state().calls) {
    for (std::size_t side = 0; side < call.parts.size(); ++side) {
      Part& part = call.parts[side];
      if (part.member != &member || part.operation == nullptr) continue;
      part.operation->body = [&runtime, pieces = written(call, side)] {
        for (Piece const& piece : pieces)
          runtime.watch.range(piece.begin, piece.bytes, AccessKind::write);
      };
      runtime.world.leave_meeting(*part.stream, *part.operation);
      part.operation = nullptr;
    }
  }
}

}  // namespace adamant::sim
