#include "scenarios/judge/value_judge.h"

#include <algorithm>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/quantise/states.h"
#include "scenarios/judge/oracle_view.h"
#include "scenarios/judge/shard_values.h"

namespace adamant::scenarios {

namespace {

/// The element that lies so far from the beginning of a shard's storage.
std::int64_t element_at(std::span<ElementRange const> ranges, std::int64_t stored) {
  for (ElementRange const range : ranges) {
    if (stored < range.numel()) return range.begin + stored;
    stored -= range.numel();
  }
  return -1;
}

/// REQUIRES: the parameter has such a tensor.
NumberFormat format_of(ParameterSpec const& spec, TensorKind kind) {
  return oracle::stored_format(spec.formats, kind).value();
}

}  // namespace

// Which elements they are is the oracle's layout, not the engine's word: an engine that lost some
// must not be compared with nothing.
ValueJudge::Owned ValueJudge::owned_by(WorldView const& world, int rank, int parameter,
                                       TensorKind kind) const {
  auto const& spec = reference_.model().spec(parameter);
  Owned owned{.ranges = layout_.ranges(parameter, rank, kind),
              .held = world.shard(rank, parameter, kind)};
  owned.usable = std::ranges::equal(owned.held.ranges, owned.ranges) &&
                 owned.held.numel() == numel_of(owned.ranges) &&
                 fits(spec, kind, owned.held.format);
  bool const quantised = kind == TensorKind::parameter && spec.formats.recipe;
  if (owned.usable && quantised)
    owned.quantised = quantised_shard(reference_.model(), parameter, owned.ranges,
                                      has_scales_of_all(*spec.formats.recipe, layout_));
  owned.usable = owned.usable && quantised == (owned.held.quantised != nullptr) &&
                 (!quantised || have_one_form(*owned.quantised, *owned.held.quantised));
  return owned;
}

bool ValueJudge::fits(ParameterSpec const& spec, TensorKind kind, NumberFormat held) const {
  return held == format_of(spec, kind) || formulas_->may_store(spec, kind, held);
}

void ValueJudge::report_other_elements(Owned const& owned, int rank, int parameter, TensorKind kind,
                                       RunFindings& found) const {
  auto const& spec = reference_.model().spec(parameter);
  Elements expected{.ranges = {owned.ranges.begin(), owned.ranges.end()},
                    .row_numel = spec.row_numel(),
                    .format = format_of(spec, kind)};
  if (kind == TensorKind::parameter) expected.recipe = spec.formats.recipe;
  Elements actual{.ranges = {owned.held.ranges.begin(), owned.held.ranges.end()},
                  .row_numel = spec.row_numel(),
                  .format = owned.held.format};
  if (owned.held.quantised) actual.recipe = owned.held.quantised->recipe;
  bool const same = std::ranges::equal(owned.held.ranges, owned.ranges);
  bool const stored = owned.held.numel() > 0 || !same;
  bool const other_type = same && owned.held.numel() == numel_of(owned.ranges);
  Violation violation{.law = law_,
                      .breach = other_type ? Breach::other_type : Breach::other_elements,
                      .rank = rank,
                      .subject = tensor_of(parameter, kind),
                      .index = owned.ranges.empty() ? -1 : owned.ranges.front().begin,
                      .expected = std::move(expected)};
  if (stored) violation.actual = std::move(actual);
  found.add(std::move(violation));
}

bool ValueJudge::is_compared(WorldView const& world, int rank, int parameter,
                             TensorKind kind) const {
  if (reference_.model().tensor(parameter, kind).empty()) return false;
  bool const comes_and_goes = kind == TensorKind::gradient || kind == TensorKind::cast_gradient;
  return !comes_and_goes || world.has_gradient(rank, parameter);
}

// Where shards have scales of their own, each has the one of its place.
float ValueJudge::scale_for(int rank, int parameter, TensorKind kind) const {
  auto const scales = reference_.model().scales(parameter, kind);
  if (scales.empty()) return 1;
  return scales[static_cast<std::size_t>(rank) % scales.size()];
}

std::uint64_t ValueJudge::steps_between(Owned const& owned, TensorKind kind,
                                        oracle::Difference const& found) const {
  NumberFormat const format = owned.held.format;
  if (has_scale(kind, format))
    return oracle::scaled_distance(found.expected, found.actual, owned.held.scale, format);
  return oracle::ulp_distance(found.expected, found.actual, format);
}

// A scale of all shards is the same on all ranks: where the first has the right one, those that
// have another disagree with it.
bool ValueJudge::scale_is_right(WorldView const& world, Owned const& owned, int rank, int parameter,
                                TensorKind kind, RunFindings& found) const {
  int const holders = layout_.holder_count(kind);
  bool const replica = rank >= holders;
  auto const held_by = [&](int other) { return world.shard(other, parameter, kind).scale; };
  float const right = replica ? held_by(rank % holders) : scale_for(rank, parameter, kind);
  if (owned.held.scale == right) return true;
  bool const shared = reference_.model().scales(parameter, kind).size() == 1;
  bool const disagrees = replica || (shared && held_by(0) == right);
  found.add({.law = disagrees ? Law::ranks_agree : law_,
             .breach = Breach::other_scale,
             .rank = rank,
             .subject = tensor_of(parameter, kind),
             .expected = Number(right),
             .actual = Number(owned.held.scale),
             .ulp = oracle::ulp_distance(right, owned.held.scale)});
  return false;
}

// As scales of states are: replicas are held to the first one, and what all ranks have of the whole
// tensor is a disagreement where the first has it right.
bool ValueJudge::codes_are_right(WorldView const& world, Owned const& owned, int rank,
                                 int parameter, RunFindings& found) const {
  if (!owned.quantised) return true;
  int const holders = layout_.holder_count(TensorKind::parameter);
  bool const replica = rank >= holders;
  Owned const first =
      owned_by(world, replica ? rank % holders : 0, parameter, TensorKind::parameter);
  if (replica && !first.usable) return true;
  QuantisedShard const& right = replica ? *first.held.quantised : *owned.quantised;
  auto other = scale_difference(right, *owned.held.quantised);
  bool const shared = other && has_scales_of_all(right.recipe, layout_);
  if (other && other->breach == Breach::other_scale && !shared) {  // its place in the whole
    auto const covered = std::ssize(right.codes) / std::ssize(right.scales);
    other->index = element_at(owned.ranges, covered * other->index) / covered;
  }
  bool const first_is_right =
      first.usable && !scale_difference(*first.quantised, *first.held.quantised);
  if (!other) {
    other = code_difference(right, *owned.held.quantised);
    if (other) other->index = element_at(owned.ranges, other->index);
  }
  if (!other) return true;
  Violation* const added =
      found.add({.law = replica || (shared && first_is_right) ? Law::ranks_agree : law_,
                 .breach = other->breach,
                 .rank = rank,
                 .subject = tensor_of(parameter, TensorKind::parameter),
                 .index = other->index,
                 .expected = other->expected,
                 .actual = other->actual,
                 .ulp = other->ulp});
  if (added != nullptr && !replica && other->breach == Breach::other_code)
    added->elements = wrong_in(world, parameter, TensorKind::parameter);
  return false;
}

/// The first element that differs from the oracle's, numbered in the whole tensor.
std::optional<oracle::Difference> ValueJudge::difference(Owned const& owned, int parameter,
                                                         TensorKind kind,
                                                         std::vector<float>& room) const {
  auto const whole = reference_.model().tensor(parameter, kind);
  std::optional<oracle::Difference> found;
  for_each_range(owned.held, room, [&](ElementRange range, std::span<float const> values) {
    if (found) return;
    found = oracle::first_difference(elements_of(whole, range), values);
    if (found) found->index += range.begin;
  });
  return found;
}

bool ValueJudge::agrees(WorldView const& world, int parameter, TensorKind kind) const {
  RunFindings found(RunFindings::Keeps::whether_any);
  hold(world, parameter, kind, found);
  return !found.any();
}

void ValueJudge::hold(WorldView const& world, int parameter, TensorKind kind,
                      RunFindings& found) const {
  std::vector<float> room;
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    if (found.full(law_)) return;
    if (!is_compared(world, rank, parameter, kind)) continue;
    Owned const owned = owned_by(world, rank, parameter, kind);
    if (!owned.usable) {
      report_other_elements(owned, rank, parameter, kind, found);
      continue;
    }
    if (!scale_is_right(world, owned, rank, parameter, kind, found)) continue;
    if (!codes_are_right(world, owned, rank, parameter, found)) continue;
    if (rank >= layout_.holder_count(kind)) {
      hold_to_replica(world, owned, rank, parameter, kind, found);
      continue;
    }
    auto other = difference(owned, parameter, kind, room);
    if (!other) continue;
    other->ulps = steps_between(owned, kind, *other);
    Site const site{.rank = rank, .subject = tensor_of(parameter, kind), .index = other->index};
    if (Violation* const added = found.add(other_value(law_, site, *other)))
      added->elements = wrong_in(world, parameter, kind);
  }
}

