// Where the rows of every parameter lie in a world of W ranks (FSDP2: dimension 0, rows rounded up)
// and where they lie in this rank's flat buffers. Numbers only: it owns no memory and knows nothing
// of devices.
//
// Parameter with n rows of k elements:  rows a rank c = ceil(n / W)
//   rank r owns rows [min(n, r c), min(n, (r + 1) c)): trailing ranks may be short or empty
//   flat buffer of one kind: parameters in order, c k elements each on every rank, in the format
//                that this parameter has for that kind, rounded up to 16 bytes
//   gathered:    W c k elements, the first n k of them the tensor, rounded up to 16 bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::real {

/// What a layout needs to know of a world.
struct RankOfWorld {
  int rank = 0;
  int world_size = 1;
};

/// How a parameter stores a kind of tensor, or nothing where it has none of that kind.
std::optional<NumberFormat> format_of(Formats const& formats, TensorKind kind);

/// One parameter as this rank sees it. Units: elements unless the name says otherwise.
struct ParameterLayout {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t row_numel = 0;
  std::int64_t numel = 0;        // of the whole tensor
  std::int64_t chunk_numel = 0;  // c k: what this rank gives to and takes from a collective
  std::int64_t whole_numel = 0;  // W c k
  Formats formats = {};
  std::array<std::optional<NumberFormat>, tensor_kind_count> format_of_kind = {};
  /// Where its part of each kind's flat buffer begins; multiples of 16.
  std::array<std::size_t, tensor_kind_count> begin_bytes = {};

  std::int64_t shard_numel() const { return (row_end - row_begin) * row_numel; }
  std::int64_t first_element() const { return row_begin * row_numel; }

  std::optional<NumberFormat> format(TensorKind kind) const {
    return format_of_kind[static_cast<std::size_t>(kind)];
  }
  std::size_t begin(TensorKind kind) const { return begin_bytes[static_cast<std::size_t>(kind)]; }
  /// Its room in a flat buffer: c k elements, rounded up to 16 bytes; 0 where it has none.
  std::size_t room_bytes(TensorKind kind) const;
  /// Its room in a gathered unit: W c k elements, rounded up to 16 bytes.
  std::size_t whole_bytes(NumberFormat format) const;
};

class Layout {
 public:
  /// REQUIRES: units from 0 without gaps, never decreasing; every shape has a dimension.
  Layout(std::span<ParameterSpec const> parameters, RankOfWorld where);

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
