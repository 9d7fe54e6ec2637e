// The buffers that ranks cut, and which part of one is whose. In `fsdp2` each parameter is a buffer
// by itself, in `flat` and `bucketed` all of a unit that are stored alike share one. It knows no
// memory and no values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::oracle {

/// Where a parameter begins in its bucket, in elements.
struct Placed {
  int parameter = 0;
  std::int64_t offset = 0;
};

/// A buffer. Numbers are elements of it unless said otherwise; what the elements are, values of
/// parameters, gradients or states, does not matter.
struct Bucket {
  std::vector<Placed> parameters = {};  // in the order in which they lie
  /// What each shard gives to a gather, padding included: the bucket has as many of these as there
  /// are shards.
  std::int64_t chunk = 0;
  /// Of `fsdp2`, whose parts end with the rows of their only parameter.
  std::optional<std::int64_t> row_numel = {};
  std::int64_t rows = 0;
};

/// All buckets of a model, by unit, then by the first registered parameter. Parameters without
/// elements have a place in one like any other.
///
/// REQUIRES: parameters in registration order; no bucket has too much padding.
std::vector<Bucket> buckets_of(LayoutKind kind, std::span<ParameterSpec const> parameters,
                               Mesh const& mesh);

/// Has any buffer of `flat` or `bucketed` more than padding_numel_max elements that belong to no
/// tensor? Then the first registered parameter of the first such buffer. `fsdp2` never has.
std::optional<int> first_parameter_with_too_much_padding(LayoutKind kind,
                                                         std::span<ParameterSpec const> parameters,
                                                         Mesh const& mesh);

/// What a rank has of a bucket of that kind of tensor, without what `fsdp2` adds to a short part.
/// With N shards and M replicas, S elements in the bucket: shard i has parameters from i S / N on.
/// Of everything else it has the same, or where states are cut across, its replica o has what
/// begins o S / (N M) later. `fsdp2` applies its rule to all rows, and across to those of i.
ElementRange part_of(Bucket const& bucket, Mesh const& mesh, int rank, TensorKind kind);

/// Where the parameter's elements in this part are in the parameter; an empty range lies at the end
/// that is nearer.
ElementRange elements_in(ElementRange part, std::int64_t offset, std::int64_t numel);

/// Room that a rank has for what is cut as states are. The same on every rank, but for `fsdp2` with
/// states that are cut across.
std::int64_t state_room(Bucket const& bucket, Mesh const& mesh, int rank);

/// Room that a rank has for its part of the parameters, so that all replicas of its shard can
/// gather what each of them stepped.
std::int64_t parameter_room(Bucket const& bucket, Mesh const& mesh, int rank);

}  // namespace adamant::oracle