std::optional<WrongElements> ValueJudge::wrong_in(WorldView const& world, int parameter,
                                                  TensorKind kind) const {
  auto const whole = reference_.model().tensor(parameter, kind);
  std::vector<ElementRange> elements;
  std::vector<float> room;
  for (int rank = 0; rank < layout_.holder_count(kind); ++rank) {
    Owned const owned = owned_by(world, rank, parameter, kind);
    if (!owned.usable || !is_compared(world, rank, parameter, kind)) continue;
    for_each_range(owned.held, room, [&](ElementRange range, std::span<float const> values) {
      oracle::append_differences(elements_of(whole, range), values, range.begin, elements);
    });
  }
  return told(std::move(elements), parameter, kind);
}

// The first replica is held to the oracle, the others to the first.
void ValueJudge::hold_to_replica(WorldView const& world, Owned const& owned, int rank,
                                 int parameter, TensorKind kind, RunFindings& found) const {
  Owned const first = owned_by(world, rank % layout_.holder_count(kind), parameter, kind);
  if (!first.usable) return;
  std::vector<float> room;
  std::vector<float> room_of_first;
  auto const difference =
      oracle::first_difference(values_of(first.held, room_of_first), values_of(owned.held, room));
  if (!difference) return;
  found.add(other_value(Law::ranks_agree,
                        {.rank = rank,
                         .subject = tensor_of(parameter, kind),
                         .index = element_at(owned.ranges, difference->index)},
                        *difference));
}

