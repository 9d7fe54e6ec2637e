#include "sim/nccl/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "sim/nccl/state.h"
#include "sim/world/assert.h"

namespace adamant::sim {

std::string describe(Signature const& signature) {
  Function const function = signature.function;
  std::string text =
      fmt::format("{}(count {}, {}", name_of(function), signature.count, name_of(signature.type));
  if (signature.reduction != Reduction::none) {
    text += fmt::format(", {}", name_of(signature.reduction));
  }
  if (has_root(function)) text += fmt::format(", root {}", signature.root);
  if (is_message(function)) text += fmt::format(", peer {}", signature.root);
  return text + (signature.replayed ? ") of a graph" : ")");
}

std::optional<std::vector<int>> Communicator::ranks_of_world() const {
  std::vector<int> ranks;
  for (ncclComm const* member : members) {
    if (member == nullptr) return std::nullopt;
    ranks.push_back(member->host->rank);
  }
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  return ranks;
}

std::vector<int> Communicator::names_of_ranks() const {
  if (std::optional<std::vector<int>> const known = ranks_of_world()) return *known;
  std::vector<int> own(members.size());
  std::iota(own.begin(), own.end(), 0);
  return own;
}

namespace {

// More of them say less.
constexpr std::size_t listed_ranks_max = 8;

std::string list_of(std::vector<int> ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  std::string last = std::to_string(ranks.back());
  ranks.pop_back();
  if (ranks.size() >= listed_ranks_max) {
    last = fmt::format("{} more", ranks.size() + 2 - listed_ranks_max);
    ranks.resize(listed_ranks_max - 1);
  }
  return fmt::format("ranks {} and {}", fmt::join(ranks, ", "), last);
}

}  // namespace

std::string Communicator::describe() const {
  std::optional<std::vector<int>> const known = ranks_of_world();
  bool const is_world = known && ranks() == current_runtime->world.ranks() &&
                        std::is_sorted(known->begin(), known->end());
  if (!known || is_world) return fmt::format("{} of {} ranks", name, ranks());
  return fmt::format("{} ({})", name, list_of(*known));
}

void report_disagreement(Runtime& runtime, Disagreement found) {
  Violation violation;
  violation.law = Law::order_collective;
  violation.breach = Breach::calls_differ;
  violation.about = std::move(found.call);
  violation.rank = runtime.world.host()->rank;
  violation.operation = runtime.world.host()->program_operation;
  violation.message = std::move(found.message);
  violation.at = std::move(found.at);
  violation.related = std::move(found.related);
  runtime.world.add_violation(std::move(violation));
  runtime.world.end();
}

ncclResult_t exists(Runtime& runtime, ncclComm const* member) {
  if (member == nullptr) return refuse(ncclInvalidArgument, "the communicator is null");
  if (member->destroyed_by == 0) return ncclSuccess;
  report_destroyed(runtime, "communicator", member->destroyed_by);
  return refuse(ncclInvalidArgument, "the communicator has been destroyed");
}

ncclResult_t usable(Runtime& runtime, ncclComm const* member) {
  ncclResult_t const error = exists(runtime, member);
  if (error != ncclSuccess || member->known) return error;
  return refuse(ncclInvalidArgument, "the communicator is used before its creation is over");
}

// ---- barrier ------------------------------------------------------------------------------------

void prepare(HostBarrier& barrier, char const* function, Communicator const& communicator) {
  barrier.function = function;
  barrier.communicator = &communicator;
  barrier.calls.assign(communicator.members.size(), 0);
  barrier.missing = communicator.ranks();
}

namespace {

std::string describe_missing(HostBarrier const& barrier) {
  std::string text = "for rank";
  std::vector<int> const names = barrier.communicator->names_of_ranks();
  for (std::size_t rank = 0; rank < barrier.calls.size(); ++rank) {
    if (barrier.calls[rank] == 0) text += fmt::format(" {}", names[rank]);
  }
  return text + " of " + barrier.communicator->describe();
}

// Of a creation nobody knows whose host will come.
std::vector<Awaited> missing(HostBarrier const& barrier) {
  std::vector<Awaited> all;
  for (std::size_t rank = 0; rank < barrier.calls.size(); ++rank) {
    ncclComm const* const member = barrier.communicator->members[rank];
    if (barrier.calls[rank] == 0 && member != nullptr) all.push_back({.host = member->host});
  }
  return all;
}

}  // namespace

void arrive(Runtime& runtime, HostBarrier& barrier, int rank) {
  Host& host = *runtime.world.host();
  auto const at = static_cast<std::size_t>(rank);
  ADAMANT_SIM_ASSERT(barrier.calls[at] == 0);
  barrier.calls[at] = record_call(runtime, OperationKind::host, barrier.function);
  barrier.known.join(host.clock);
  barrier.time_ns = std::max(barrier.time_ns, host.now_ns);
  runtime.world.advance_host();
  if (--barrier.missing > 0) return;
  barrier.done = true;
  for (Host* waiting : std::exchange(barrier.waiting, {})) runtime.world.wake(*waiting);
}

bool wait_for_all(Runtime& runtime, HostBarrier& barrier) {
  Host& host = *runtime.world.host();
  if (!runtime.world.yield()) return false;
  if (!barrier.done) {
    barrier.waiting.push_back(&host);
    bool const alive = runtime.world.block(barrier.function,
                                           {.describe = [&] { return describe_missing(barrier); },
                                            .whom = [&] { return missing(barrier); }});
    if (!alive) return false;
  }
  host.now_ns = std::max(host.now_ns, barrier.time_ns);
  return true;
}

namespace {

void learn(Runtime& runtime, HostBarrier const& barrier) {
  runtime.world.advance_host();
  runtime.world.host()->clock.join(barrier.known);
}

// ---- creation -----------------------------------------------------------------------------------

constexpr char id_magic[] = "adamant simulated NCCL";

}  // namespace

Communicator& new_communicator(std::size_t ranks) {
  NcclState& state = nccl_state();
  Communicator& communicator = state.communicators.emplace_back();
  communicator.number = static_cast<int>(state.communicators.size()) - 1;
  communicator.name = fmt::format("communicator {}", communicator.number);
  communicator.members.resize(ranks);
  prepare(communicator.creation, "ncclCommInitRank", communicator);
  return communicator;
}

ncclComm& new_member(Runtime& runtime, int device, ncclConfig_t const* config) {
  ncclComm& member = nccl_state().members.emplace_back();
  member.host = runtime.world.host();
  member.device = device;
  member.blocking = config == nullptr || config->blocking != 0;
  return member;
}

bool is_valid(ncclConfig_t const* config) {
  if (config == nullptr) return true;
  bool const blocking_is_valid =
      config->blocking == NCCL_CONFIG_UNDEF_INT || config->blocking == 0 || config->blocking == 1;
  return config->magic == 0xcafebeef && config->size == sizeof(ncclConfig_t) && blocking_is_valid;
}

namespace {

std::size_t index_of(ncclUniqueId const& id) {
  std::uint64_t index = 0;
  std::memcpy(&index, id.internal + sizeof id_magic, sizeof index);
  bool const made_here = std::memcmp(id.internal, id_magic, sizeof id_magic) == 0 &&
                         index < nccl_state().by_unique_id.size();
  return made_here ? static_cast<std::size_t>(index) : SIZE_MAX;
}

// Two ranks on one device are refused to all when everyone has come.
ncclResult_t duplicates(Communicator const& communicator) {
  std::vector<int> devices;
  for (ncclComm const* member : communicator.members) devices.push_back(member->device);
  std::sort(devices.begin(), devices.end());
  bool const twice = std::adjacent_find(devices.begin(), devices.end()) != devices.end();
  return twice ? ncclInvalidUsage : ncclSuccess;
}

void join(Runtime& runtime, Communicator& communicator, ncclComm& member, int rank) {
  member.communicator = &communicator;
  member.joining = &communicator.creation;
  member.rank = rank;
  communicator.members[static_cast<std::size_t>(rank)] = &member;
  if (communicator.creation.missing == 1) communicator.creation.result = duplicates(communicator);
  arrive(runtime, communicator.creation, rank);
}

bool has_come(HostBarrier const& barrier, int rank) {
  return barrier.calls[static_cast<std::size_t>(rank)] != 0;
}

// A rank comes as one of another number of ranks, or as one that is there.
void report_misfit(Runtime& runtime, Communicator const& communicator, int rank, int ranks) {
  std::vector<std::uint32_t> const& calls = communicator.creation.calls;
  bool const is_there = rank < communicator.ranks() && has_come(communicator.creation, rank);
  auto const compared = is_there ? calls.begin() + rank
                                 : std::find_if(calls.begin(), calls.end(),
                                                [](std::uint32_t call) { return call != 0; });
  report_disagreement(
      runtime, {.call = "ncclCommInitRank",
                .message = fmt::format("ncclCommInitRank as rank {} of {} does not fit {}, of "
                                       "which {} ranks have come",
                                       rank, ranks, communicator.describe(),
                                       communicator.ranks() - communicator.creation.missing),
                .related = {runtime.world.related("called", *compared)}});
}

ncclResult_t init_rank(Runtime& runtime, ncclComm_t* result, int ranks, ncclUniqueId const& id,
                       int rank, ncclConfig_t const* config) {
  if (result == nullptr || !is_valid(config)) {
    return refuse(ncclInvalidArgument,
                  "ncclCommInitRank: no place for the result, or a bad config");
  }
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return refuse(ncclInvalidArgument, "ncclCommInitRank: no such rank");
  }
  std::size_t const index = index_of(id);
  if (index == SIZE_MAX) return refuse(ncclSystemError, "ncclCommInitRank: an unknown unique id");
  Communicator*& communicator = nccl_state().by_unique_id[index];
  if (communicator == nullptr) communicator = &new_communicator(static_cast<std::size_t>(ranks));
  if (communicator->ranks() != ranks || has_come(communicator->creation, rank)) {
    report_misfit(runtime, *communicator, rank, ranks);
    return ncclSystemError;
  }
  ncclComm& member = new_member(runtime, runtime.host().device, config);
  join(runtime, *communicator, member, rank);
  give(result, &member);
  return submit_creation(runtime, member);
}

ncclResult_t init_all(Runtime& runtime, ncclComm_t* results, int count, int const* devices) {
  if (results == nullptr || count < 1) {
    return refuse(ncclInvalidArgument, "ncclCommInitAll: no communicators");
  }
  Communicator& communicator = new_communicator(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    int const device = devices != nullptr ? devices[i] : i;
    if (device < 0 || device >= static_cast<int>(runtime.devices.size())) {
      return refuse(ncclInvalidArgument, "ncclCommInitAll: no such device");
    }
    give(results + i, &new_member(runtime, device, nullptr));
    join(runtime, communicator, *results[i], i);
  }
  for (int i = 0; i < count; ++i) {
    ncclResult_t const error = finish_creation(runtime, *results[i]);
    if (error != ncclSuccess) return error;
  }
  return ncclSuccess;
}

}  // namespace

