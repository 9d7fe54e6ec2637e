#include "real/shard/bucketed.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

namespace adamant::real {

namespace {

using Queue = std::vector<std::size_t>;  // of tensors

class Packing {
 public:
  explicit Packing(std::span<TensorSize const> tensors)
      : tensors_(tensors), placement_{.offsets = std::vector<std::int64_t>(tensors.size(), 0)} {
    for (TensorSize const& tensor : tensors)
      if (tensor.numel > 0) chunk_ = std::lcm(chunk_, tensor.row_numel);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].numel == 0) continue;
      (tensors[t].numel < chunk_ ? fragments_ : regular_).push_back(t);
    }
    std::ranges::stable_sort(fragments_, std::ranges::greater{},
                             [&](std::size_t t) { return tensors[t].numel; });
  }

  Placement pack(int shards) && {
    while (!regular_.empty()) place_regular(take(regular_, 0));
    for (std::size_t const t : fragments_) {
      std::int64_t const begin = round_up(end_, tensors_[t].row_numel);
      put(t, begin);
      end_ = begin + tensors_[t].numel;
    }
    placement_.numel = round_up(end_, chunk_ * shards);
    return std::move(placement_);
  }

 private:
  static std::size_t take(Queue& queue, std::size_t at) {
    std::size_t const tensor = queue[at];
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
    return tensor;
  }

  void put(std::size_t tensor, std::int64_t offset) { placement_.offsets[tensor] = offset; }

  std::int64_t odd(std::size_t tensor) const { return tensors_[tensor].numel % chunk_; }

  void place_regular(std::size_t tensor) {
    put(tensor, end_);
    std::int64_t const filled = end_ + tensors_[tensor].numel;
    end_ = round_up(filled, chunk_);
    if (filled == end_) return;
    std::int64_t gap_end = end_;
    if (auto const partner = partner_of(tensor)) {
      std::size_t const other = take(regular_, *partner);
      gap_end = end_ - odd(other);
      put(other, gap_end);
      end_ += tensors_[other].numel / chunk_ * chunk_;
    }
    fill({filled, gap_end});
  }

  /// The first later tensor whose odd end has room beside this one's, by its place in the queue.
  std::optional<std::size_t> partner_of(std::size_t tensor) const {
    for (std::size_t at = 0; at < regular_.size(); ++at) {
      std::int64_t const its = odd(regular_[at]);
      if (its != 0 && odd(tensor) + its <= chunk_) return at;
    }
    return std::nullopt;
  }

  struct Gap {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  void fill(Gap gap) {
    for (std::size_t at = 0; at < fragments_.size();) {
      TensorSize const& size = tensors_[fragments_[at]];
      std::int64_t const begin = round_up(gap.begin, size.row_numel);
      if (begin + size.numel > gap.end) {
        ++at;
        continue;
      }
      put(take(fragments_, at), begin);
      gap.begin = begin + size.numel;
    }
  }

  std::span<TensorSize const> tensors_;
  std::int64_t chunk_ = 1;
  Queue regular_;    // of a chunk and more, in order
  Queue fragments_;  // smaller ones, largest first
  std::int64_t end_ = 0;
  Placement placement_;
};

}  // namespace

Placement place_bucketed(std::span<TensorSize const> tensors, int shards) {
  return Packing(tensors).pack(shards);
}

}  // namespace adamant::real