Site ValueJudge::site_of(int parameter, TensorKind kind, std::int64_t index) const {
  return {.rank = layout_.owner(parameter, index, kind),
          .subject = tensor_of(parameter, kind),
          .index = index};
}

// The first rank is held to the oracle, the others to the first: what only some ranks do wrong is
// a disagreement.
void ValueJudge::hold_flags(WorldView const& world, RunFindings& found) const {
  auto const& model = reference_.model();
  for (int p = 0; p < model.parameter_count(); ++p) {
    for (int rank = 0; rank < world.rank_count(); ++rank) {
      bool const first = rank == 0;
      Law const law = first ? law_ : Law::ranks_agree;
      bool const gradient = first ? model.has_gradient(p) : world.has_gradient(0, p);
      if (world.has_gradient(rank, p) != gradient)
        found.add({.law = law,
                   .breach = Breach::gradient_presence,
                   .rank = rank,
                   .subject = tensor_of(p, TensorKind::gradient),
                   .expected = Presence{gradient},
                   .actual = Presence{!gradient}});
      std::int64_t const steps = first ? model.step_count(p) : world.step_count(0, p);
      if (world.step_count(rank, p) != steps)
        found.add({.law = law,
                   .breach = Breach::other_step_count,
                   .rank = rank,
                   .subject = StepCount{parameter_name(p)},
                   .expected = Count{steps},
                   .actual = Count{world.step_count(rank, p)}});
    }
  }
}

