// Random CUDA programs that are right by construction: operations on several streams and the host,
// with exactly those edges that keep conflicting ones ordered and do not follow from others.
//
// It knows CUDA's rules of order in its own words (sets of known operations), and nothing of the
// judge that it tests.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace adamant::sim {

struct RandomProgram {
  static constexpr int elements = 16;  // floats of each buffer
  static constexpr int host = -1;      // as a stream

  enum class Place : std::uint8_t { device, in_order, pinned };
  enum class Kind : std::uint8_t {
    allocate,
    release,
    kernel,
    copy,
    fill,
    host_function,
    host_access
  };

  /// Elements [begin, end) of a buffer; empty if nothing is touched.
  struct Use {
    int buffer = 0;
    int begin = 0;
    int end = 0;
  };
  struct Step {
    Kind kind = Kind::kernel;
    int stream = host;
    Use reads;
    Use writes;
    std::vector<int> after;  // steps for which this one waits by an event
    bool recorded = false;   // somebody waits for this one
  };
  struct Edge {
    int step;
    std::size_t index;  // in its `after`
  };

  int streams = 0;
  std::vector<Place> buffers;
  std::vector<Step> steps;

  /// REQUIRES: nothing. The same seed gives the same program.
  static RandomProgram draw(std::uint64_t seed);

  std::vector<Edge> edges() const;
  RandomProgram without(Edge const& edge) const;
  /// Is every pair of conflicting steps ordered?
  bool ordered() const;
};

}  // namespace adamant::sim
