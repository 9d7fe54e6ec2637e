// Collectives by NCCL: one device a rank. It adds errors with names and an end of life to NCCL's
// calls, nothing else; the order in which sums are taken is NCCL's own.
#pragma once

#include <nccl.h>

#include "real/comm/communicator.h"
#include "real/shard/layout.h"

namespace adamant::real {

class NcclCommunicator final : public Communicator {
 public:
  /// Joins the world of `id`; waits until every rank has. Errors: NcclError.
  NcclCommunicator(ncclUniqueId const& id, RankOfWorld where);
  /// Joins those ranks of `all` that say the same `group`; waits until every rank of `all` has.
  ///
  /// `where.rank` is its number among them. Errors: NcclError.
  NcclCommunicator(NcclCommunicator const& all, int group, RankOfWorld where);
  /// Leaves together with all other ranks; alone after abandon() or while an error unwinds.
  ~NcclCommunicator() override;
  NcclCommunicator(NcclCommunicator const&) = delete;
  NcclCommunicator& operator=(NcclCommunicator const&) = delete;

  void abandon() noexcept override;
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

  ncclComm_t comm_ = nullptr;
  int exceptions_at_birth_ = 0;
};

}  // namespace adamant::real
