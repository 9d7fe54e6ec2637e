// Who does the engine's work on the CPU: loops whose pieces are independent of each other. The host
// program gives one, as it gives the meeting of ranks; the engine itself starts no thread.
#pragma once

#include <functional>

namespace adamant::real {

class Workers {
 public:
  virtual ~Workers() = default;
  /// How many pieces of a loop can run at once.
  virtual int count() const = 0;
  /// Runs `body(chunk)` for every chunk of [0, chunks) once, in any order and on any threads, and
  /// returns when all are done. REQUIRES: `body` throws nothing and calls neither CUDA nor this.
  virtual void parallel_for(int chunks, std::function<void(int chunk)> const& body) = 0;
};

/// The calling thread, alone.
class NoWorkers final : public Workers {
 public:
  int count() const override { return 1; }
  void parallel_for(int chunks, std::function<void(int)> const& body) override {
    for (int chunk = 0; chunk < chunks; ++chunk) body(chunk);
  }
};

}  // namespace adamant::real
