// What one rank has room for, bucket by bucket, and where in it the elements are that it steps.
// Sizes only: what is made of them is the budget's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::oracle {

/// Elements of one parameter that a rank steps, one after the other in its room for states.
struct Share {
  int parameter = 0;
  std::int64_t begin = 0;  // in the room
  std::int64_t numel = 0;
};

/// A bucket as one rank has it. Rooms are in elements, padding included.
struct Holding {
  int unit = 0;
  std::vector<Formats> formats = {};  // of each share; they differ in what is no type at most
  std::vector<Share> shares = {};     // in the order in which they lie
  std::int64_t states = 0;
  std::int64_t parameters = 0;
  std::int64_t whole = 0;    // the parameters of all shards
  std::int64_t reduced = 0;  // a shard's gradients that replicas reduce further; 0: there are none

  /// How its numbers of a kind are stored; nothing where it has none.
  std::optional<NumberFormat> format(TensorKind kind) const;
  /// What a rank's numbers of gradients, states and main weights take.
  std::int64_t state_bytes(TensorKind kind) const;
  /// So many elements of its parameters as they are stored and gathered, with the scales that
  /// travel beside codes if `scales_beside`.
  std::int64_t parameter_bytes(std::int64_t numel, bool scales_beside) const;
};

/// All buckets of a rank, in order.
///
/// REQUIRES: as buckets_of().
std::vector<Holding> holdings_of(LayoutKind kind, std::span<ParameterSpec const> parameters,
                                 Mesh const& mesh, int rank);

inline constexpr TensorKind state_kinds[] = {TensorKind::exp_avg, TensorKind::exp_avg_sq,
                                             TensorKind::main};

/// How a kind lies in memory: of a main weight that counts as fp32 perhaps only the remainder.
std::optional<NumberFormat> kept_format(Formats const& formats, TensorKind kind);

inline std::int64_t bytes_for(std::int64_t numel, NumberFormat format) {
  return numel * static_cast<std::int64_t>(bytes_of(format));
}

/// Up to the widest access of a kernel, so that what comes next begins there.
std::int64_t aligned(std::int64_t bytes);

}  // namespace adamant::oracle
