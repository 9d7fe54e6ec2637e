#include "scenarios/judge/value_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/layout/fsdp2.h"
#include "oracle/reduce/sum_bound.h"
#include "scenarios/judge/oracle_view.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t judged_numel = 4096;
// How much of its interval a value uses is computed for every element of a small tensor, and for a
// sample of a large one: it is a figure for readers, not part of the verdict.
constexpr std::int64_t small_tensor_numel = 1 << 16;
constexpr std::int64_t sample_stride = 97;

std::string rows_text(std::int64_t begin, std::int64_t end) {
  return fmt::format("rows [{}, {})", begin, end);
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

// Rows are the oracle's layout, not the engine's word: an engine that lost rows must not be
// compared with nothing.
ValueJudge::Rows ValueJudge::rows_of(WorldView const& world, int rank, int parameter,
                                     TensorKind kind) const {
  auto const& spec = reference_.model().spec(parameter);
  Rows rows;
  int const shards = world.shard_count();
  rows.range = oracle::shard_rows(spec.rows(), {.rank = rank % shards, .world_size = shards});
  rows.first_element = rows.range.begin * spec.row_numel();
  rows.numel = rows.range.count() * spec.row_numel();
  rows.held = world.shard(rank, parameter, kind);
  rows.usable = rows.held.row_begin == rows.range.begin && rows.held.row_end == rows.range.end &&
                rows.held.numel() == rows.numel && fits(world, spec, kind, rows.held.format);
  return rows;
}

void ValueJudge::report_other_rows(Rows const& rows, int rank, int parameter, TensorKind kind) {
  auto const& spec = reference_.model().spec(parameter);
  bool const same_rows =
      rows.held.row_begin == rows.range.begin && rows.held.row_end == rows.range.end;
  std::string const expected = rows_text(rows.range.begin, rows.range.end) + " in " +
                               std::string(name_of(format_of(spec, kind)));
  std::string const actual = rows_text(rows.held.row_begin, rows.held.row_end) + " in " +
                             std::string(name_of(rows.held.format));
  bool const stored = rows.held.numel() > 0 || !same_rows;
  bool const other_type = same_rows && rows.held.numel() == rows.numel;
  findings_.add(
      law_, {.rank = rank, .tensor = tensor_name(spec, kind), .index = rows.first_element},
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

std::span<float const> ValueJudge::expected(Rows const& rows, int parameter,
                                            TensorKind kind) const {
  return reference_.model()
      .tensor(parameter, kind)
      .subspan(static_cast<std::size_t>(rows.first_element), static_cast<std::size_t>(rows.numel));
}

bool ValueJudge::agrees(WorldView const& world, int parameter, TensorKind kind) const {
  std::vector<float> room;
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    if (!is_compared(world, rank, parameter, kind)) continue;
    Rows const rows = rows_of(world, rank, parameter, kind);
    if (!rows.usable) return false;
    auto const held = values_of(rows.held, room);
    if (oracle::first_difference(expected(rows, parameter, kind), held)) return false;
  }
  return true;
}

void ValueJudge::compare(WorldView const& world, int parameter, TensorKind kind) {
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    if (findings_.full(law_)) return;
    if (!is_compared(world, rank, parameter, kind)) continue;
    Rows const rows = rows_of(world, rank, parameter, kind);
    if (!rows.usable) {
      report_other_rows(rows, rank, parameter, kind);
      continue;
    }
    if (rank >= world.shard_count()) {
      compare_with_replica(world, rows, rank, parameter, kind);
      continue;
    }
    auto difference =
        oracle::first_difference(expected(rows, parameter, kind), values_of(rows.held, room_));
    if (!difference) continue;
    difference->ulps =
        oracle::ulp_distance(difference->expected, difference->actual, rows.held.format);
    findings_.add_values(law_,
                         {.rank = rank,
                          .tensor = tensor_name(reference_.model().spec(parameter), kind),
                          .index = rows.first_element + difference->index},
                         *difference);
  }
}

// The first replica is held to the oracle, the others to the first.
void ValueJudge::compare_with_replica(WorldView const& world, Rows const& rows, int rank,
                                      int parameter, TensorKind kind) {
  Rows const first = rows_of(world, rank % world.shard_count(), parameter, kind);
  if (!first.usable) return;
  auto const difference =
      oracle::first_difference(values_of(first.held, replica_room_), values_of(rows.held, room_));
  if (!difference) return;
  findings_.add_values("ranks.agree",
                       {.rank = rank,
                        .tensor = tensor_name(reference_.model().spec(parameter), kind),
                        .index = rows.first_element + difference->index},
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
    Rows const rows = rows_of(world, rank, parameter, kind);
    if (!rows.usable) {
      report_other_rows(rows, rank, parameter, kind);
      return std::nullopt;
    }
    auto const held = values_of(rows.held, room_);
    std::copy(held.begin(), held.end(), whole.values.begin() + rows.first_element);
    whole.format = rows.held.format;
  }
  return whole;
}

Findings::Place ValueJudge::place_of(WorldView const& world, int parameter, TensorKind kind,
                                     std::int64_t index) const {
  auto const& spec = reference_.model().spec(parameter);
  std::int64_t const chunk = oracle::chunk_rows(spec.rows(), world.shard_count());
  return {.rank = static_cast<int>(index / spec.row_numel() / chunk),
          .tensor = tensor_name(spec, kind),
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
    Rows const rows = rows_of(world, rank, parameter, TensorKind::gradient);
    if (!rows.usable) return report_other_rows(rows, rank, parameter, TensorKind::gradient);
    auto const held = values_of(rows.held, room);
    for (std::int64_t begin = 0; begin < rows.numel; begin += judged_numel) {
      auto const count = std::min(judged_numel, rows.numel - begin);
      auto const actual =
          held.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
      admit_block(rank, parameter, read, rows.first_element + begin, actual);
    }
    std::copy(held.begin(), held.end(), observed.begin() + rows.first_element);
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
