#include "real/checkpoint/reshard.h"

#include <algorithm>

#include "real/checkpoint/checkpoint_error.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

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

bool lies_inside(SavedBox const& box, std::span<std::int64_t const> whole) {
  if (box.shape.size() != whole.size()) return false;
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (end_of(box, d) > whole[d]) return false;
  return true;
}

void check_bounds(SavedTensor const& tensor, SavedBox const& box,
                  std::span<std::string const> file_names) {
  if (!lies_inside(box, tensor.shape))
    refuse_damaged("tensor ", tensor.key, ": the part in ", text_of_box(box, file_names),
                   " lies outside the whole ", text_of_shape(tensor.shape));
}

/// Boxes with elements, by their first row.
std::vector<SavedBox> by_row(SavedTensor const& tensor) {
  std::vector<SavedBox> boxes;
  for (SavedBox const box : tensor.boxes)
    if (box.numel() > 0) boxes.push_back(box);
  std::stable_sort(boxes.begin(), boxes.end(), [](SavedBox const& a, SavedBox const& b) {
    return !a.shape.empty() && a.offsets[0] < b.offsets[0];
  });
  return boxes;
}

/// Each box against those before it that reach its first row.
void check_overlap(SavedTensor const& tensor, std::vector<SavedBox> const& sorted,
                   std::span<std::string const> file_names) {
  std::vector<SavedBox> active;
  for (SavedBox const& box : sorted) {
    std::erase_if(active, [&](SavedBox const& earlier) {
      return !box.shape.empty() && end_of(earlier, 0) <= box.offsets[0];
    });
    for (SavedBox const& earlier : active)
      if (overlap(earlier, box))
        refuse_damaged("tensor ", tensor.key, ": the parts in ", text_of_box(earlier, file_names),
                       " and ", text_of_box(box, file_names),
                       " overlap: is a file left over from another save?");
    active.push_back(box);
  }
}

/// For boxes that do not overlap but are too few: the first row at which something is missing.
std::int64_t first_hole(SavedTensor const& tensor, std::vector<SavedBox> const& sorted) {
  std::int64_t row = 0;
  for (SavedBox const& box : sorted) {
    if (box.shape.empty() || box.offsets[0] > row) break;
    row = std::max(row, end_of(box, 0));
  }
  return std::min(row, tensor.shape.empty() ? 0 : tensor.shape[0]);
}

/// A box as runs: elements that lie one after the other in the whole tensor and in the box, as many
/// together as do. Runs ascend in both.
class Runs {
 public:
  /// REQUIRES: a box with elements, as many dimensions as the whole.
  Runs(SavedBox const& box, std::span<std::int64_t const> whole) : box_(box), whole_(whole) {
    cut_ = whole.size() - 1;
    while (cut_ > 0 && box.shape[cut_] == whole[cut_]) --cut_;
    std::int64_t const inner = numel_of(whole.subspan(cut_ + 1));
    numel_ = box.shape[cut_] * inner;
    first_ = box.offsets[cut_] * inner;
    stride_ = whole[cut_] * inner;
    count_ = numel_of(box.shape.first(cut_));
  }

  std::int64_t count() const { return count_; }
  /// Elements of each.
  std::int64_t numel() const { return numel_; }

  /// Where a run lies in the whole.
  ElementRange operator[](std::int64_t run) const {
    std::int64_t begin = first_;
    std::int64_t stride = stride_;
    for (std::size_t d = cut_; d-- > 0;) {
      begin += (run % box_.shape[d] + box_.offsets[d]) * stride;
      run /= box_.shape[d];
      stride *= whole_[d];
    }
    return {.begin = begin, .end = begin + numel_};
  }

