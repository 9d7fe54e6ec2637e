#include "scenarios/judge/value_judge.h"

#include <algorithm>
#include <string>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/quantise/states.h"
#include "oracle/reduce/sum_bound.h"
#include "scenarios/judge/oracle_view.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t judged_numel = 4096;
// How much of its interval a value uses is computed for every element of a small tensor, and for a
// sample of a large one: it is a figure for readers, not part of the verdict.
constexpr std::int64_t small_tensor_numel = 1 << 16;
constexpr std::int64_t sample_stride = 97;

/// Copies a shard's numbers to where they are in the whole tensor.
void put_in_place(std::span<ElementRange const> ranges, std::span<float const> shard,
                  std::vector<float>& whole) {
  for (ElementRange const range : ranges) {
    auto const numel = static_cast<std::size_t>(range.numel());
    std::ranges::copy(shard.first(numel), whole.begin() + range.begin);
    shard = shard.subspan(numel);
  }
}

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

/// What each rank was fed, times the loss scale, in the place of its microbatches: a rank that gets
/// a sum cannot scale what the sum was made of. Zeros for the others, which count and do not add.
oracle::MicrobatchReader fed_reader(WorldView const& world, oracle::Model const& model,
                                    int parameter) {
  float const scale = model.scaling().loss_scale;
  NumberFormat const format = model.spec(parameter).formats.gradient;
  return [&world, parameter, scale, format](int rank, std::int64_t begin, std::span<float> out) {
    std::fill(out.begin(), out.end(), 0.0F);
    if (rank >= world.rank_count()) return;
    auto const fed = *world.fed(rank, parameter);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = fed[static_cast<std::size_t>(begin) + i] * scale;
    oracle::round_to(format, out);
  };
}

}  // namespace

// Which elements they are is the oracle's layout, not the engine's word: an engine that lost some
// must not be compared with nothing.
ValueJudge::Owned ValueJudge::owned_by(WorldView const& world, int rank, int parameter,
                                       TensorKind kind) const {
  auto const& spec = reference_.model().spec(parameter);
  Owned owned{.ranges = layout_.ranges(parameter, rank % world.shard_count()),
              .held = world.shard(rank, parameter, kind)};
  owned.usable = std::ranges::equal(owned.held.ranges, owned.ranges) &&
                 owned.held.numel() == numel_of(owned.ranges) &&
                 fits(spec, kind, owned.held.format);
  return owned;
}

bool ValueJudge::fits(ParameterSpec const& spec, TensorKind kind, NumberFormat held) const {
  return held == format_of(spec, kind) || formulas_->may_store(spec, kind, held);
}

void ValueJudge::report_other_elements(Owned const& owned, int rank, int parameter,
                                       TensorKind kind) {
  auto const& spec = reference_.model().spec(parameter);
  auto const elements = [&](std::span<ElementRange const> ranges, NumberFormat format) {
    return Elements{
        .ranges = {ranges.begin(), ranges.end()}, .row_numel = spec.row_numel(), .format = format};
  };
  bool const same = std::ranges::equal(owned.held.ranges, owned.ranges);
  bool const stored = owned.held.numel() > 0 || !same;
  bool const other_type = same && owned.held.numel() == numel_of(owned.ranges);
  Violation violation{.law = law_,
                      .breach = other_type ? Breach::other_type : Breach::other_elements,
                      .rank = rank,
                      .subject = Tensor{.parameter = spec.name, .kind = kind},
                      .index = owned.ranges.empty() ? -1 : owned.ranges.front().begin,
                      .expected = elements(owned.ranges, format_of(spec, kind))};
  if (stored) violation.actual = elements(owned.held.ranges, owned.held.format);
  findings_.add(std::move(violation));
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
                                TensorKind kind) {
  int const shards = world.shard_count();
  bool const replica = rank >= shards;
  auto const held_by = [&](int other) { return world.shard(other, parameter, kind).scale; };
  float const right = replica ? held_by(rank % shards) : scale_for(rank, parameter, kind);
  if (owned.held.scale == right) return true;
  bool const shared = reference_.model().scales(parameter, kind).size() == 1;
  bool const disagrees = replica || (shared && held_by(0) == right);
  findings_.add({.law = disagrees ? Law::ranks_agree : law_,
                 .breach = Breach::other_scale,
                 .rank = rank,
                 .subject = Tensor{.parameter = parameter_name(parameter), .kind = kind},
                 .expected = Number(right),
                 .actual = Number(owned.held.scale),
                 .ulp = oracle::ulp_distance(right, owned.held.scale)});
  return false;
}