ncclResult_t poll(Runtime& runtime) {
  bool const alive = runtime.world.yield_polling("ncclCommGetAsyncError", nullptr, nullptr);
  return alive ? ncclInProgress : ncclSystemError;
}

ncclResult_t finish_creation(Runtime& runtime, ncclComm& member) {
  if (!member.blocking && !member.joining->done) {
    return poll(runtime);
  }
  if (!wait_for_all(runtime, *member.joining)) return ncclSystemError;
  learn(runtime, *member.joining);
  member.known = true;
  if (member.joining->result == ncclSuccess) return ncclSuccess;
  member.known = false;
  return refuse(member.joining->result, "two ranks of one communicator use one device");
}

}  // namespace adamant::sim

using namespace adamant::sim;

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return nccl_call([&](Runtime&) {
    if (id == nullptr) return refuse(ncclInvalidArgument, "ncclGetUniqueId: null");
    std::vector<Communicator*>& known = nccl_state().by_unique_id;
    std::uint64_t const index = known.size();
    known.push_back(nullptr);
    ncclUniqueId made = {};
    std::memcpy(made.internal, id_magic, sizeof id_magic);
    std::memcpy(made.internal + sizeof id_magic, &index, sizeof index);
    give(id, made);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank) {
  return nccl_call(
      [&](Runtime& runtime) { return init_rank(runtime, comm, nranks, id, rank, nullptr); });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return nccl_call(
      [&](Runtime& runtime) { return init_rank(runtime, comm, nranks, id, rank, config); });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, int const* devlist) {
  return nccl_call([&](Runtime& runtime) { return init_all(runtime, comm, ndev, devlist); });
}

}  // extern "C"
