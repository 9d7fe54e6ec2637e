#include "oracle/layout/buckets.h"

#include <algorithm>

#include "oracle/check.h"
#include "oracle/layout/fsdp2.h"
#include "oracle/layout/packing.h"

namespace adamant::oracle {
namespace {

/// Formats without what says nothing of how a number is stored.
Formats types_of(ParameterSpec const& parameter) {
  Formats types = parameter.formats;
  types.state_scale = {};
  types.decoupled_gradient = {};
  return types;
}

/// Numbers of the parameters of one buffer, in registration order.
using Members = std::vector<int>;

std::vector<Members> members_of_buckets(LayoutKind kind,
                                        std::span<ParameterSpec const> parameters) {
  std::vector<Members> buckets;
  std::size_t unit_begin = 0;  // in buckets, of the unit of the parameter at hand
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (p > 0 && parameters[p].unit != parameters[p - 1].unit) unit_begin = buckets.size();
    auto const alike = [&](Members const& members) {
      return types_of(parameters[static_cast<std::size_t>(members.front())]) ==
             types_of(parameters[p]);
    };
    auto bucket = buckets.end();
    if (kind != LayoutKind::fsdp2)
      bucket = std::find_if(buckets.begin() + static_cast<std::ptrdiff_t>(unit_begin),
                            buckets.end(), alike);
    if (bucket == buckets.end()) bucket = buckets.insert(bucket, Members{});
    bucket->push_back(static_cast<int>(p));
  }
  return buckets;
}

/// Over how many ranks states are cut. A mesh may have more of them than an int counts.
std::int64_t parts_of(Mesh const& mesh) {
  std::int64_t const across = mesh.cuts_states_across() ? mesh.replicas : 1;
  return mesh.shards * across;
}

std::optional<Packing> pack(LayoutKind kind, std::span<ParameterSpec const> parameters,
                            Members const& members, Mesh const& mesh) {
  std::vector<TensorSize> sizes;
  for (int const member : members) {
    auto const& parameter = parameters[static_cast<std::size_t>(member)];
    sizes.push_back({.numel = parameter.numel(), .row_numel = parameter.row_numel()});
  }
  return kind == LayoutKind::flat ? pack_flat(sizes, parts_of(mesh))
                                  : pack_bucketed(sizes, parts_of(mesh));
}

Bucket bucket_of_rows(ParameterSpec const& parameter, int number, Mesh const& mesh) {
  return {.parameters = {{.parameter = number}},
          .chunk = chunk_rows(parameter.rows(), mesh.shards) * parameter.row_numel(),
          .row_numel = parameter.row_numel(),
          .rows = parameter.rows()};
}

}  // namespace

std::vector<Bucket> buckets_of(LayoutKind kind, std::span<ParameterSpec const> parameters,
                               Mesh const& mesh) {
  std::vector<Bucket> buckets;
  for (Members const& members : members_of_buckets(kind, parameters)) {
    if (kind == LayoutKind::fsdp2) {
      int const only = members.front();
      buckets.push_back(bucket_of_rows(parameters[static_cast<std::size_t>(only)], only, mesh));
      continue;
    }
    auto const packing = pack(kind, parameters, members, mesh);
    check(packing.has_value(), "no bucket has too much padding");
    Bucket bucket{.chunk = packing->size / mesh.shards};
    for (std::size_t m = 0; m < members.size(); ++m)
      bucket.parameters.push_back({.parameter = members[m], .offset = packing->offsets[m]});
    std::ranges::stable_sort(bucket.parameters, {}, &Placed::offset);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

std::optional<int> first_parameter_with_too_much_padding(LayoutKind kind,
                                                         std::span<ParameterSpec const> parameters,
                                                         Mesh const& mesh) {
  if (kind == LayoutKind::fsdp2) return std::nullopt;
  for (Members const& members : members_of_buckets(kind, parameters))
    if (!pack(kind, parameters, members, mesh)) return members.front();
  return std::nullopt;
}

ElementRange part_of(Bucket const& bucket, Mesh const& mesh, int rank, TensorKind kind) {
  check(rank >= 0, "ranks count from 0");
  check(rank < mesh.rank_count(), "a rank is in its world");
  int const shard = mesh.shard_of(rank);
  bool const across = kind != TensorKind::parameter && mesh.cuts_states_across();
  Part const second =
      across ? Part{.index = mesh.replica_of(rank), .count = mesh.replicas} : Part{};
  if (bucket.row_numel) {
    ElementRange const own = rows_of(bucket.rows, {.index = shard, .count = mesh.shards});
    ElementRange const rows = rows_of(own.numel(), second);
    return {.begin = (own.begin + rows.begin) * *bucket.row_numel,
            .end = (own.begin + rows.end) * *bucket.row_numel};
  }
  std::int64_t const numel = bucket.chunk / second.count;
  std::int64_t const begin = shard * bucket.chunk + second.index * numel;
  return {.begin = begin, .end = begin + numel};
}

ElementRange elements_in(ElementRange part, std::int64_t offset, std::int64_t numel) {
  return {.begin = std::clamp<std::int64_t>(part.begin - offset, 0, numel),
          .end = std::clamp<std::int64_t>(part.end - offset, 0, numel)};
}

std::int64_t state_room(Bucket const& bucket, Mesh const& mesh, int rank) {
  if (!mesh.cuts_states_across()) return bucket.chunk;
  if (!bucket.row_numel) return bucket.chunk / mesh.replicas;
  auto const own = rows_of(bucket.rows, {.index = mesh.shard_of(rank), .count = mesh.shards});
  return chunk_rows(own.numel(), mesh.replicas) * *bucket.row_numel;
}

std::int64_t parameter_room(Bucket const& bucket, Mesh const& mesh, int rank) {
  if (!mesh.cuts_states_across()) return bucket.chunk;
  return std::max(bucket.chunk, mesh.replicas * state_room(bucket, mesh, rank));
}

}  // namespace adamant::oracle