/// The first element that differs from the oracle's, numbered in the whole tensor.
std::optional<oracle::Difference> ValueJudge::difference(Owned const& owned, int parameter,
                                                         TensorKind kind,
                                                         std::vector<float>& room) const {
  auto const whole = reference_.model().tensor(parameter, kind);
  auto held = values_of(owned.held, room);
  for (ElementRange const range : owned.ranges) {
    auto const numel = static_cast<std::size_t>(range.numel());
    auto const expected = whole.subspan(static_cast<std::size_t>(range.begin), numel);
    if (auto found = oracle::first_difference(expected, held.first(numel))) {
      found->index += range.begin;
      return found;
    }
    held = held.subspan(numel);
  }
  return std::nullopt;
}

bool ValueJudge::agrees(WorldView const& world, int parameter, TensorKind kind) const {
  std::vector<float> room;
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    if (!is_compared(world, rank, parameter, kind)) continue;
    Owned const owned = owned_by(world, rank, parameter, kind);
    if (!owned.usable || owned.held.scale != scale_for(rank, parameter, kind) ||
        difference(owned, parameter, kind, room))
      return false;
  }
  return true;
}

void ValueJudge::compare(WorldView const& world, int parameter, TensorKind kind) {
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    if (findings_.full(law_)) return;
    if (!is_compared(world, rank, parameter, kind)) continue;
    Owned const owned = owned_by(world, rank, parameter, kind);
    if (!owned.usable) {
      report_other_elements(owned, rank, parameter, kind);
      continue;
    }
    if (!scale_is_right(world, owned, rank, parameter, kind)) continue;
    if (rank >= world.shard_count()) {
      compare_with_replica(world, owned, rank, parameter, kind);
      continue;
    }
    auto found = difference(owned, parameter, kind, room_);
    if (!found) continue;
    found->ulps = steps_between(owned, kind, *found);
    findings_.add_values(law_,
                         {.rank = rank,
                          .subject = Tensor{.parameter = parameter_name(parameter), .kind = kind},
                          .index = found->index},
                         *found);
  }
}

// The first replica is held to the oracle, the others to the first.
void ValueJudge::compare_with_replica(WorldView const& world, Owned const& owned, int rank,
                                      int parameter, TensorKind kind) {
  Owned const first = owned_by(world, rank % world.shard_count(), parameter, kind);
  if (!first.usable) return;
  auto const difference =
      oracle::first_difference(values_of(first.held, replica_room_), values_of(owned.held, room_));
  if (!difference) return;
  findings_.add_values(Law::ranks_agree,
                       {.rank = rank,
                        .subject = Tensor{.parameter = parameter_name(parameter), .kind = kind},
                        .index = element_at(owned.ranges, difference->index)},
                       *difference);
}

void ValueJudge::compare_whole(WorldView const& world, int parameter, TensorKind kind) {
  auto const expected = reference_.model().tensor(parameter, kind);
  for (int rank = 0; rank < world.rank_count() && !expected.empty(); ++rank) {
    auto const seen = world.whole(rank, parameter, kind);
    if (!seen) continue;
    auto const& spec = reference_.model().spec(parameter);
    if (seen->numel() != spec.numel()) {
      findings_.add({.law = law_,
                     .breach = Breach::other_size,
                     .rank = rank,
                     .subject = Tensor{.parameter = spec.name, .kind = kind},
                     .expected = Count{spec.numel()},
                     .actual = Count{seen->numel()}});
      continue;
    }
    auto const difference = oracle::first_difference(expected, values_of(*seen, room_));
    if (difference)
      findings_.add_values(law_,
                           {.rank = rank,
                            .subject = Tensor{.parameter = spec.name, .kind = kind, .whole = true},
                            .index = difference->index},
                           *difference);
  }
}

