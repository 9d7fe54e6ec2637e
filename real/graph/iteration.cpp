#include "real/graph/iteration.h"

namespace adamant::real {

void Iteration::record(Stream const& stream, RecordedWith const& with,
                       std::function<void()> const& enqueue) {
  with_ = with;
  steps_.clear();
  graph_.record(stream, enqueue);
}

}  // namespace adamant::real
