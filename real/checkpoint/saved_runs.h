// A saved tensor as runs of elements that follow each other, and the plan of who reads what of
// them: one pass over two sorted lists of borders, the files' and the readers', a step for every
// piece between two of them. It knows neither files nor devices, only numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::real {

/// Bytes to bring from a file to a shard.
struct ReadRange {
  int file = 0;
  std::uint64_t begin = 0;  // in the file
  std::uint64_t bytes = 0;
  std::uint64_t to = 0;  // in the shard

  friend bool operator==(ReadRange const&, ReadRange const&) = default;
};

/// The same where it goes behind what the pieces before it bring.
struct ReadPiece {
  std::uint64_t begin = 0;  // in the file
  std::uint64_t bytes = 0;
  int file = 0;

  friend bool operator==(ReadPiece const&, ReadPiece const&) = default;
};

/// Boxes that tile a tensor, each of elements that follow each other in the whole: run i is
/// elements [borders()[i], borders()[i + 1]), and places()[i] says where its first byte is.
///
/// Invariants, of runs that are not empty:
///   R1 borders ascend strictly, from 0 to the tensor's number of elements
///   R2 there is one border more than there are places
class SavedRuns {
 public:
  struct Place {
    std::uint64_t begin = 0;  // bytes in the file
    int file = 0;
  };

  bool empty() const { return places_.empty(); }
  std::span<std::int64_t const> borders() const { return borders_; }
  std::span<Place const> places() const { return places_; }
  /// The run that has an element. REQUIRES: not empty, an element of the tensor.
  std::size_t at(std::int64_t element) const;

  void reserve(std::size_t count);
  /// The run behind the last one. REQUIRES: R1.
  void add(std::int64_t end, Place place);

 private:
  std::vector<std::int64_t> borders_;
  std::vector<Place> places_;
  // The first run's, beside the lists: a plan of one rank, which looks at few of their elements,
  // has to wait for memory once less.
  std::int64_t first_numel_ = 0;
};

/// Appends what fills the ranges of one shard, which ascend and do not overlap: each byte once, in
/// the order of the shard. A binary search, then a step a piece.
///
/// REQUIRES: a tensor with runs, elements of `element_bytes`.
void plan_reads(SavedRuns const& runs, std::span<ElementRange const> own,
                std::uint64_t element_bytes, std::vector<ReadRange>& ranges);

/// The same for everybody at once: `own` are ranges that ascend and do not overlap, each a shard of
/// its own. Writes what fills them to `reads`, own[0]'s first, and where each one's begin to
/// `first`, which ends with their number.
///
/// Shapes:   `first` has one more than `own`; `reads` room for own.size() + the number of runs.
/// REQUIRES: a tensor with runs, elements of `element_bytes`.
void plan_reads_of_all(SavedRuns const& runs, std::span<ElementRange const> own,
                       std::uint64_t element_bytes, std::span<ReadPiece> reads,
                       std::span<std::size_t> first);

}  // namespace adamant::real
