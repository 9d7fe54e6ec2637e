// Which elements of every parameter this rank owns, and where they lie in its flat buffers. By
// which rule they are its own is said in a file of each layout's name (fsdp2.h). Numbers only: it
// owns no memory and knows nothing of devices.
//
// Parameter of n elements in a world of W ranks, c elements a chunk, the same on every rank:
//   owned:       ranges of the whole tensor; storage has their elements one after the other
//   flat buffer of one kind: parameters in order, a chunk each, in the format that this parameter
//                has for that kind, rounded up to 16 bytes
//   gathered:    W c elements, the first n of them the tensor, rounded up to 16 bytes
//   A quantised parameter has codes there, see real/quantise/recipe_shape.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/quantise/recipe_shape.h"

namespace adamant::real {

/// What a layout needs to know of a world.
struct RankOfWorld {
  int rank = 0;
  int world_size = 1;
};

/// How a parameter stores the numbers of a kind of tensor, or nothing where it has none of that
/// kind; codes of a quantised parameter are no numbers.
std::optional<NumberFormat> format_of(Formats const& formats, TensorKind kind);

/// What a layout decides about one parameter on one rank.
struct Cut {
  std::vector<ElementRange> ranges;  // owned: they ascend and do not overlap
  std::int64_t chunk_numel = 0;
};

/// The elements in these ranges of a whole tensor, as a shard holds them.
std::vector<float> elements_of(std::span<float const> whole, std::span<ElementRange const> ranges);

/// One parameter as this rank sees it. Units: elements unless the name says otherwise.
struct ParameterLayout {
  std::vector<ElementRange> ranges;
  std::int64_t numel = 0;        // of the whole tensor
  std::int64_t chunk_numel = 0;  // what this rank gives to and takes from a collective
  std::int64_t whole_numel = 0;  // W chunks
  Formats formats = {};
  std::array<std::optional<NumberFormat>, tensor_kind_count> format_of_kind = {};
  std::optional<RecipeShape> quantised = {};  // where the parameter is kept as codes
  /// Where its part of each kind's flat buffer begins; multiples of 16.
  std::array<std::size_t, tensor_kind_count> begin_bytes = {};

  std::int64_t shard_numel() const { return numel_of(ranges); }

  std::optional<NumberFormat> format(TensorKind kind) const {
    return format_of_kind[static_cast<std::size_t>(kind)];
  }
  /// Does it have a tensor of this kind, as numbers or as codes?
  bool has(TensorKind kind) const {
    return format(kind).has_value() || (kind == TensorKind::parameter && quantised);
  }
  std::size_t begin(TensorKind kind) const { return begin_bytes[static_cast<std::size_t>(kind)]; }
  /// Its room in a flat buffer: a chunk, rounded up to 16 bytes; 0 where it has none.
  std::size_t room_bytes(TensorKind kind) const;
  /// Its room in a gathered unit: W chunks, rounded up to 16 bytes; 0 where it has none.
  std::size_t whole_bytes(TensorKind kind) const;
};

class Layout {
 public:
  /// REQUIRES: fsdp2, others are refused before; units from 0 without gaps, never decreasing; every
  ///           shape has a dimension; a quantised parameter has a shape that its recipe takes, and
  ///           a main weight in fp32.
  Layout(std::span<ParameterSpec const> parameters, RankOfWorld where,
         LayoutKind layout = LayoutKind::fsdp2);

  int parameter_count() const { return static_cast<int>(parameters_.size()); }
  int unit_count() const { return static_cast<int>(units_.size()); }
  ParameterLayout const& operator[](int parameter) const;
  /// The parameters of a unit, in registration order.
  std::span<int const> unit(int unit) const;

  /// Bytes of the flat buffer of one kind.
  std::size_t flat_bytes(TensorKind kind) const {
    return flat_bytes_[static_cast<std::size_t>(kind)];
  }

 private:
  std::vector<ParameterLayout> parameters_;
  std::vector<std::vector<int>> units_;
  std::array<std::size_t, tensor_kind_count> flat_bytes_ = {};
};

}  // namespace adamant::real
