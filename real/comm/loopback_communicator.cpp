#include "real/comm/loopback_communicator.h"

#include <cstddef>
#include <string>
#include <utility>

#include "real/comm/integer_kernels.h"
#include "real/comm/peer_kernels.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

std::shared_ptr<LoopbackExchange> make_loopback_exchange(int world_size) {
  ADAMANT_REAL_ASSERT(world_size >= 1);
  return std::make_shared<LoopbackExchange>(world_size);
}

LoopbackCommunicator::LoopbackCommunicator(std::shared_ptr<LoopbackExchange> exchange,
                                           Rendezvous& rendezvous, RankOfWorld where)
    : exchange_(std::move(exchange)), rendezvous_(rendezvous), where_(where) {
  ADAMANT_REAL_ASSERT(exchange_ != nullptr);
  ADAMANT_REAL_ASSERT(exchange_->all().size() == static_cast<std::size_t>(where.world_size));
}

void LoopbackCommunicator::group_start() {
  ADAMANT_REAL_ASSERT(!in_group_);
  in_group_ = true;
}

void LoopbackCommunicator::group_end() {
  ADAMANT_REAL_ASSERT(in_group_);
  in_group_ = false;
  if (!calls_.empty()) execute();
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

void LoopbackCommunicator::execute() {
  ready_.record(*stream_);
  exchange_->of(where_.rank) = {
      .calls = std::exchange(calls_, {}), .ready = ready_.get(), .read = read_.get()};

  rendezvous_.arrive_and_wait(where_.rank);
  check_agreement();
  for (auto const& peer : exchange_->all())
    ADAMANT_TRY(cudaStreamWaitEvent(stream_->get(), peer.ready, 0));
  std::size_t const count = exchange_->of(where_.rank).calls.size();
  for (std::size_t i = 0; i < count; ++i) run_call(i);
  read_.record(*stream_);

  rendezvous_.arrive_and_wait(where_.rank);
  for (auto const& peer : exchange_->all())
    ADAMANT_TRY(cudaStreamWaitEvent(stream_->get(), peer.read, 0));

  rendezvous_.arrive_and_wait(where_.rank);
}

// NCCL would hang or corrupt; here every rank sees what all others want.
void LoopbackCommunicator::check_agreement() const {
  auto const& mine = exchange_->of(where_.rank).calls;
  for (std::size_t rank = 0; rank < exchange_->all().size(); ++rank) {
    auto const& theirs = exchange_->all()[rank].calls;
    bool agree = theirs.size() == mine.size();
    for (std::size_t i = 0; agree && i < mine.size(); ++i)
      agree = theirs[i].collective == mine[i].collective && theirs[i].count == mine[i].count &&
              theirs[i].format == mine[i].format && theirs[i].root == mine[i].root;
    if (!agree)
      throw NcclError(ncclInvalidUsage, {"loop-back group", __FILE__, __LINE__},
                      "rank " + std::to_string(where_.rank) + " and rank " + std::to_string(rank) +
                          " issue different collectives");
  }
}

std::vector<void const*> LoopbackCommunicator::sources(std::size_t index,
                                                       std::int64_t offset) const {
  std::vector<void const*> found;
  for (auto const& peer : exchange_->all()) {
    LoopbackCall const& call = peer.calls[index];
    std::size_t const bytes = static_cast<std::size_t>(offset) * bytes_of(call.format);
    found.push_back(static_cast<std::byte const*>(call.send) + bytes);
  }
  return found;
}

void LoopbackCommunicator::run_call(std::size_t index) {
  LoopbackCall const& call = exchange_->of(where_.rank).calls[index];
  PeerTarget const target = {
      .destination = call.receive, .count = call.count, .format = call.format};
  switch (call.collective) {
    case Collective::all_gather:
      return launch_peer_copy(sources(index, 0), target, *stream_);
    case Collective::reduce_scatter:
      return launch_peer_sum(sources(index, where_.rank * call.count), target, *stream_);
    case Collective::all_reduce:
      return launch_peer_sum(sources(index, 0), target, *stream_);
    case Collective::reduce:
      if (where_.rank != call.root) return;
      return launch_peer_sum(sources(index, 0), target, *stream_);
    case Collective::integer_sum:
      return launch_integer_sum(sources(index, 0), static_cast<std::int64_t*>(call.receive),
                                call.count, *stream_);
    case Collective::integer_max:
      return launch_integer_max(sources(index, 0), static_cast<std::int32_t*>(call.receive),
                                call.count, *stream_);
    case Collective::broadcast: {
      void const* const root[] = {exchange_->of(call.root).calls[index].send};
      return launch_peer_copy(root, target, *stream_);
    }
  }
}

}  // namespace adamant::real
