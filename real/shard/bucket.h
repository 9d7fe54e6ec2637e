// Parameters that share a buffer of each kind, are gathered by one collective and reduced by
// another: one of them alone in the layout `fsdp2`, otherwise all of a unit that have the same
// types. Numbers only.
//
//   whole:     N chunks, tensors at their offsets, padding between them
//   of a rank: its part of it, in each kind's flat buffer, rounded up to 16 bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/shard/ownership.h"

namespace adamant::real {

/// How a parameter stores the numbers of a kind of tensor, or nothing where it has none of that
/// kind; codes of a quantised parameter are no numbers.
std::optional<NumberFormat> format_of(Formats const& formats, TensorKind kind);

/// Units: elements unless the name says otherwise.
struct Bucket {
  int unit = 0;
  std::vector<int> parameters = {};        // in the order in which they lie; empty ones anywhere
  std::vector<std::int64_t> offsets = {};  // of each of them
  Formats formats = {};                    // of all of them
  bool scales_beside = false;              // mxfp8's scales lie behind the codes of their rank
  Ownership own = {};
  std::int64_t whole_numel = 0;  // all chunks
  /// Where its part of each kind's flat buffer begins; multiples of 16.
  std::array<std::size_t, tensor_kind_count> begin_bytes = {};

  std::size_t begin(TensorKind kind) const { return begin_bytes[static_cast<std::size_t>(kind)]; }
  ElementRange held(TensorKind kind) const {
    return kind == TensorKind::parameter ? own.parameters : own.states;
  }
  /// So many elements of a kind, or codes, rounded up to 16 bytes; 0 where it has none.
  std::size_t bytes_of(TensorKind kind, std::int64_t numel) const;
  /// Its room in a flat buffer, which is the same on all replicas.
  std::size_t room_bytes(TensorKind kind) const {
    return bytes_of(kind, kind == TensorKind::parameter ? own.parameters_numel : own.states_numel);
  }
  std::size_t whole_bytes(TensorKind kind) const { return bytes_of(kind, whole_numel); }
};

/// All buckets, those of a unit together, without their places in flat buffers.
std::vector<Bucket> make_buckets(std::span<ParameterSpec const> parameters, RankOfMesh const& where,
                                 LayoutKind layout);

}  // namespace adamant::real
