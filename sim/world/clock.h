// Vector clocks: what each agent (a rank's host code, or a stream) knows of every other one.
// Component i counts the epochs of agent i that happened before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace adamant::sim {

class VectorClock {
 public:
  std::uint32_t of(std::uint32_t agent) const { return agent < at_.size() ? at_[agent] : 0; }

  void advance(std::uint32_t agent) {
    if (agent >= at_.size()) at_.resize(agent + 1);
    ++at_[agent];
  }

  void join(VectorClock const& other) {
    if (other.at_.size() > at_.size()) at_.resize(other.at_.size());
    for (std::size_t i = 0; i < other.at_.size(); ++i) {
      if (other.at_[i] > at_[i]) at_[i] = other.at_[i];
    }
  }

  /// Keeps the storage, so that pooled clocks allocate nothing.
  void assign(VectorClock const& other) { at_.assign(other.at_.begin(), other.at_.end()); }
  void clear() { at_.clear(); }

 private:
  std::vector<std::uint32_t> at_;
};

/// One moment of one agent.
struct Epoch {
  std::uint32_t agent = 0;
  std::uint32_t time = 0;
  bool before(VectorClock const& clock) const { return time <= clock.of(agent); }
};

}  // namespace adamant::sim
