// Compares what an engine's ranks hold with the oracle's whole tensors: which elements, bits,
// gradients that there should or should not be, step counters, and the parameters that a backward
// gathered. Laws: values.bitwise, values.interval, ranks.agree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oracle/explain/step_trace.h"
#include "oracle/layout/layout.h"
#include "scenarios/judge/findings.h"
#include "scenarios/judge/formulas/formulas.h"
#include "scenarios/judge/quantised.h"
#include "scenarios/judge/reference.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// An element of which somebody wants to know what its step by another arithmetic started from.
struct WatchedElement {
  int parameter = -1;
  std::int64_t index = 0;
  std::optional<oracle::SeenStep> step = {};
};

class ValueJudge {
 public:
  ValueJudge(Reference& reference, RunFindings& findings)
      : reference_(reference), findings_(findings) {}

  /// A world stands of which these are the shards. REQUIRES: before anything is compared.
  void begin_world(oracle::Layout layout) { layout_ = std::move(layout); }

  oracle::Layout const& layout() const { return layout_; }

  /// By whose formulas it steps: what it may store, and what can be compared.
  void judge_by(Formulas const& formulas) { formulas_ = &formulas; }

  /// The law that values, counters and settings which differ from the oracle's break; of a load
  /// also who held what when it was saved, where that is known.
  void judge_as(Law law, std::optional<oracle::Layout> saved = {}) {
    law_ = law;
    saved_ = std::move(saved);
  }

  WatchedElement& watched() { return watched_; }

  /// Every rank's shard of one tensor, in place, against the oracle's elements; those of a replica
  /// against the first one's. Of a state with a scale that first: with another one all numbers are
  /// others.
  void compare(WorldView const& world, int parameter, TensorKind kind) {
    hold(world, parameter, kind, findings_);
  }
  /// Has compare() nothing to report? Tensors may be asked about on several threads.
  bool agrees(WorldView const& world, int parameter, TensorKind kind) const;
  /// What each rank sees of the whole tensor against the oracle's, where the world shows it.
  void compare_whole(WorldView const& world, int parameter, TensorKind kind);

  /// A whole tensor, put together from the first ranks that hold all of it.
  struct Gathered {
    std::vector<float> values;
    NumberFormat format = NumberFormat::fp32;  // as it is stored
  };
  /// Nothing where a rank does not hold its elements, which is reported.
  std::optional<Gathered> gather(WorldView const& world, int parameter, TensorKind kind);
  /// What of a tensor these elements are, for reports, in any order; nothing where there are none.
  std::optional<WrongElements> told(std::vector<ElementRange> elements, int parameter,
                                    TensorKind kind) const;
  /// Where an element is, likewise.
  Site site_of(int parameter, TensorKind kind, std::int64_t index) const;

  /// Does each rank say the right thing about having a gradient, and about steps?
  void compare_flags(WorldView const& world) { hold_flags(world, findings_); }
  /// Every rank's settings of every group.
  void compare_groups(WorldView const& world) { hold_groups(world, findings_); }
  /// Do all ranks say the right thing about loss scale, skipped steps and norm? Of a world with an
  /// arithmetic of its own: about the scale and its growth, and right after a step about whether it
  /// was skipped.
  void compare_scaling(WorldView const& world, bool stepped = false) {
    hold_scaling(world, stepped, findings_);
  }
  /// Would these three have nothing to report?
  bool flags_agree(WorldView const& world) const;

  /// Did every rank that computed see the oracle's whole parameter, by its fingerprint?
  void compare_gathered(WorldView const& world, int parameter, std::uint64_t expected);

  /// Holds the gradient that one backward reduced to the bound of any order of summation, and hands
  /// it to the oracle.
  void admit_gradient(WorldView const& world, int parameter, std::int64_t backward);

 private:
  /// The elements of a tensor that a rank should hold, and whether it does.
  struct Owned {
    std::span<ElementRange const> ranges;
    Shard held;
    std::optional<QuantisedShard> quantised = {};  // what it should hold, where there is a recipe
    bool usable = false;
  };
  std::string const& parameter_name(int parameter) const {
    return reference_.model().spec(parameter).name;
  }
  Tensor tensor_of(int parameter, TensorKind kind) const {
    return {.parameter = parameter_name(parameter), .kind = kind};
  }
  // What differs goes to `found`.
  void hold(WorldView const& world, int parameter, TensorKind kind, RunFindings& found) const;
  void hold_flags(WorldView const& world, RunFindings& found) const;
  void hold_groups(WorldView const& world, RunFindings& found) const;
  void hold_scaling(WorldView const& world, bool stepped, RunFindings& found) const;
  void hold_scaling(int rank, RankScaling const& expected, RankScaling const& actual,
                    RunFindings& found) const;
  void hold_to_replica(WorldView const& world, Owned const& owned, int rank, int parameter,
                       TensorKind kind, RunFindings& found) const;
  bool groups_agree(WorldView const& world, int rank, int group) const;
  bool fits(ParameterSpec const& spec, TensorKind kind, NumberFormat held) const;
  Owned owned_by(WorldView const& world, int rank, int parameter, TensorKind kind) const;
  void report_other_elements(Owned const& owned, int rank, int parameter, TensorKind kind,
                             RunFindings& found) const;
  bool is_compared(WorldView const& world, int rank, int parameter, TensorKind kind) const;
  float scale_for(int rank, int parameter, TensorKind kind) const;
  /// Of two numbers of one tensor.
  std::uint64_t steps_between(Owned const& owned, TensorKind kind,
                              oracle::Difference const& found) const;
  /// Is the scale the oracle's, or of a replica the first one's? Otherwise that is reported.
  bool scale_is_right(WorldView const& world, Owned const& owned, int rank, int parameter,
                      TensorKind kind, RunFindings& found) const;
  /// Likewise of a quantised parameter: all that its numbers are read from.
  bool codes_are_right(WorldView const& world, Owned const& owned, int rank, int parameter,
                       RunFindings& found) const;
  std::optional<oracle::Difference> difference(Owned const& owned, int parameter, TensorKind kind,
                                               std::vector<float>& room) const;
  /// By their values, of all ranks that are held to the oracle.
  std::optional<WrongElements> wrong_in(WorldView const& world, int parameter,
                                        TensorKind kind) const;
  /// What of a gradient is outside: what was reported first, and all of it.
  struct Outside {
    Violation* first = nullptr;
    std::vector<ElementRange> elements = {};
  };
  void admit_block(int rank, int parameter, oracle::MicrobatchReader const& read,
                   std::int64_t begin, std::span<float const> actual, int addends,
                   Outside& outside);

  Reference& reference_;
  RunFindings& findings_;
  oracle::Layout layout_{Mesh{}};
  Formulas const* formulas_ = nullptr;
  Law law_ = Law::values_bitwise;
  std::optional<oracle::Layout> saved_;
  WatchedElement watched_;
};

}  // namespace adamant::scenarios
