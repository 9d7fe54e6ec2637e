#include "oracle/layout/packing.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "oracle/check.h"

namespace adamant::oracle {
namespace {

// So small that sums of a few of them do not overflow.
constexpr std::int64_t total_numel_max = std::int64_t{1} << 60;
constexpr std::int64_t parts_max = std::int64_t{1} << 40;
constexpr std::int64_t flat_alignment_numel = 8;

/// The largest buffer that has no more padding than is allowed.
std::int64_t size_max(std::span<TensorSize const> tensors, std::int64_t parts) {
  check(parts >= 1, "there is a part");
  check(parts <= parts_max, "so many parts do not overflow");
  std::int64_t total = 0;
  for (TensorSize const tensor : tensors) {
    check(tensor.numel >= 0, "a tensor has no negative elements");
    check(tensor.numel <= total_numel_max - total, "so many elements do not overflow");
    total += tensor.numel;
  }
  return total + padding_numel_max;
}

/// The least common multiple of all rows; nothing where it is larger than `limit`.
std::optional<std::int64_t> common_row(std::span<TensorSize const> tensors, std::int64_t limit) {
  std::int64_t common = 1;
  for (TensorSize const tensor : tensors) {
    if (tensor.numel == 0) continue;
    check(tensor.numel % tensor.row_numel == 0, "a tensor has whole rows");
    std::int64_t const factor = tensor.row_numel / std::gcd(common, tensor.row_numel);
    if (factor > limit / common) return std::nullopt;
    common *= factor;
  }
  return common;
}

/// Places tensors by the rule of `bucketed`; `place` is its only verb.
class Packer {
 public:
  Packer(std::span<TensorSize const> tensors, std::int64_t common)
      : tensors_(tensors), common_(common), placed_(tensors.size()), offsets_(tensors.size()) {
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].numel == 0) continue;
      (tensors[t].numel < common ? fragments_ : regular_).push_back(t);
    }
    std::ranges::stable_sort(fragments_, std::greater(), [&](std::size_t t) { return numel(t); });
  }

  /// Returns where the last tensor ends, or nothing where that is beyond `limit`.
  std::optional<std::int64_t> place(std::int64_t limit) {
    std::int64_t next = 0;
    for (std::size_t r = 0; r < regular_.size(); ++r) {
      if (placed_[regular_[r]]) continue;
      next = place_regular(r, next);
      if (next > limit) return std::nullopt;
    }
    for (std::size_t const fragment : fragments_) {
      if (placed_[fragment]) continue;
      next = put(fragment, round_up(next, tensors_[fragment].row_numel));
      if (next > limit) return std::nullopt;
    }
    return next;
  }

  std::vector<std::int64_t> const& offsets() const { return offsets_; }

 private:
  std::int64_t numel(std::size_t tensor) const { return tensors_[tensor].numel; }
  /// Elements beyond a multiple of C.
  std::int64_t excess(std::size_t tensor) const { return numel(tensor) % common_; }

  /// Returns its end.
  std::int64_t put(std::size_t tensor, std::int64_t offset) {
    placed_[tensor] = true;
    offsets_[tensor] = offset;
    return offset + numel(tensor);
  }

  /// The r-th tensor that is no fragment, with what fits beside it. Returns the next start.
  std::int64_t place_regular(std::size_t r, std::int64_t offset) {
    std::size_t const tensor = regular_[r];
    std::int64_t const end = put(tensor, offset);
    if (excess(tensor) == 0) return end;
    std::int64_t next = round_up(end, common_);
    std::int64_t room_end = next;
    if (auto const partner = partner_of(r)) {
      room_end = next - excess(*partner);
      next = put(*partner, room_end);
    }
    fill(end, room_end);
    return next;
  }

  std::optional<std::size_t> partner_of(std::size_t r) const {
    std::int64_t const room = common_ - excess(regular_[r]);
    for (std::size_t later = r + 1; later < regular_.size(); ++later) {
      std::size_t const tensor = regular_[later];
      if (!placed_[tensor] && excess(tensor) != 0 && excess(tensor) <= room) return tensor;
    }
    return std::nullopt;
  }

  void fill(std::int64_t begin, std::int64_t end) {
    // Many gaps are too small for the first of very many fragments.
    auto const room = [&](std::size_t t) { return numel(t); };
    auto next = std::ranges::lower_bound(fragments_, end - begin, std::greater(), room);
    for (; next != fragments_.end() && begin < end; ++next) {
      std::int64_t const start = round_up(begin, tensors_[*next].row_numel);
      if (!placed_[*next] && start + numel(*next) <= end) begin = put(*next, start);
    }
  }

  std::span<TensorSize const> tensors_;
  std::int64_t common_;
  std::vector<bool> placed_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::size_t> regular_;    // in the order in which they were given
  std::vector<std::size_t> fragments_;  // the largest first
};

}  // namespace

std::optional<Packing> pack_flat(std::span<TensorSize const> tensors, std::int64_t parts) {
  std::int64_t const limit = size_max(tensors, parts);
  Packing packing{.offsets = std::vector<std::int64_t>(tensors.size())};
  for (std::size_t t = tensors.size(); t-- > 0;) {
    if (tensors[t].numel == 0) continue;
    packing.offsets[t] = round_up(packing.size, flat_alignment_numel);
    packing.size = packing.offsets[t] + tensors[t].numel;
  }
  packing.size = round_up(packing.size, flat_alignment_numel * parts);
  if (packing.size > limit) return std::nullopt;
  return packing;
}

std::optional<Packing> pack_bucketed(std::span<TensorSize const> tensors, std::int64_t parts) {
  std::int64_t const limit = size_max(tensors, parts);
  bool const empty = std::ranges::all_of(tensors, [](TensorSize t) { return t.numel == 0; });
  if (empty) return Packing{.offsets = std::vector<std::int64_t>(tensors.size())};
  auto const common = common_row(tensors, limit);
  if (!common || parts > limit / *common) return std::nullopt;
  Packer packer(tensors, *common);
  auto const end = packer.place(limit);
  if (!end) return std::nullopt;
  std::int64_t const size = round_up(*end, *common * parts);
  if (size > limit) return std::nullopt;
  return Packing{.offsets = packer.offsets(), .size = size};
}

}  // namespace adamant::oracle