  /// The first run that ends behind an element, or count().
  std::int64_t first_behind(std::int64_t element) const {
    std::int64_t begin = 0;
    std::int64_t end = count_;
    while (begin < end) {
      std::int64_t const middle = begin + (end - begin) / 2;
      if ((*this)[middle].end <= element)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }

 private:
  SavedBox box_;
  std::span<std::int64_t const> whole_;
  std::size_t cut_;         // the innermost dimension that the box does not have whole
  std::int64_t numel_ = 0;  // of a run
  std::int64_t first_ = 0;  // in the dimensions from cut_ on
  std::int64_t stride_ = 0;
  std::int64_t count_ = 0;
};

/// Such a box has whole slices of a dimension, or lies in one: so the slices that a range has whole
/// are one box, and what it has of those before and behind are boxes by themselves.
void append_boxes(ElementRange range, std::span<std::int64_t const> shape, std::size_t dimension,
                  std::vector<RangeAsBox>& boxes) {
  if (range.numel() == 0) return;
  std::int64_t const slice = numel_of(shape.subspan(dimension + 1));
  std::int64_t const first = (range.begin + slice - 1) / slice * slice;
  std::int64_t const last = range.end / slice * slice;
  if (first > last) return append_boxes(range, shape, dimension + 1, boxes);
  append_boxes({range.begin, first}, shape, dimension + 1, boxes);
  if (first < last) boxes.push_back({{first, last}, box_of({first, last}, shape).value()});
  append_boxes({last, range.end}, shape, dimension + 1, boxes);
}

/// A box that is one run.
struct BoxAsRun {
  ElementRange range;
  SavedRuns::Place place;
};

/// The elements of a box that is one run, or nothing. REQUIRES: it lies inside the whole.
std::optional<ElementRange> as_range(SavedBox const& box, std::span<std::int64_t const> whole) {
  if (whole.empty()) return std::nullopt;
  std::int64_t begin = 0;
  std::int64_t numel = 1;
  std::int64_t stride = 1;
  for (std::size_t d = whole.size(); d-- > 0; stride *= whole[d]) {
    // Behind a dimension that the box does not have whole, its elements follow each other only
    // within one slice.
    if (numel != stride && box.shape[d] != 1) return std::nullopt;
    begin += box.offsets[d] * stride;
    numel *= box.shape[d];
  }
  return ElementRange{begin, begin + numel};
}

/// Do runs that ascend by their beginnings have every element once?
bool tiles(std::span<BoxAsRun const> runs, std::int64_t numel) {
  std::int64_t end = 0;
  for (BoxAsRun const& run : runs) {
    if (run.range.begin != end) return false;
    end = run.range.end;
  }
  return end == numel && numel > 0;
}

/// Ranges of a shard, and how many of its elements lie before each.
class OwnRanges {
 public:
  explicit OwnRanges(std::span<ElementRange const> ranges) : ranges_(ranges) {
    before_.reserve(ranges.size());
    std::int64_t numel = 0;
    for (ElementRange const range : ranges) {
      before_.push_back(numel);
      numel += range.numel();
    }
  }

  std::size_t count() const { return ranges_.size(); }
  ElementRange operator[](std::size_t i) const { return ranges_[i]; }
  std::int64_t before(std::size_t i) const { return before_[i]; }
  /// The first that ends behind an element, or count().
  std::size_t first_behind(std::int64_t element) const {
    auto const found = std::partition_point(
        ranges_.begin(), ranges_.end(), [&](ElementRange range) { return range.end <= element; });
    return static_cast<std::size_t>(found - ranges_.begin());
  }

 private:
  std::span<ElementRange const> ranges_;
  std::vector<std::int64_t> before_;
};

/// What a box has of the shard, run by run.
void plan_box(SavedBox const& box, SavedTensor const& tensor, OwnRanges const& owned,
              std::uint64_t size, std::vector<ReadRange>& ranges) {
  Runs const runs(box, tensor.shape);
  std::int64_t const last = runs[runs.count() - 1].end;
  for (std::size_t i = owned.first_behind(runs[0].begin); i < owned.count(); ++i) {
    ElementRange const own = owned[i];
    if (own.begin >= last) return;
    for (std::int64_t r = runs.first_behind(own.begin); r < runs.count(); ++r) {
      ElementRange const run = runs[r];
      std::int64_t const begin = std::max(run.begin, own.begin);
      std::int64_t const end = std::min(run.end, own.end);
      if (begin >= end) break;
      std::int64_t const in_box = r * runs.numel() + begin - run.begin;
      std::int64_t const to = owned.before(i) + begin - own.begin;
      ranges.push_back({.file = box.file,
                        .begin = box.begin + static_cast<std::uint64_t>(in_box) * size,
                        .bytes = static_cast<std::uint64_t>(end - begin) * size,
                        .to = static_cast<std::uint64_t>(to) * size});
    }
  }
}

void plan_boxes(SavedTensor const& tensor, ShardDescription const& shard, std::uint64_t size,
                std::vector<ReadRange>& ranges) {
  OwnRanges const owned(shard.ranges);
  for (SavedBox const box : tensor.boxes)
    if (box.numel() > 0) plan_box(box, tensor, owned, size, ranges);
}

}  // namespace

