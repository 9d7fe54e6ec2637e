#include "real/checkpoint/reshard.h"

#include <algorithm>

#include "real/checkpoint/checkpoint_error.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

std::int64_t product(std::span<std::int64_t const> shape) {
  std::int64_t numel = 1;
  for (std::int64_t const extent : shape) numel *= extent;
  return numel;
}

std::int64_t end_of(SavedBox const& box, std::size_t d) {
  return box.offsets[d] + box.shape[d];
}

bool overlap(SavedBox const& a, SavedBox const& b) {
  for (std::size_t d = 0; d < a.shape.size(); ++d)
    if (std::max(a.offsets[d], b.offsets[d]) >= std::min(end_of(a, d), end_of(b, d))) return false;
  return true;
}

std::string text_of_box(SavedBox const& box, std::span<std::string const> file_names) {
  return concat(file_names[static_cast<std::size_t>(box.file)], " (", text_of_shape(box.shape),
                " at ", text_of_shape(box.offsets), ")");
}

void check_bounds(SavedTensor const& tensor, SavedBox const& box,
                  std::span<std::string const> file_names) {
  bool inside = box.shape.size() == tensor.shape.size();
  for (std::size_t d = 0; inside && d < box.shape.size(); ++d)
    inside = end_of(box, d) <= tensor.shape[d];
  if (!inside)
    refuse_damaged("tensor ", tensor.key, ": the part in ", text_of_box(box, file_names),
                   " lies outside the whole ", text_of_shape(tensor.shape));
}

/// Boxes with elements, by their first row.
std::vector<SavedBox const*> by_row(SavedTensor const& tensor) {
  std::vector<SavedBox const*> boxes;
  for (SavedBox const& box : tensor.boxes)
    if (box.numel() > 0) boxes.push_back(&box);
  std::stable_sort(boxes.begin(), boxes.end(), [](SavedBox const* a, SavedBox const* b) {
    return !a->shape.empty() && a->offsets[0] < b->offsets[0];
  });
  return boxes;
}

/// Each box against those before it that reach its first row.
void check_overlap(SavedTensor const& tensor, std::vector<SavedBox const*> const& sorted,
                   std::span<std::string const> file_names) {
  std::vector<SavedBox const*> active;
  for (SavedBox const* const box : sorted) {
    std::erase_if(active, [&](SavedBox const* earlier) {
      return !box->shape.empty() && end_of(*earlier, 0) <= box->offsets[0];
    });
    for (SavedBox const* const earlier : active)
      if (overlap(*earlier, *box))
        refuse_damaged("tensor ", tensor.key, ": the parts in ", text_of_box(*earlier, file_names),
                       " and ", text_of_box(*box, file_names),
                       " overlap: is a file left over from another save?");
    active.push_back(box);
  }
}

/// For boxes that do not overlap but are too few: the first row at which something is missing.
std::int64_t first_hole(SavedTensor const& tensor, std::vector<SavedBox const*> const& sorted) {
  std::int64_t row = 0;
  for (SavedBox const* const box : sorted) {
    if (box->shape.empty() || box->offsets[0] > row) break;
    row = std::max(row, end_of(*box, 0));
  }
  return std::min(row, tensor.shape.empty() ? 0 : tensor.shape[0]);
}

/// The box and a shard's rows, cut: the range of whole rows that both have.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Rows common_rows(SavedBox const& box, ShardDescription const& shard) {
  return {std::max(box.offsets[0], shard.row_begin), std::min(end_of(box, 0), shard.row_end)};
}

/// How many trailing dimensions the box has whole, the first never counted.
std::size_t whole_dimensions(SavedBox const& box, std::span<std::int64_t const> whole) {
  std::size_t count = 0;
  while (count + 1 < whole.size() &&
         box.shape[whole.size() - 1 - count] == whole[whole.size() - 1 - count])
    ++count;
  return count;
}

