// A reduction over the inputs of all ranks, in an order that stands for one of those that NCCL's
// algorithms use. NCCL promises none, so the order is an open question, asked of Choices.
//
// It knows arrays, not communicators or streams.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/nccl/arithmetic.h"
#include "sim/sim.h"
#include "sim/world/choices.h"

namespace adamant::sim {

/// With x_i the input of rank i, n ranks, and every operation rounding to the element type:
///   ring    x_r + (x_{r-1} + (… + x_{r+1})), indices modulo n, for the part whose result rank r
///           finishes; `backwards` walks the other way round.
///   tree    halves of the ranks are added first, recursively.
///   linear  ((x_0 + x_1) + x_2) + …
struct Order {
  ReductionOrder kind = ReductionOrder::ring;
  bool backwards = false;
  int shift = 0;  // rank r + shift finishes the part that is called r's
};

/// Asks Choices where `wanted` leaves the order open and it can matter.
Order choose_order(Choices& choices, ReductionOrder wanted, int ranks, bool matters);

struct Contribution {
  char const* data = nullptr;
  void const* scale = nullptr;  // a scalar to multiply with first, or null
};

struct ReductionTask {
  ncclDataType_t type = ncclFloat32;
  Reduction reduction = Reduction::sum;
  Order order;
  int owner = 0;  // whose part this is
  std::size_t count = 0;
  std::size_t offset = 0;              // of the part in each input, in elements
  std::size_t result_offset = 0;       // and in each output
  std::span<Contribution const> from;  // by rank
  std::span<char* const> to;           // all get the result
};

/// The parts of all owners: rank r's is [r * share, (r + 1) * share), cut at `total`.
struct PartsTask {
  ncclDataType_t type = ncclFloat32;
  Reduction reduction = Reduction::sum;
  Order order;
  std::size_t share = 0;
  std::size_t total = 0;
  std::span<Contribution const> from;  // by rank
};

class Reducer {
 public:
  /// Is it worth while? Parts that are large need no help, and together they must fit a cache.
  static bool reduces_together(std::uint64_t share_bytes, std::uint64_t total_bytes);
  /// The bits that reduce() gives for each part with its owner, one part after the other; they stay
  /// until the next call. Walks the ranks, not the owners, so that no loop is as short as a part.
  char const* reduce_together(PartsTask const& task);

  /// Shapes: [offset, offset + count) of each input; an output may be an input at the same place.
  void reduce(ReductionTask const& task);

 private:
  void take(ReductionTask const& task, std::size_t rank, std::size_t first, std::size_t count,
            char* to) const;
  void chain(ReductionTask const& task, std::size_t first, std::size_t count);
  void rotate(PartsTask const& task);
  void extend(PartsTask const& task, std::size_t rank, std::size_t owner, std::size_t owners,
              bool first);
  void tree(ReductionTask const& task, std::size_t begin, std::size_t end, std::size_t first,
            std::size_t count, std::size_t level);

  ReductionArithmetic arithmetic_;
  std::size_t element_bytes_ = 0;
  std::vector<std::size_t> sequence_;
  std::vector<char> scratch_;
  std::vector<char> together_;
  std::vector<char> scaled_;
};

}  // namespace adamant::sim
