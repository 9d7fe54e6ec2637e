#include "real/comm/loopback_communicator.h"

#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "real/comm/integer_kernels.h"
#include "real/comm/peer_kernels.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

std::vector<int> ranks_below(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

std::shared_ptr<LoopbackExchange> make_loopback_exchange(int world_size) {
  ADAMANT_REAL_ASSERT(world_size >= 1);
  return std::make_shared<LoopbackExchange>(world_size);
}

LoopbackCommunicator::LoopbackCommunicator(std::shared_ptr<LoopbackExchange> exchange,
                                           Rendezvous& rendezvous, std::vector<int> members,
                                           int own)
    : exchange_(std::move(exchange)),
      rendezvous_(rendezvous),
      members_(std::move(members)),
      own_(own) {
  ADAMANT_REAL_ASSERT(exchange_ != nullptr);
  for (int const rank : members_) ADAMANT_REAL_ASSERT(rank < exchange_->world_size());
}

LoopbackCommunicator::LoopbackCommunicator(std::shared_ptr<LoopbackExchange> exchange,
                                           Rendezvous& rendezvous, RankOfWorld where)
    : LoopbackCommunicator(std::move(exchange), rendezvous, ranks_below(where.world_size),
                           where.rank) {}

LoopbackExchange::Published const& LoopbackCommunicator::published_by(int member) const {
  return exchange_->of(members_[static_cast<std::size_t>(member)]);
}

void LoopbackCommunicator::group_start() {
  ADAMANT_REAL_ASSERT(!in_group_);
  in_group_ = true;
}

void LoopbackCommunicator::group_end() {
  ADAMANT_REAL_ASSERT(in_group_);
  in_group_ = false;
  execute();
}

void LoopbackCommunicator::group_drop() noexcept {
  in_group_ = false;
  calls_.clear();
}

void LoopbackCommunicator::all_gather(void const* send, void* receive, std::int64_t count,
                                      NumberFormat format, Stream const& stream) {
  add({Collective::all_gather, send, receive, count, format, 0}, stream);
}

// A copy changes no number, so bytes travel as numbers of one byte.
void LoopbackCommunicator::all_gather_bytes(void const* send, void* receive, std::int64_t bytes,
                                            Stream const& stream) {
  add({Collective::all_gather, send, receive, bytes, NumberFormat::fp8, 0}, stream);
}

void LoopbackCommunicator::reduce_scatter(void const* send, void* receive, std::int64_t count,
                                          NumberFormat format, Stream const& stream) {
  add({Collective::reduce_scatter, send, receive, count, format, 0}, stream);
}

void LoopbackCommunicator::all_reduce(void const* send, void* receive, std::int64_t count,
                                      NumberFormat format, Stream const& stream) {
  add({Collective::all_reduce, send, receive, count, format, 0}, stream);
}

void LoopbackCommunicator::reduce(void const* send, void* receive, std::int64_t count,
                                  NumberFormat format, int root, Stream const& stream) {
  add({Collective::reduce, send, receive, count, format, root}, stream);
}

void LoopbackCommunicator::broadcast(void const* send, void* receive, std::int64_t count,
                                     NumberFormat format, int root, Stream const& stream) {
  add({Collective::broadcast, send, receive, count, format, root}, stream);
}

void LoopbackCommunicator::all_reduce_sum(std::int64_t const* send, std::int64_t* receive,
                                          std::int64_t count, Stream const& stream) {
  add({.collective = Collective::integer_sum, .send = send, .receive = receive, .count = count},
      stream);
}

void LoopbackCommunicator::all_reduce_max(std::int32_t const* send, std::int32_t* receive,
                                          std::int64_t count, Stream const& stream) {
  add({.collective = Collective::integer_max, .send = send, .receive = receive, .count = count},
      stream);
}

void LoopbackCommunicator::add(LoopbackCall const& call, Stream const& stream) {
  ADAMANT_REAL_ASSERT(call.count > 0);
  ADAMANT_REAL_ASSERT(calls_.empty() || stream_ == &stream);
  calls_.push_back(call);
  stream_ = &stream;
  if (!in_group_) execute();
}

// A group without calls meets all the same: another group of the world may have some. One that
// fails leaves none to the next.
void LoopbackCommunicator::execute() {
  std::vector<LoopbackCall> calls = std::exchange(calls_, {});
  std::size_t const count = calls.size();
  if (count > 0) ready_.record(*stream_);
  exchange_->of(world_rank()) = {
      .calls = std::move(calls), .ready = ready_.get(), .read = read_.get()};

  rendezvous_.arrive_and_wait(world_rank());
  check_agreement();
  if (count > 0) {
    wait_for(&LoopbackExchange::Published::ready);
    for (std::size_t i = 0; i < count; ++i) run_call(i);
    read_.record(*stream_);
  }

  rendezvous_.arrive_and_wait(world_rank());
  if (count > 0) wait_for(&LoopbackExchange::Published::read);

  rendezvous_.arrive_and_wait(world_rank());
}

void LoopbackCommunicator::wait_for(cudaEvent_t LoopbackExchange::Published::*event) const {
  for (int member = 0; member < std::ssize(members_); ++member)
    ADAMANT_TRY(cudaStreamWaitEvent(stream_->get(), published_by(member).*event, 0));
}

// NCCL would hang or corrupt; here every rank sees what all others want.
void LoopbackCommunicator::check_agreement() const {
  auto const& mine = published_by(own_).calls;
  for (int member = 0; member < std::ssize(members_); ++member) {
    auto const& theirs = published_by(member).calls;
    bool agree = theirs.size() == mine.size();
    for (std::size_t i = 0; agree && i < mine.size(); ++i)
      agree = theirs[i].collective == mine[i].collective && theirs[i].count == mine[i].count &&
              theirs[i].format == mine[i].format && theirs[i].root == mine[i].root;
    if (!agree)
      throw NcclError(ncclInvalidUsage, {"loop-back group", __FILE__, __LINE__},
                      "rank " + std::to_string(world_rank()) + " and rank " +
                          std::to_string(members_[static_cast<std::size_t>(member)]) +
                          " issue different collectives");
  }
}

std::vector<void const*> LoopbackCommunicator::sources(std::size_t index,
                                                       std::int64_t offset) const {
  std::vector<void const*> found;
  for (int member = 0; member < std::ssize(members_); ++member) {
    LoopbackCall const& call = published_by(member).calls[index];
    std::size_t const bytes = static_cast<std::size_t>(offset) * bytes_of(call.format);
    found.push_back(static_cast<std::byte const*>(call.send) + bytes);
  }
  return found;
}

void LoopbackCommunicator::run_call(std::size_t index) {
  LoopbackCall const& call = published_by(own_).calls[index];
  PeerTarget const target = {
      .destination = call.receive, .count = call.count, .format = call.format};
  switch (call.collective) {
    case Collective::all_gather:
      return launch_peer_copy(sources(index, 0), target, *stream_);
    case Collective::reduce_scatter:
      return launch_peer_sum(sources(index, own_ * call.count), target, *stream_);
    case Collective::all_reduce:
      return launch_peer_sum(sources(index, 0), target, *stream_);
    case Collective::reduce:
      if (own_ != call.root) return;
      return launch_peer_sum(sources(index, 0), target, *stream_);
    case Collective::integer_sum:
      return launch_integer_sum(sources(index, 0), static_cast<std::int64_t*>(call.receive),
                                call.count, *stream_);
    case Collective::integer_max:
      return launch_integer_max(sources(index, 0), static_cast<std::int32_t*>(call.receive),
                                call.count, *stream_);
    case Collective::broadcast: {
      void const* const root[] = {published_by(call.root).calls[index].send};
      return launch_peer_copy(root, target, *stream_);
    }
  }
}

}  // namespace adamant::real
