// Which elements of every parameter this rank has, and where they lie in its flat buffers. By which
// rule they are its own is said in a file of each layout's name (fsdp2.h, flat.h, bucketed.h).
// Numbers only: it owns no memory and knows nothing of devices.
//
//   flat buffer of one kind: bucket after bucket, this rank's part of each (bucket.h)
//   parameter of n elements at an offset of its bucket: those of its elements that lie in the
//                rank's part, one range of the tensor, perhaps an empty one
//   Of parameters a rank may have more than it steps: where states are cut over replicas, replicas
//                have the same parameters, and each steps a part of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/quantise/recipe_shape.h"
#include "real/shard/bucket.h"
#include "real/shard/ownership.h"

namespace adamant::real {

/// One rank among all of a group.
struct RankOfWorld {
  int rank = 0;
  int world_size = 1;
};

/// The elements in these ranges of a whole tensor, as a shard holds them.
std::vector<float> elements_of(std::span<float const> whole, std::span<ElementRange const> ranges);

/// One parameter as this rank sees it. Units: elements unless the name says otherwise.
struct ParameterLayout {
  ElementRange held;        // of the parameter itself
  ElementRange stepped;     // of all that belongs to the optimizer: in `held`
  std::int64_t numel = 0;   // of the whole tensor
  std::int64_t offset = 0;  // of the whole tensor, in its bucket
  int bucket = 0;
  Formats formats = {};
  std::array<std::optional<NumberFormat>, tensor_kind_count> format_of_kind = {};
  std::optional<RecipeShape> quantised = {};  // where the parameter is kept as codes
  /// Where its elements begin in each kind's flat buffer.
  std::array<std::size_t, tensor_kind_count> begin_bytes = {};

  ElementRange const& range(TensorKind kind) const {
    return kind == TensorKind::parameter ? held : stepped;
  }
  std::int64_t held_numel() const { return held.numel(); }
  std::int64_t stepped_numel() const { return stepped.numel(); }

  std::optional<NumberFormat> format(TensorKind kind) const {
    return format_of_kind[static_cast<std::size_t>(kind)];
  }
  /// Does it have a tensor of this kind, as numbers or as codes?
  bool has(TensorKind kind) const {
    return format(kind).has_value() || (kind == TensorKind::parameter && quantised);
  }
  /// Where the first element of a kind lies. A multiple of 16 in fsdp2, in `flat` of 8 elements.
  std::size_t begin(TensorKind kind) const { return begin_bytes[static_cast<std::size_t>(kind)]; }
  /// Where the first element lies that is stepped: of a parameter perhaps not its first.
  std::size_t stepped_begin(TensorKind kind) const;
};

class Layout {
 public:
  /// REQUIRES: units from 0 without gaps, never decreasing; every shape has a dimension; a
  ///           quantised parameter has a shape that its recipe takes, and a main weight in fp32;
  ///           of `bucketed`, that no buffer has more elements than 64 bits count.
  Layout(std::span<ParameterSpec const> parameters, RankOfMesh const& where,
         LayoutKind layout = LayoutKind::fsdp2);

  RankOfMesh const& where() const { return where_; }
  int parameter_count() const { return static_cast<int>(parameters_.size()); }
  int unit_count() const { return unit_count_; }
  ParameterLayout const& operator[](int parameter) const;
  Bucket const& bucket_of(int parameter) const;
  std::span<Bucket const> buckets() const { return buckets_; }
  std::span<Bucket const> buckets_of(int unit) const;
  /// All parameters as they lie in flat buffers.
  std::vector<int> const& storage_order() const { return storage_order_; }

  /// Bytes of the flat buffer of one kind.
  std::size_t flat_bytes(TensorKind kind) const {
    return flat_bytes_[static_cast<std::size_t>(kind)];
  }

 private:
  void lay_out(Bucket& bucket, int index);

  RankOfMesh where_;
  std::vector<ParameterLayout> parameters_;
  std::vector<Bucket> buckets_;  // by unit
  std::vector<int> storage_order_;
  int unit_count_ = 0;
  std::array<std::size_t, tensor_kind_count> flat_bytes_ = {};
};

}  // namespace adamant::real
