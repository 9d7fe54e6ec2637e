// Elements of a tensor, and what of it they are: all of it, what ranks hold, or a block. It does
// not know why anybody asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/layout/layout.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// What is said of a part holds for exactly these elements.
struct SomeElements {
  enum class Part {
    some,  // of what `ranks` hold, where these are not all
    whole,
    shards,        // all that `ranks` hold
    saved_shards,  // all that `ranks` held when the tensor was saved
    block,         // those that share a scale by its recipe
    last_block,
  };
  static constexpr std::size_t ranges_kept = 16;

  std::vector<ElementRange> ranges = {};  // ascending, apart: the first few
  std::int64_t count = 0;                 // of elements
  Part part = Part::some;
  std::vector<int> ranks = {};
  friend bool operator==(SomeElements const&, SomeElements const&) = default;
};

/// Of which tensor they are, and who holds what of it: now, and when what was loaded was saved.
struct Whereabouts {
  ParameterSpec const& spec;
  int parameter = 0;
  TensorKind kind = TensorKind::parameter;
  Layout const* now = nullptr;  // null: not known
  Layout const* saved = nullptr;
};

/// Of these, the first part that they are exactly, from `whole` on; else `some`.
/// REQUIRES: there are some; ranges do not overlap, and come in any order.
SomeElements some_elements(std::vector<ElementRange> elements, Whereabouts const& of);

}  // namespace adamant::oracle
