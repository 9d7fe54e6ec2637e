#include "real/checkpoint/saved_runs.h"

#include <algorithm>
#include <type_traits>

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

/// Walks along runs for ranges that ascend. Whose piece is next is decided by the two borders at
/// hand alone: nothing is searched for but where a range is far behind the one before it. What is
/// at hand is kept in bytes, so that a border is multiplied once and not for each piece beside it.
///
/// `Read` is ReadRange or ReadPiece.
template <typename Read>
class Merge {
 public:
  /// REQUIRES: the first range does not begin before run `run` does.
  Merge(SavedRuns const& runs, std::size_t run, std::uint64_t element_bytes, Read* reads)
      : runs_(runs), element_bytes_(element_bytes), reads_(reads) {
    enter(run);
  }

  /// Writes what fills a range whose bytes go to `to` and further. REQUIRES: elements, none of them
  /// before the last range's end.
  void fill(ElementRange own, std::uint64_t to) {
    std::uint64_t begin = bytes_of(own.begin);
    std::uint64_t const end = bytes_of(own.end);
    if (run_end_ <= begin) go_to(own.begin);
    while (run_end_ < end) {
      put(begin, run_end_, to);
      to += run_end_ - begin;
      begin = run_end_;
      next();
    }
    put(begin, end, to);
  }

  std::size_t written() const { return written_; }

 private:
  void go_to(std::int64_t element) {
    next();
    if (run_end_ <= bytes_of(element)) enter(runs_.at(element));
  }

  void enter(std::size_t run) {
    end_ = runs_.borders().data() + run;
    place_ = runs_.places().data() + run;
    run_end_ = bytes_of(*end_);
    take();
  }

  void next() {
    ++place_;
    take();
  }

  /// Each run begins where the one before it ends. Places of a large model have to come from
  /// memory: they are asked for eight lines ahead, which saves 5 % of the plan of all.
  void take() {
    __builtin_prefetch(place_ + 32);
    file_ = place_->file;
    in_file_ = place_->begin - run_end_;
    run_end_ = bytes_of(*++end_);
  }

  std::uint64_t bytes_of(std::int64_t elements) const {
    return static_cast<std::uint64_t>(elements) * element_bytes_;
  }

  /// Bytes [begin, end) of the tensor, of the run at hand.
  void put(std::uint64_t begin, std::uint64_t end, std::uint64_t to) {
    Read& read = reads_[written_++];
    read.begin = in_file_ + begin;
    read.bytes = end - begin;
    read.file = file_;
    if constexpr (std::is_same_v<Read, ReadRange>) read.to = to;
  }

  SavedRuns const& runs_;
  std::uint64_t element_bytes_;
  Read* reads_;
  std::size_t written_ = 0;
  // The run at hand: its end in elements and in bytes, and what to add to a place in the tensor for
  // the one in the file, modulo 2^64.
  std::int64_t const* end_;
  SavedRuns::Place const* place_;
  std::uint64_t run_end_;
  std::uint64_t in_file_;
  int file_;
};

bool has_elements(ElementRange range) {
  return range.numel() > 0;
}

}  // namespace

// Most worlds cut a tensor into parts of one size: then the first guess is right, and two borders
// are looked at instead of a dozen, each of which may have to come from memory.
std::size_t SavedRuns::at(std::int64_t element) const {
  auto const guess = static_cast<std::size_t>(element / first_numel_);
  if (guess < places_.size() && borders_[guess] <= element && element < borders_[guess + 1])
    return guess;
  auto const above = std::upper_bound(borders_.begin(), borders_.end(), element);
  return static_cast<std::size_t>(above - borders_.begin()) - 1;
}

void SavedRuns::reserve(std::size_t count) {
  borders_.reserve(count + 1);
  places_.reserve(count);
}

void SavedRuns::add(std::int64_t end, Place place) {
  if (places_.empty()) {
    borders_.push_back(0);
    first_numel_ = end;
  }
  borders_.push_back(end);
  places_.push_back(place);
}

void plan_reads(SavedRuns const& runs, std::span<ElementRange const> own,
                std::uint64_t element_bytes, std::vector<ReadRange>& ranges) {
  auto const first = std::find_if(own.begin(), own.end(), has_elements);
  if (first == own.end()) return;
  std::size_t const first_run = runs.at(first->begin);
  std::size_t const last_run = runs.at(own.back().end - 1);
  std::size_t const before = ranges.size();
  ranges.resize(before + last_run - first_run + own.size());  // at most
  ReadRange* const reads = ranges.data() + before;
  Merge merge(runs, first_run, element_bytes, reads);
  std::uint64_t to = 0;
  for (ElementRange const range : own) {
    if (has_elements(range)) merge.fill(range, to);
    to += static_cast<std::uint64_t>(range.numel()) * element_bytes;
  }
  ranges.resize(before + merge.written());
}

void plan_reads_of_all(SavedRuns const& runs, std::span<ElementRange const> own,
                       std::uint64_t element_bytes, std::span<ReadPiece> reads,
                       std::span<std::size_t> first) {
  ADAMANT_REAL_ASSERT(first.size() == own.size() + 1);
  ADAMANT_REAL_ASSERT(reads.size() >= own.size() + runs.places().size());
  Merge merge(runs, 0, element_bytes, reads.data());
  std::size_t* begins = first.data();
  for (ElementRange const range : own) {
    *begins++ = merge.written();
    if (has_elements(range)) merge.fill(range, 0);
  }
  *begins = merge.written();
}

}  // namespace adamant::real
