// Collectives for ranks that share one device, where NCCL refuses: every rank reads the buffers of
// the others with a kernel of its own. Needs a meeting of the hosts (Rendezvous) and memory that
// all of them see (LoopbackExchange); knows nothing of threads.
//
// A group, on every rank:
//   1. publish the calls, and an event: "my inputs are ready"
//   2. meet; wait on the own stream for the ready events of all ranks; launch the kernels;
//      record an event: "I have read everybody's inputs"
//   3. meet; wait on the own stream for the read events of all ranks: from here on this stream may
//      overwrite or free the inputs
//   4. meet: nobody looks at anybody's events any more
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "real/comm/communicator.h"
#include "real/engine.h"
#include "real/shard/layout.h"

namespace adamant::real {

enum class Collective {
  all_gather,
  reduce_scatter,
  all_reduce,
  reduce,
  broadcast,
  integer_sum,  // of 64 bits
  integer_max,  // of 32 bits
};

struct LoopbackCall {
  Collective collective = Collective::all_gather;
  void const* send = nullptr;
  void* receive = nullptr;
  std::int64_t count = 0;
  NumberFormat format = NumberFormat::fp32;  // of numbers; integers have none
  int root = 0;
};

/// What each rank publishes. Written by its rank before a meeting, read by all after it.
class LoopbackExchange {
 public:
  struct Published {
    std::vector<LoopbackCall> calls;
    cudaEvent_t ready = nullptr;
    cudaEvent_t read = nullptr;
  };

  explicit LoopbackExchange(int world_size) : published_(static_cast<std::size_t>(world_size)) {}
  int world_size() const { return static_cast<int>(published_.size()); }
  Published& of(int rank) { return published_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<Published> published_;
};

/// Sums are taken in the order of ranks, 0 first.
class LoopbackCommunicator final : public Communicator {
 public:
  /// Of `members`, the ranks of a world that are in this rank's group, among which it has the
  /// number `own`. Hosts of all groups meet, so all ranks of the world call alike.
  ///
  /// REQUIRES: `exchange` made for the world's size; `rendezvous` outlives this.
  LoopbackCommunicator(std::shared_ptr<LoopbackExchange> exchange, Rendezvous& rendezvous,
                       std::vector<int> members, int own);

  /// Of all ranks.
  LoopbackCommunicator(std::shared_ptr<LoopbackExchange> exchange, Rendezvous& rendezvous,
                       RankOfWorld where);

  void abandon() noexcept override {}  // nothing on the device waits for another host
  void all_gather(void const* send, void* receive, std::int64_t count, NumberFormat format,
                  Stream const& stream) override;
  void all_gather_bytes(void const* send, void* receive, std::int64_t bytes,
                        Stream const& stream) override;
  void reduce_scatter(void const* send, void* receive, std::int64_t count, NumberFormat format,
                      Stream const& stream) override;
  void all_reduce(void const* send, void* receive, std::int64_t count, NumberFormat format,
                  Stream const& stream) override;
  void reduce(void const* send, void* receive, std::int64_t count, NumberFormat format, int root,
              Stream const& stream) override;
  void broadcast(void const* send, void* receive, std::int64_t count, NumberFormat format, int root,
                 Stream const& stream) override;
  void all_reduce_sum(std::int64_t const* send, std::int64_t* receive, std::int64_t count,
                      Stream const& stream) override;
  void all_reduce_max(std::int32_t const* send, std::int32_t* receive, std::int64_t count,
                      Stream const& stream) override;

 private:
  void group_start() override;
  void group_end() override;
  void group_drop() noexcept override;

  void add(LoopbackCall const& call, Stream const& stream);
  void execute();
  int world_rank() const { return members_[static_cast<std::size_t>(own_)]; }
  LoopbackExchange::Published const& published_by(int member) const;
  void check_agreement() const;
  /// Of every member.
  void wait_for(cudaEvent_t LoopbackExchange::Published::*event) const;
  void run_call(std::size_t index);
  std::vector<void const*> sources(std::size_t index, std::int64_t offset) const;

  std::shared_ptr<LoopbackExchange> exchange_;
  Rendezvous& rendezvous_;
  std::vector<int> members_;  // as ranks of the world
  int own_;                   // among them
  Event ready_;
  Event read_;
  bool in_group_ = false;
  std::vector<LoopbackCall> calls_;  // of the open group
  Stream const* stream_ = nullptr;   // of the open group
};

}  // namespace adamant::real
