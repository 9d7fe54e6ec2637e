// Parts of the engine's own code without an engine around them, compiled like the unchecked engine.
// No device takes part, so nothing is measured but what a program on any machine would do.
#pragma once

#include <nccl.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/index.h"
#include "real/checkpoint/storage.h"
#include "real/engine.h"
#include "real/shard/description.h"
#include "real/shard/layout.h"

namespace adamant::scenarios {

inline constexpr TensorKind state_kinds[] = {TensorKind::parameter, TensorKind::exp_avg,
                                             TensorKind::exp_avg_sq};

/// A rank's parameters and moments in host memory that it keeps, to be saved and loaded.
class KeptState {
 public:
  virtual ~KeptState() = default;
  virtual void save(real::Storage& storage, std::string const& directory) = 0;
  virtual void load(real::Storage& storage, std::string const& directory) = 0;
  /// Bytes that save and load have taken beside it.
  virtual std::size_t peak_bytes() const = 0;
};

struct KeptRank {
  real::RankOfWorld where;
  std::span<ParameterSpec const> parameters;  // they outlive the state, as `memory` does
  ncclUniqueId id;                            // the same on every rank
  std::byte* memory;                          // tensor after tensor
};

/// What such a rank has of a whole tensor: as many rows as any other, but for the last ones.
inline ElementRange kept_range(real::RankOfWorld where, ParameterSpec const& parameter) {
  std::int64_t const rows = parameter.shape.front();
  std::int64_t const each = (rows + where.world_size - 1) / where.world_size;
  std::int64_t const row = parameter.numel() / rows;
  return {std::min(rows, where.rank * each) * row, std::min(rows, (where.rank + 1) * each) * row};
}

/// What a rank has of tensors in files that are in memory.
struct PiecesToMove {
  std::vector<real::OpenFile> files;
  std::vector<real::SavedTensor> saved;
  std::vector<real::ShardDescription> own;  // of each of them, in host memory
};

/// A plan by which they are moved, without a checksum.
class MovedPieces {
 public:
  virtual ~MovedPieces() = default;
  virtual void move() = 0;
};

}  // namespace adamant::scenarios

extern "C" {
/// To be deleted. Called by all ranks.
adamant::scenarios::KeptState* adamant_bench_keep(adamant::scenarios::KeptRank const* rank);
/// Planned, to be moved again and again, and to be deleted. REQUIRES: a rank calls.
adamant::scenarios::MovedPieces* adamant_bench_move(adamant::scenarios::PiecesToMove const* pieces);
}
