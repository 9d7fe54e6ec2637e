// Which elements of every parameter each rank of a world owns. A table: it does not know by which
// rule it was filled, and knows numbers only, no memory and no values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::oracle {

/// What ranks own of parameters. A rank may own several ranges of one, which ascend and do not
/// overlap; its storage of a tensor has their elements one after the other.
class Layout {
 public:
  explicit Layout(int world_size);

  /// What the next rank owns: all ranks of the first parameter come first, then all of the second.
  void add(std::span<ElementRange const> owned);

  /// Over how many ranks parameters are cut.
  int world_size() const { return static_cast<int>(world_size_); }

  /// Valid until the next add().
  std::span<ElementRange const> ranges(int parameter, int rank) const;

  /// The first rank that owns an element. REQUIRES: there is one.
  int owner(int parameter, std::int64_t element) const;

 private:
  std::size_t world_size_;
  std::vector<ElementRange> ranges_;
  std::vector<std::size_t> ends_;  // in ranges_, of [parameter][rank]
};

/// All parameters in a world of so many shards.
///
/// REQUIRES: fsdp2. Scenarios with another layout are refused before they come here.
Layout lay_out(LayoutKind kind, std::span<ParameterSpec const> parameters, int world_size);

}  // namespace adamant::oracle