std::optional<ValueJudge::Gathered> ValueJudge::gather(WorldView const& world, int parameter,
                                                       TensorKind kind) {
  Gathered whole;
  whole.values.resize(static_cast<std::size_t>(reference_.model().spec(parameter).numel()));
  for (int rank = 0; rank < world.shard_count(); ++rank) {
    Owned const owned = owned_by(world, rank, parameter, kind);
    if (!owned.usable) {
      report_other_elements(owned, rank, parameter, kind);
      return std::nullopt;
    }
    put_in_place(owned.ranges, values_of(owned.held, room_), whole.values);
    whole.format = owned.held.format;
  }
  return whole;
}

Findings::Site ValueJudge::site_of(int parameter, TensorKind kind, std::int64_t index) const {
  return {.rank = layout_.owner(parameter, index),
          .subject = Tensor{.parameter = parameter_name(parameter), .kind = kind},
          .index = index};
}

// The first rank is held to the oracle, the others to the first: what only some ranks do wrong is
// a disagreement.
void ValueJudge::compare_flags(WorldView const& world) {
  auto const& model = reference_.model();
  for (int p = 0; p < model.parameter_count(); ++p) {
    for (int rank = 0; rank < world.rank_count(); ++rank) {
      bool const first = rank == 0;
      Law const law = first ? law_ : Law::ranks_agree;
      bool const gradient = first ? model.has_gradient(p) : world.has_gradient(0, p);
      if (world.has_gradient(rank, p) != gradient)
        findings_.add(
            {.law = law,
             .breach = Breach::gradient_presence,
             .rank = rank,
             .subject = Tensor{.parameter = parameter_name(p), .kind = TensorKind::gradient},
             .expected = Presence{gradient},
             .actual = Presence{!gradient}});
      std::int64_t const steps = first ? model.step_count(p) : world.step_count(0, p);
      if (world.step_count(rank, p) != steps)
        findings_.add({.law = law,
                       .breach = Breach::other_step_count,
                       .rank = rank,
                       .subject = StepCount{parameter_name(p)},
                       .expected = Count{steps},
                       .actual = Count{world.step_count(rank, p)}});
    }
  }
}

bool ValueJudge::flags_agree(WorldView const& world) const {
  auto const& model = reference_.model();
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    for (int p = 0; p < model.parameter_count(); ++p) {
      if (world.has_gradient(rank, p) != model.has_gradient(p)) return false;
      if (world.step_count(rank, p) != model.step_count(p)) return false;
    }
    for (int g = 0; g < model.group_count(); ++g)
      if (!groups_agree(world, rank, g)) return false;
    RankScaling const expected = scaling_of(model);
    RankScaling const actual = world.scaling(rank);
    if (formulas_->comparable(actual, false) != formulas_->comparable(expected, false))
      return false;
  }
  return true;
}

// A group without parameters need not exist in an engine.
bool ValueJudge::groups_agree(WorldView const& world, int rank, int group) const {
  auto const& model = reference_.model();
  if (world.group(rank, group) == model.group(group)) return true;
  for (int p = 0; p < model.parameter_count(); ++p)
    if (model.spec(p).group == group) return false;
  return !formulas_->has_empty_groups();
}

void ValueJudge::compare_groups(WorldView const& world) {
  auto const& model = reference_.model();
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    for (int g = 0; g < model.group_count(); ++g) {
      if (groups_agree(world, rank, g)) continue;
      findings_.add({.law = law_,
                     .breach = Breach::other_settings,
                     .rank = rank,
                     .subject = GroupSettings{g},
                     .expected = model.group(g),
                     .actual = world.group(rank, g)});
    }
  }
}

