#include "scenarios/judge/value_judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/reduce/sum_bound.h"
#include "scenarios/judge/oracle_view.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t judged_numel = 4096;
// How much of its interval a value uses is computed for every element of a small tensor, and for a
// sample of a large one: it is a figure for readers, not part of the verdict.
constexpr std::int64_t small_tensor_numel = 1 << 16;
constexpr std::int64_t sample_stride = 97;

/// "rows [0, 2), [5, 6)" where all are whole rows, else "elements [1, 4)".
std::string text_of(std::span<ElementRange const> ranges, ParameterSpec const& spec) {
  if (ranges.empty()) return "no elements";
  std::int64_t const row = std::max<std::int64_t>(spec.row_numel(), 1);
  bool const rows = std::ranges::all_of(ranges, [&](ElementRange const& range) {
    return range.begin % row == 0 && range.end % row == 0;
  });
  std::int64_t const unit = rows ? row : 1;
  std::vector<std::string> texts;
  for (ElementRange const range : ranges)
    texts.push_back(fmt::format("[{}, {})", range.begin / unit, range.end / unit));
  return fmt::format("{} {}", rows ? "rows" : "elements", fmt::join(texts, ", "));
}

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

/// Engines with an arithmetic of their own may keep a gradient in the type of what they step.
bool fits(WorldView const& world, ParameterSpec const& spec, TensorKind kind, NumberFormat held) {
  bool const free = kind == TensorKind::gradient && world.arithmetic() != Arithmetic::te;
  return held == format_of(spec, kind) || (free && held == spec.formats.weight());
}

/// What such engines say of their scaling, as far as it means the same.
RankScaling comparable(RankScaling const& scaling, bool stepped) {
  return {.loss_scale = scaling.loss_scale,
          .skipped = stepped && scaling.skipped,
          .growth_tracker = scaling.growth_tracker};
}

std::string text_of(AdamConfig const& config) {
  return fmt::format("{} lr {} betas {} {} eps {} weight_decay {}{}",
                     config.mode == AdamMode::adamw ? "adamw" : "adam",
                     decimal(config.learning_rate), decimal(config.beta1), decimal(config.beta2),
                     decimal(config.epsilon), decimal(config.weight_decay),
                     config.bias_correction ? "" : " without bias correction");
}

std::string presence(bool has_gradient) {
  return has_gradient ? "a gradient" : "no gradient";
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
                 fits(world, spec, kind, owned.held.format);
  return owned;
}

void ValueJudge::report_other_elements(Owned const& owned, int rank, int parameter,
                                       TensorKind kind) {
  auto const& spec = reference_.model().spec(parameter);
  bool const same = std::ranges::equal(owned.held.ranges, owned.ranges);
  std::string const expected =
      text_of(owned.ranges, spec) + " in " + std::string(name_of(format_of(spec, kind)));
  std::string const actual =
      text_of(owned.held.ranges, spec) + " in " + std::string(name_of(owned.held.format));
  bool const stored = owned.held.numel() > 0 || !same;
  bool const other_type = same && owned.held.numel() == numel_of(owned.ranges);
  std::int64_t const first = owned.ranges.empty() ? -1 : owned.ranges.front().begin;
  findings_.add(
      law_, {.rank = rank, .tensor = tensor_name(spec, kind), .index = first},
      {.expected = expected,
       .actual = stored ? actual : "no storage for them",
       .message = other_type ? "the rank stores its rows in another type than the recipe names"
                             : "the rank does not hold the rows that the layout gives it"});
}