std::int64_t SavedTensor::numel() const {
  return numel_of(shape);
}

void check_cover(SavedTensor const& tensor, std::span<std::string const> file_names) {
  if (!tensor.runs.empty()) return;  // R1
  std::int64_t held = 0;
  for (SavedBox const box : tensor.boxes) {
    check_bounds(tensor, box, file_names);
    held += box.numel();
  }
  std::vector<SavedBox> const sorted = by_row(tensor);
  check_overlap(tensor, sorted, file_names);
  std::int64_t const numel = tensor.numel();
  if (held != numel)
    refuse_damaged("tensor ", tensor.key, ": ", std::to_string(held), " of ", std::to_string(numel),
                   " elements of ", text_of_shape(tensor.shape),
                   " are saved; the first that is missing is in row ",
                   std::to_string(first_hole(tensor, sorted)), ": is a file missing?");
}

std::optional<Box> box_of(ElementRange range, std::span<std::int64_t const> shape) {
  Box box{.offsets = std::vector<std::int64_t>(shape.size(), 0),
          .shape = {shape.begin(), shape.end()}};
  std::int64_t inner = numel_of(shape);
  if (inner == 0) return box;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    inner /= shape[d];
    box.offsets[d] = range.begin / inner;
    box.shape[d] = range.numel() / inner;
    if (range.begin % inner == 0 && range.end % inner == 0) break;
    if ((range.end - 1) / inner != box.offsets[d]) return std::nullopt;
    box.shape[d] = 1;
    range.begin %= inner;
    range.end -= box.offsets[d] * inner;
  }
  return box;
}

std::vector<RangeAsBox> boxes_of(ElementRange range, std::span<std::int64_t const> shape) {
  std::vector<RangeAsBox> boxes;
  if (range.numel() == 0)
    boxes.push_back({range, box_of(range, shape).value()});
  else
    append_boxes(range, shape, 0, boxes);
  return boxes;
}

void find_runs(SavedTensor& tensor) {
  tensor.runs = {};
  std::vector<BoxAsRun> found;
  found.reserve(tensor.boxes.size());
  for (SavedBox const box : tensor.boxes) {
    if (!lies_inside(box, tensor.shape)) return;
    if (box.numel() == 0) continue;
    std::optional<ElementRange> const range = as_range(box, tensor.shape);
    if (!range) return;
    found.push_back({*range, {.begin = box.begin, .file = box.file}});
  }
  auto const by_begin = [](BoxAsRun const& a, BoxAsRun const& b) {
    return a.range.begin < b.range.begin;
  };
  if (!std::is_sorted(found.begin(), found.end(), by_begin))
    std::sort(found.begin(), found.end(), by_begin);
  if (!tiles(found, tensor.numel())) return;
  tensor.runs.reserve(found.size());
  for (BoxAsRun const& run : found) tensor.runs.add(run.range.end, run.place);
}

void plan_reads(SavedTensor const& tensor, ShardDescription const& shard,
                std::vector<ReadRange>& ranges) {
  ADAMANT_REAL_ASSERT(tensor.shape == shard.global_shape);
  std::uint64_t const size = bytes_of(shard.format);
  if (tensor.runs.empty())
    plan_boxes(tensor, shard, size, ranges);
  else
    plan_reads(tensor.runs, shard.ranges, size, ranges);
}

}  // namespace adamant::real