// As flags: the first rank is held to the oracle, the others to the first.
void ValueJudge::compare_scaling(WorldView const& world, bool stepped) {
  RankScaling expected = formulas_->comparable(scaling_of(reference_.model()), stepped);
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    RankScaling const actual = formulas_->comparable(world.scaling(rank), stepped);
    compare_scaling(rank, expected, actual);
    if (rank == 0) expected = actual;
  }
}

void ValueJudge::compare_scaling(int rank, RankScaling const& expected, RankScaling const& actual) {
  Law const law = rank == 0 ? law_ : Law::ranks_agree;
  auto const compare = [&](ScalingNumber what, float right, float found) {
    if (oracle::ulp_distance(right, found) == 0) return;
    findings_.add({.law = law,
                   .breach = Breach::other_scaling,
                   .rank = rank,
                   .subject = what,
                   .expected = Number(right),
                   .actual = Number(found)});
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
                   .subject = Tensor{.parameter = parameter_name(parameter)},
                   .expected = Digest{expected},
                   .actual = Digest{*seen}});
  }
}

void ValueJudge::admit_gradient(WorldView const& world, int parameter, std::int64_t backward) {
  auto const numel = reference_.model().spec(parameter).numel();
  std::vector<float> observed(static_cast<std::size_t>(numel));
  std::vector<float> room;
  auto const read = world.fed(0, parameter) ? fed_reader(world, reference_.model(), parameter)
                                            : reference_.reader(parameter, backward);
  for (int rank = 0; rank < world.shard_count(); ++rank) {  // replicas: compare()
    Owned const owned = owned_by(world, rank, parameter, TensorKind::gradient);
    if (!owned.usable) return report_other_elements(owned, rank, parameter, TensorKind::gradient);
    auto const held = values_of(owned.held, room);
    put_in_place(owned.ranges, held, observed);
    for (ElementRange const range : owned.ranges)
      for (std::int64_t begin = range.begin; begin < range.end; begin += judged_numel) {
        auto const count = std::min(judged_numel, range.end - begin);
        admit_block(rank, parameter, read, begin,
                    std::span<float const>(observed).subspan(static_cast<std::size_t>(begin),
                                                             static_cast<std::size_t>(count)));
      }
  }
  reference_.take_gradient(parameter, observed);
}

void ValueJudge::admit_block(int rank, int parameter, oracle::MicrobatchReader const& read,
                             std::int64_t begin, std::span<float const> actual) {
  auto const& model = reference_.model();
  auto const older = model.has_gradient(parameter)
                         ? model.tensor(parameter, TensorKind::gradient)
                               .subspan(static_cast<std::size_t>(begin), actual.size())
                         : std::span<float const>();
  auto const format = model.spec(parameter).formats.gradient;
  oracle::MeanBounds bounds(std::ssize(actual), format);
  std::vector<float> microbatch(actual.size());
  for (int m = 0; m < reference_.microbatch_count(); ++m) {
    read(m, begin, microbatch);
    bounds.add(microbatch);
  }
  auto const admissible = [&](std::int64_t i) {
    auto const mean = bounds.at(i);
    return older.empty() ? mean : oracle::add_to(older[static_cast<std::size_t>(i)], mean, format);
  };
  bool const small = model.spec(parameter).numel() <= small_tensor_numel;
  for (std::int64_t i = 0; i < std::ssize(actual); ++i) {
    auto const bound = admissible(i);
    float const value = actual[static_cast<std::size_t>(i)];
    if (!bound.contains(value)) {
      return findings_.add_outside(
          Breach::outside_reduction,
          {.rank = rank,
           .subject = Tensor{.parameter = parameter_name(parameter), .kind = TensorKind::gradient},
           .index = begin + i},
          bound, value);
    }
    if (small || i % sample_stride == 0)
      interval_used_ = std::max(interval_used_, bound.used(value));
  }
}

}  // namespace adamant::scenarios
