// The boxes of a tensor as the files of a checkpoint hold them. A checkpoint of thousands of ranks
// has millions: none of them owns memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace adamant::real {

/// A part of a tensor in every dimension, as a file holds it, row-major.
///
/// Invariants: as many offsets as extents; views, which hold as long as the list that it is of does
/// not change.
struct SavedBox {
  int file = 0;
  std::span<std::int64_t const> offsets;  // of its first element in the whole
  std::span<std::int64_t const> shape;
  std::uint64_t begin = 0;  // bytes in the file

  std::int64_t numel() const;
};

/// Boxes of as many dimensions each, in the order in which they were added.
class SavedBoxes {
 public:
  class Iterator {
   public:
    Iterator(SavedBoxes const& boxes, std::size_t at) : boxes_(&boxes), at_(at) {}

    SavedBox operator*() const { return (*boxes_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(Iterator const&, Iterator const&) = default;

   private:
    SavedBoxes const* boxes_;
    std::size_t at_;
  };

  std::size_t size() const { return places_.size(); }
  SavedBox operator[](std::size_t i) const;
  SavedBox front() const { return (*this)[0]; }
  SavedBox back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  /// A copy of `box`. REQUIRES: as many dimensions as those before it.
  void add(SavedBox const& box);
  /// Copies of all boxes of another tensor, which begins at row `row` of this one. REQUIRES: at
  /// least one dimension, as many as here.
  void add_from_row(SavedBoxes const& boxes, std::int64_t row);

 private:
  struct Place {
    std::uint64_t begin = 0;
    int file = 0;
  };

  std::size_t dimensions_ = 0;
  std::vector<Place> places_;
  std::vector<std::int64_t> extents_;  // of each box the offsets, then the shape
};

}  // namespace adamant::real
