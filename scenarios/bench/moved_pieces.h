// A rank's part of tensors moved out of files that are in memory: by the engine's own code, without
// an engine, a device or a checksum. Compiled like the unchecked engine.
#pragma once

#include <vector>

#include "real/checkpoint/index.h"
#include "real/shard/description.h"

namespace adamant::scenarios {

struct PiecesToMove {
  std::vector<real::OpenFile> files;
  std::vector<real::SavedTensor> saved;
  std::vector<real::ShardDescription> own;  // of each of them, in host memory
};

class MovedPieces {
 public:
  virtual ~MovedPieces() = default;
  virtual void move() = 0;
};

}  // namespace adamant::scenarios

extern "C" {
/// Planned, to be moved again and again, and to be deleted. REQUIRES: a rank calls.
adamant::scenarios::MovedPieces* adamant_bench_move(adamant::scenarios::PiecesToMove const* pieces);
}
