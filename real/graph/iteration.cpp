#include "real/graph/iteration.h"

namespace adamant::real {

void Iteration::record(Stream const& stream, std::vector<bool> const& has_gradient,
                       std::function<void()> const& enqueue) {
  gradients_before_ = has_gradient;
  steps_.clear();
  recording_ = true;
  graph_.record(stream, enqueue);
  recording_ = false;
}

}  // namespace adamant::real