bool ValueJudge::is_compared(WorldView const& world, int rank, int parameter,
                             TensorKind kind) const {
  if (reference_.model().tensor(parameter, kind).empty()) return false;
  bool const comes_and_goes = kind == TensorKind::gradient || kind == TensorKind::cast_gradient;
  return !comes_and_goes || world.has_gradient(rank, parameter);
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
    if (!owned.usable || difference(owned, parameter, kind, room)) return false;
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
    if (rank >= world.shard_count()) {
      compare_with_replica(world, owned, rank, parameter, kind);
      continue;
    }
    auto found = difference(owned, parameter, kind, room_);
    if (!found) continue;
    found->ulps = oracle::ulp_distance(found->expected, found->actual, owned.held.format);
    findings_.add_values(law_,
                         {.rank = rank,
                          .tensor = tensor_name(reference_.model().spec(parameter), kind),
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
  findings_.add_values("ranks.agree",
                       {.rank = rank,
                        .tensor = tensor_name(reference_.model().spec(parameter), kind),
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
      findings_.add(law_, {.rank = rank, .tensor = tensor_name(spec, kind)},
                    {.expected = fmt::format("{} elements", spec.numel()),
                     .actual = fmt::format("{} elements", seen->numel()),
                     .message = "what the rank sees as the whole tensor is another one"});
      continue;
    }
    auto const difference = oracle::first_difference(expected, values_of(*seen, room_));
    if (difference)
      findings_.add_values(law_,
                           {.rank = rank,
                            .tensor = tensor_name(spec, kind) + " (whole)",
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

Findings::Place ValueJudge::place_of(int parameter, TensorKind kind, std::int64_t index) const {
  return {.rank = layout_.owner(parameter, index),
          .tensor = tensor_name(reference_.model().spec(parameter), kind),
          .index = index};
}

// The first rank is held to the oracle, the others to the first: what only some ranks do wrong is
// a disagreement.
void ValueJudge::compare_flags(WorldView const& world) {
  auto const& model = reference_.model();
  for (int p = 0; p < model.parameter_count(); ++p) {
    for (int rank = 0; rank < world.rank_count(); ++rank) {
      bool const first = rank == 0;
      char const* const law = first ? law_ : "ranks.agree";
      std::string const against = first ? "the oracle" : "rank 0";
      bool const gradient = first ? model.has_gradient(p) : world.has_gradient(0, p);
      if (world.has_gradient(rank, p) != gradient)
        findings_.add(law,
                      {.rank = rank, .tensor = tensor_name(model.spec(p), TensorKind::gradient)},
                      {.expected = presence(gradient),
                       .actual = presence(!gradient),
                       .message = "the rank differs from " + against + " about having a gradient"});
      std::int64_t const steps = first ? model.step_count(p) : world.step_count(0, p);
      if (world.step_count(rank, p) != steps)
        findings_.add(law, {.rank = rank, .tensor = model.spec(p).name + "/step"},
                      {.expected = std::to_string(steps),
                       .actual = std::to_string(world.step_count(rank, p)),
                       .message = "the rank's step counter differs from " + against});
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
    bool const te = world.arithmetic() == Arithmetic::te;
    if (te ? actual != expected : comparable(actual, false) != comparable(expected, false))
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
  return world.arithmetic() != Arithmetic::te;
}

void ValueJudge::compare_groups(WorldView const& world) {
  auto const& model = reference_.model();
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    for (int g = 0; g < model.group_count(); ++g) {
      if (groups_agree(world, rank, g)) continue;
      findings_.add(law_, {.rank = rank},
                    {.expected = text_of(model.group(g)),
                     .actual = text_of(world.group(rank, g)),
                     .message = fmt::format("the rank's settings of group {} differ", g)});
    }
  }
}

// As flags: the first rank is held to the oracle, the others to the first.
void ValueJudge::compare_scaling(WorldView const& world, bool stepped) {
  bool const te = world.arithmetic() == Arithmetic::te;
  RankScaling expected = scaling_of(reference_.model());
  if (!te) expected = comparable(expected, stepped);
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    RankScaling const actual = te ? world.scaling(rank) : comparable(world.scaling(rank), stepped);
    compare_scaling(rank, expected, actual);
    if (rank == 0) expected = actual;
  }
}

void ValueJudge::compare_scaling(int rank, RankScaling const& expected, RankScaling const& actual) {
  std::string_view const law = rank == 0 ? law_ : "ranks.agree";
  std::string const against = rank == 0 ? "the oracle's" : "rank 0's";
  auto const compare = [&](std::string_view what, float right, float found) {
    if (oracle::ulp_distance(right, found) == 0) return;
    findings_.add(law, {.rank = rank, .tensor = std::string(what)},
                  {.expected = hexadecimal(right),
                   .actual = hexadecimal(found),
                   .message = fmt::format("the rank's {} differs from {}", what, against)});
  };
  compare("loss scale", expected.loss_scale, actual.loss_scale);
  compare("skip of the last step", expected.skipped ? 1.0F : 0.0F, actual.skipped ? 1.0F : 0.0F);
  compare("inverse of the loss scale", expected.inverse, actual.inverse);
  compare("norm", expected.norm, actual.norm);
  compare("clip coefficient", expected.coefficient, actual.coefficient);
  compare("maximal norm", expected.max_norm.value_or(0), actual.max_norm.value_or(0));
  compare("growth tracker", static_cast<float>(expected.growth_tracker),
          static_cast<float>(actual.growth_tracker));
  compare("hysteresis", static_cast<float>(expected.hysteresis),
          static_cast<float>(actual.hysteresis));
}

void ValueJudge::compare_gathered(WorldView const& world, int parameter, std::uint64_t expected) {
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    auto const seen = world.gathered_fingerprint(rank, parameter);
    if (!seen || *seen == expected) continue;
    findings_.add("values.bitwise",
                  {.rank = rank, .tensor = reference_.model().spec(parameter).name},
                  {.expected = "fingerprint " + std::to_string(expected),
                   .actual = "fingerprint " + std::to_string(*seen),
                   .message = "the whole parameter that backward gathered differs from the "
                              "oracle's"});
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
          {.rank = rank,
           .tensor = tensor_name(model.spec(parameter), TensorKind::gradient),
           .index = begin + i},
          bound, value, "no order of summation leads to this gradient");
    }
    if (small || i % sample_stride == 0)
      interval_used_ = std::max(interval_used_, bound.used(value));
  }
}

}  // namespace adamant::scenarios
