#include "real/comm/across_replicas.h"

namespace adamant::real {

void AcrossReplicas::gather(std::span<Bucket const> buckets) {
  if (!parts_.layout.where().mesh.cuts_states_across()) return;
  Streams const& streams = parts_.streams;
  order(streams.compute, forked_, streams.comm);
  Group group(parts_.communicators.across());
  for (Bucket const& bucket : buckets) gather_one(bucket);
  group.end();
  order(streams.comm, joined_, streams.compute);
}

void AcrossReplicas::gather_one(Bucket const& bucket) {
  std::int64_t const numel = bucket.own.states_numel;
  if (numel == 0) return;  // on all replicas of the shard
  std::byte* const all =
      parts_.tensors.flat(TensorKind::parameter) + bucket.begin(TensorKind::parameter);
  std::int64_t const before = parts_.layout.where().replica() * numel;
  Communicator& across = parts_.communicators.across();
  Stream const& comm = parts_.streams.comm;
  if (auto const recipe = bucket.formats.recipe) {
    across.all_gather_bytes(all + code_bytes(*recipe, before), all, code_bytes(*recipe, numel),
                            comm);
    return;
  }
  NumberFormat const format = bucket.formats.parameter;
  std::byte const* const own = all + static_cast<std::size_t>(before) * bytes_of(format);
  across.all_gather(own, all, numel, format, comm);
}

}  // namespace adamant::real