bool ValueJudge::flags_agree(WorldView const& world) const {
  RunFindings found(RunFindings::Keeps::whether_any);
  hold_flags(world, found);
  hold_groups(world, found);
  hold_scaling(world, false, found);
  return !found.any();
}

// A group without parameters need not exist in an engine.
bool ValueJudge::groups_agree(WorldView const& world, int rank, int group) const {
  auto const& model = reference_.model();
  if (world.group(rank, group) == model.group(group)) return true;
  for (int p = 0; p < model.parameter_count(); ++p)
    if (model.spec(p).group == group) return false;
  return !formulas_->has_empty_groups();
}

void ValueJudge::hold_groups(WorldView const& world, RunFindings& found) const {
  auto const& model = reference_.model();
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    for (int g = 0; g < model.group_count(); ++g) {
      if (groups_agree(world, rank, g)) continue;
      found.add({.law = law_,
                 .breach = Breach::other_settings,
                 .rank = rank,
                 .subject = GroupSettings{g},
                 .expected = model.group(g),
                 .actual = world.group(rank, g)});
    }
  }
}

// As flags: the first rank is held to the oracle, the others to the first.
void ValueJudge::hold_scaling(WorldView const& world, bool stepped, RunFindings& found) const {
  RankScaling expected = formulas_->comparable(scaling_of(reference_.model()), stepped);
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    RankScaling const actual = formulas_->comparable(world.scaling(rank), stepped);
    hold_scaling(rank, expected, actual, found);
    if (rank == 0) expected = actual;
  }
}

void ValueJudge::hold_scaling(int rank, RankScaling const& expected, RankScaling const& actual,
                              RunFindings& found) const {
  Law const law = rank == 0 ? law_ : Law::ranks_agree;
  auto const compare = [&](ScalingNumber what, float right, float held) {
    if (oracle::ulp_distance(right, held) == 0) return;
    found.add({.law = law,
               .breach = Breach::other_scaling,
               .rank = rank,
               .subject = what,
               .expected = Number(right),
               .actual = Number(held)});
  };
  compare(ScalingNumber::loss_scale, expected.loss_scale, actual.loss_scale);
  compare(ScalingNumber::skipped, expected.skipped ? 1.0F : 0.0F, actual.skipped ? 1.0F : 0.0F);
  compare(ScalingNumber::inverse, expected.inverse, actual.inverse);
  compare(ScalingNumber::norm, expected.norm, actual.norm);
  compare(ScalingNumber::coefficient, expected.coefficient, actual.coefficient);
  compare(ScalingNumber::max_norm, expected.max_norm.value_or(0), actual.max_norm.value_or(0));
  compare(ScalingNumber::growth_tracker, static_cast<float>(expected.growth_tracker),
          static_cast<float>(actual.growth_tracker));
  compare(ScalingNumber::hysteresis, static_cast<float>(expected.hysteresis),
          static_cast<float>(actual.hysteresis));
}

void ValueJudge::compare_gathered(WorldView const& world, int parameter, std::uint64_t expected) {
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    auto const seen = world.gathered_fingerprint(rank, parameter);
    if (!seen || *seen == expected) continue;
    findings_.add({.law = Law::values_bitwise,
                   .breach = Breach::other_gathered,
                   .rank = rank,
                   .subject = tensor_of(parameter, TensorKind::parameter),
                   .expected = Digest{expected},
                   .actual = Digest{*seen}});
  }
}

}  // namespace adamant::scenarios