/// Runs of a box that has not all of its inner dimensions whole, one row after another.
class RunWalk {
 public:
  RunWalk(SavedBox const& box, ShardDescription const& shard)
      : box_(box),
        shard_(shard),
        cut_(shard.global_shape.size() - 1 - whole_dimensions(box, shard.global_shape)) {}

  void append(Rows const& rows, std::vector<ReadRange>& ranges) const {
    std::int64_t const run = product(std::span(box_.shape).subspan(cut_));
    std::int64_t const row_runs = product(std::span(box_.shape).subspan(1)) / run;
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
      for (std::int64_t i = 0; i < row_runs; ++i) ranges.push_back(range(row, i * run, run));
  }

 private:
  /// The run that begins at the element `inner` of a row of the box.
  ReadRange range(std::int64_t row, std::int64_t inner, std::int64_t run) const {
    std::uint64_t const bytes = bytes_of(shard_.format);
    std::int64_t const box_row = product(std::span(box_.shape).subspan(1));
    std::int64_t const from = (row - box_.offsets[0]) * box_row + inner;
    std::int64_t const to = (row - shard_.row_begin) * shard_.row_numel() + in_whole_row(inner);
    return {.file = box_.file,
            .begin = box_.begin + static_cast<std::uint64_t>(from) * bytes,
            .bytes = static_cast<std::uint64_t>(run) * bytes,
            .to = static_cast<std::uint64_t>(to) * bytes};
  }

  /// Where an element of the box's row lies in the whole row.
  std::int64_t in_whole_row(std::int64_t inner) const {
    std::int64_t at = 0;
    std::int64_t stride = 1;
    for (std::size_t d = box_.shape.size() - 1; d > 0; --d) {
      at += (inner % box_.shape[d] + box_.offsets[d]) * stride;
      inner /= box_.shape[d];
      stride *= shard_.global_shape[d];
    }
    return at;
  }

  SavedBox const& box_;
  ShardDescription const& shard_;
  std::size_t cut_;  // the innermost dimension that the box does not have whole, at least 1
};

}  // namespace

std::int64_t SavedBox::numel() const {
  return product(shape);
}

void check_cover(SavedTensor const& tensor, std::span<std::string const> file_names) {
  std::int64_t held = 0;
  for (SavedBox const& box : tensor.boxes) {
    check_bounds(tensor, box, file_names);
    held += box.numel();
  }
  std::vector<SavedBox const*> const sorted = by_row(tensor);
  check_overlap(tensor, sorted, file_names);
  std::int64_t const numel = product(tensor.shape);
  if (held != numel)
    refuse_damaged("tensor ", tensor.key, ": ", std::to_string(held), " of ", std::to_string(numel),
                   " elements of ", text_of_shape(tensor.shape),
                   " are saved; the first that is missing is in row ",
                   std::to_string(first_hole(tensor, sorted)), ": is a file missing?");
}

void plan_reads(SavedTensor const& tensor, ShardDescription const& shard,
                std::vector<ReadRange>& ranges) {
  ADAMANT_REAL_ASSERT(tensor.shape == shard.global_shape);
  std::uint64_t const row_bytes =
      static_cast<std::uint64_t>(shard.row_numel()) * bytes_of(shard.format);
  for (SavedBox const& box : tensor.boxes) {
    Rows const rows = common_rows(box, shard);
    if (rows.begin >= rows.end || box.numel() == 0) continue;
    if (whole_dimensions(box, shard.global_shape) + 1 < box.shape.size()) {
      RunWalk(box, shard).append(rows, ranges);
      continue;
    }
    ranges.push_back(
        {.file = box.file,
         .begin = box.begin + static_cast<std::uint64_t>(rows.begin - box.offsets[0]) * row_bytes,
         .bytes = static_cast<std::uint64_t>(rows.end - rows.begin) * row_bytes,
         .to = static_cast<std::uint64_t>(rows.begin - shard.row_begin) * row_bytes});
  }
}

}  // namespace adamant::real
