// Which elements of every parameter, and of what belongs to it, each rank of a world holds. A
// table: it does not know by which rule it was filled, and knows numbers only, no memory and no
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::oracle {

/// What ranks hold of parameters, and of gradients and states, which are all cut alike. A rank may
/// hold several ranges of one tensor, which ascend and do not overlap; its storage of a tensor has
/// their elements one after the other. Replicas hold the same, but for gradients and states where
/// the mesh cuts these across.
class Layout {
 public:
  explicit Layout(Mesh const& mesh, LayoutKind kind = LayoutKind::fsdp2);

  /// What the next shard holds of parameters: all shards of the first parameter come first, then
  /// all of the second.
  void add(std::span<ElementRange const> held);

  /// What the next rank holds of gradients and states, in the same order, rank by rank.
  ///
  /// REQUIRES: the mesh cuts states across; otherwise they are cut as parameters are.
  void add_states(std::span<ElementRange const> held);

  Mesh const& mesh() const { return mesh_; }
  LayoutKind kind() const { return kind_; }

  /// So many ranks, from 0 on, hold one copy of everything of that kind; the others hold the same
  /// as the one so many before them.
  int holder_count(TensorKind kind) const {
    return kind == TensorKind::parameter ? mesh_.shards : mesh_.state_shards();
  }

  /// Valid until more is added.
  std::span<ElementRange const> ranges(int parameter, int rank, TensorKind kind) const;

  /// The lowest rank that holds an element of that kind. REQUIRES: there is one.
  int owner(int parameter, std::int64_t element, TensorKind kind) const;
  /// Of the ranks that hold one copy, those that hold any of these elements, which ascend.
  std::vector<int> holders_of(std::span<ElementRange const> elements, int parameter,
                              TensorKind kind) const;

 private:
  /// Ranges of [parameter][holder].
  struct Table {
    std::vector<ElementRange> ranges = {};
    std::vector<std::size_t> ends = {};  // in ranges

    void add(std::span<ElementRange const> held);
    std::span<ElementRange const> at(std::size_t index) const;
  };

  Mesh mesh_;
  LayoutKind kind_;
  Table parameters_;  // by shard
  Table states_;      // by rank; only where the mesh cuts them across
};

/// All parameters on a mesh: one range each, perhaps an empty one, on every rank.
///
/// REQUIRES: no first_parameter_with_too_much_padding().
Layout lay_out(LayoutKind kind, std::span<ParameterSpec const> parameters, Mesh const& mesh);

}  // namespace adamant::oracle
