#include "real/checkpoint/saved_boxes.h"

#include "oracle/types.h"
#include "real/cuda/assert.h"

namespace adamant::real {

std::int64_t SavedBox::numel() const {
  return numel_of(shape);
}

SavedBox SavedBoxes::operator[](std::size_t i) const {
  auto const extents = std::span(extents_).subspan(2 * i * dimensions_, 2 * dimensions_);
  return {.file = places_[i].file,
          .offsets = extents.first(dimensions_),
          .shape = extents.subspan(dimensions_),
          .begin = places_[i].begin};
}

void SavedBoxes::add(SavedBox const& box) {
  if (places_.empty()) dimensions_ = box.shape.size();
  ADAMANT_REAL_ASSERT(box.offsets.size() == dimensions_ && box.shape.size() == dimensions_);
  places_.push_back({.begin = box.begin, .file = box.file});
  extents_.insert(extents_.end(), box.offsets.begin(), box.offsets.end());
  extents_.insert(extents_.end(), box.shape.begin(), box.shape.end());
}

void SavedBoxes::add_from_row(SavedBoxes const& boxes, std::int64_t row) {
  for (SavedBox const box : boxes) {
    add(box);
    extents_[extents_.size() - 2 * dimensions_] += row;
  }
}

}  // namespace adamant::real
