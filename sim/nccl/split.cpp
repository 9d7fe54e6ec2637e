// ncclCommSplit: the ranks of a communicator form new ones by colour, ordered by key.

#include <nccl.h>

#include <algorithm>

#include "sim/nccl/state.h"

using namespace adamant::sim;

namespace {

// The communicator of one colour, in the order of the keys, then of the parent's ranks.
void form(Split& split, int color) {
  std::vector<Split::Wish> chosen;
  for (Split::Wish const& wish : split.wishes) {
    if (wish.color == color) chosen.push_back(wish);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](Split::Wish const& a, Split::Wish const& b) { return a.key < b.key; });
  Communicator& communicator = new_communicator(chosen.size());
  for (std::size_t rank = 0; rank < chosen.size(); ++rank) {
    ncclComm& child = *chosen[rank].child;
    child.communicator = &communicator;
    child.rank = static_cast<int>(rank);
    communicator.members[rank] = &child;
  }
}

void form_all(Split& split) {
  std::vector<int> colors;
  for (Split::Wish const& wish : split.wishes) {
    bool const known = std::find(colors.begin(), colors.end(), wish.color) != colors.end();
    if (wish.color != NCCL_SPLIT_NOCOLOR && !known) colors.push_back(wish.color);
  }
  for (int const color : colors) form(split, color);
}

Split& next_split(ncclComm& parent) {
  Communicator& communicator = *parent.communicator;
  if (parent.splits == communicator.splits.size()) {
    Split& split = communicator.splits.emplace_back();
    split.wishes.resize(communicator.members.size());
    prepare(split.barrier, "ncclCommSplit", communicator);
  }
  return communicator.splits[parent.splits++];
}

// A rank without a colour gets no communicator, but takes part.
ncclResult_t split(Runtime& runtime, ncclComm& parent, Split::Wish wish, ncclComm_t* result,
                   ncclConfig_t const* config) {
  Split& split = next_split(parent);
  ncclComm& child = new_member(runtime, parent.device, config);
  if (config == nullptr) child.blocking = parent.blocking;
  child.joining = &split.barrier;
  wish.child = &child;
  split.wishes[static_cast<std::size_t>(parent.rank)] = wish;
  if (split.barrier.missing == 1) form_all(split);
  arrive(runtime, split.barrier, parent.rank);
  give(result, wish.color == NCCL_SPLIT_NOCOLOR ? nullptr : &child);
  return submit_creation(runtime, child);
}

}  // namespace

extern "C" {

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                           ncclConfig_t* config) {
  return nccl_call([&](Runtime& runtime) {
    ncclResult_t const error = usable(runtime, comm);
    if (error != ncclSuccess) return error;
    if (newcomm == nullptr || !is_valid(config) || color < NCCL_SPLIT_NOCOLOR) {
      return refuse(ncclInvalidArgument, "ncclCommSplit: no place for the result, or a bad color");
    }
    return split(runtime, *comm, {.color = color, .key = key}, newcomm, config);
  });
}

}  // extern "C"
