// The part of the value judge that looks at whole tensors: what a rank sees of one, and what ranks
// make up together.
#include <algorithm>
#include <utility>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/reduce/sum_bound.h"
#include "scenarios/judge/shard_values.h"
#include "scenarios/judge/value_judge.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t judged_numel = 4096;
// How much of its interval a value uses is computed for every element of a small tensor, and for a
// sample of a large one: it is a figure for readers, not part of the verdict.
constexpr std::int64_t small_tensor_numel = 1 << 16;
constexpr std::int64_t sample_stride = 97;

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
                     .subject = tensor_of(parameter, kind),
                     .expected = Count{spec.numel()},
                     .actual = Count{seen->numel()}});
      continue;
    }
    std::vector<float> room;
    auto const values = values_of(*seen, room);
    auto const difference = oracle::first_difference(expected, values);
    if (!difference) continue;
    Tensor const whole{.parameter = spec.name, .kind = kind, .whole = true};
    Violation* const added = findings_.add(other_value(
        law_, {.rank = rank, .subject = whole, .index = difference->index}, *difference));
    if (added == nullptr) continue;
    std::vector<ElementRange> elements;
    oracle::append_differences(expected, values, 0, elements);
    added->elements = told(std::move(elements), parameter, kind);
  }
}

std::optional<ValueJudge::Gathered> ValueJudge::gather(WorldView const& world, int parameter,
                                                       TensorKind kind) {
  Gathered whole;
  whole.values.resize(static_cast<std::size_t>(reference_.model().spec(parameter).numel()));
  for (int rank = 0; rank < layout_.holder_count(kind); ++rank) {
    Owned const owned = owned_by(world, rank, parameter, kind);
    if (!owned.usable) {
      report_other_elements(owned, rank, parameter, kind, findings_);
      return std::nullopt;
    }
    put_in_place(owned.held, whole.values);
    whole.format = owned.held.format;
  }
  return whole;
}

std::optional<WrongElements> ValueJudge::told(std::vector<ElementRange> elements, int parameter,
                                              TensorKind kind) const {
  if (elements.empty()) return std::nullopt;
  return wrong_elements(std::move(elements), {.spec = reference_.model().spec(parameter),
                                              .parameter = parameter,
                                              .kind = kind,
                                              .now = &layout_,
                                              .saved = saved_ ? &*saved_ : nullptr});
}

void ValueJudge::admit_gradient(WorldView const& world, int parameter, std::int64_t backward) {
  auto const numel = reference_.model().spec(parameter).numel();
  std::vector<float> observed(static_cast<std::size_t>(numel));
  bool const fed = world.fed(0, parameter).has_value();
  auto const read = fed ? fed_reader(world, reference_.model(), parameter)
                        : reference_.reader(parameter, backward);
  int const addends = fed ? reference_.microbatch_count() : reference_.addend_count(parameter);
  int const holders = layout_.holder_count(TensorKind::gradient);
  Outside outside;
  for (int rank = 0; rank < holders; ++rank) {  // those who hold the same: compare()
    Owned const owned = owned_by(world, rank, parameter, TensorKind::gradient);
    if (!owned.usable)
      return report_other_elements(owned, rank, parameter, TensorKind::gradient, findings_);
    put_in_place(owned.held, observed);
    for (ElementRange const range : owned.ranges)
      for (std::int64_t begin = range.begin; begin < range.end; begin += judged_numel) {
        ElementRange const block = {begin, std::min(begin + judged_numel, range.end)};
        admit_block(rank, parameter, read, begin, elements_of(observed, block), addends, outside);
      }
  }
  if (outside.first != nullptr)
    outside.first->elements = told(std::move(outside.elements), parameter, TensorKind::gradient);
  reference_.model().set_gradient(parameter, observed);
}

void ValueJudge::admit_block(int rank, int parameter, oracle::MicrobatchReader const& read,
                             std::int64_t begin, std::span<float const> actual, int addends,
                             Outside& outside) {
  auto const& model = reference_.model();
  auto const older = model.has_gradient(parameter)
                         ? model.tensor(parameter, TensorKind::gradient)
                               .subspan(static_cast<std::size_t>(begin), actual.size())
                         : std::span<float const>();
  auto const format = model.spec(parameter).formats.gradient;
  oracle::MeanBounds bounds(std::ssize(actual), format);
  std::vector<float> microbatch(actual.size());
  for (int addend = 0; addend < addends; ++addend) {
    read(addend, begin, microbatch);
    bounds.add(microbatch);
  }
  auto const admissible = [&](std::int64_t i) {
    auto const mean = bounds.at(i, reference_.microbatch_count());
    return older.empty() ? mean : oracle::add_to(older[static_cast<std::size_t>(i)], mean, format);
  };
  bool const small = model.spec(parameter).numel() <= small_tensor_numel;
  bool reported = false;
  for (std::int64_t i = 0; i < std::ssize(actual); ++i) {
    auto const bound = admissible(i);
    float const value = actual[static_cast<std::size_t>(i)];
    if (!bound.contains(value)) {
      oracle::append(outside.elements, begin + i);
      if (std::exchange(reported, true)) continue;
      Violation* const added = findings_.add(outside_value(
          Breach::outside_reduction,
          {.rank = rank, .subject = tensor_of(parameter, TensorKind::gradient), .index = begin + i},
          bound, value));
      if (added != nullptr) outside.first = added;
      continue;
    }
    if (small || i % sample_stride == 0) findings_.note_used_by_gradient(bound.used(value));
  }
}

}  // namespace adamant::scenarios
