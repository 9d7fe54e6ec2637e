// The part of the verdict that gives the oracle what it needs to guess at the cause of wrong
// numbers: which operations of a small model a run makes, and what a world has after a wrong one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "oracle/explain/guess.h"
#include "oracle/formats/formats.h"
#include "scenarios/judge/verdict.h"

namespace adamant::scenarios {

namespace {

bool leaves_normal_moments(double gradient, AdamConfig const& with) {
  double const smallest = std::numeric_limits<float>::min();
  return (1.0 - with.beta2) * gradient * gradient > smallest &&
         (1.0 - with.beta1) * std::abs(gradient) > smallest;
}

// Within more than roundings of 1 - beta2 can make of it; other rules are far off.
bool are_of_one_gradient(double exp_avg, double exp_avg_sq, AdamConfig const& with) {
  double const gradient = exp_avg / (1.0 - with.beta1);
  double const expected = (1.0 - with.beta2) * gradient * gradient;
  return exp_avg_sq != 0 && std::abs(exp_avg_sq - expected) <= expected / 32;
}

}  // namespace

// Suppositions hang on what steps, loads, saves and new settings found before them.
void Verdict::note_before(Primitive const& operation) {
  constexpr std::int64_t numel_max = 1 << 14;
  if (total_numel_ > numel_max) return;
  auto const& before = reference_.model();
  match(
      operation.what, [&](Step const&) { suppositions_.step_follows(before); },
      [&](resolved::Load const&) { suppositions_.load_follows(before, operation.entry); },
      [&](resolved::Set const&) { suppositions_.settings_change(before, operation.entry); },
      [&](Save const&) { suppositions_.save_follows(before, operation.entry); },
      [](SetsNothing auto const&) {});
}

std::string Verdict::guess(Primitive const& operation, WorldView const& world) const {
  bool const loads = is<resolved::Load>(operation.what);
  bool const steps = is<Step>(operation.what) && arithmetic_ == Arithmetic::own_order;
  if (!loads && !steps) return {};
  auto const& right = reference_.model();
  auto const& layout = values_.layout();
  std::vector<oracle::SeenShard> seen;
  std::vector<float> room;
  for (int p = 0; p < right.parameter_count(); ++p)
    for (TensorKind const kind : all_tensor_kinds)
      for (int rank = 0; rank < world.rank_count() && !right.tensor(p, kind).empty(); ++rank) {
        Shard const shard = world.shard(rank, p, kind);
        auto const values = values_of(shard, room);
        if (shard.format != oracle::stored_format(right.spec(p).formats, kind) ||
            !std::ranges::equal(shard.ranges, layout.ranges(p, rank, kind)))
          return {};
        seen.push_back({rank, p, kind, {values.begin(), values.end()}, shard.scale});
      }
  auto const supposed = loads ? suppositions_.of_load(right) : suppositions_.of_step(layout);
  std::string const with = oracle::guess(supposed, right, layout, seen);
  if (with.empty()) return with;
  return fmt::format("a guess: every bit that is wrong is what the {} would leave with {}",
                     name_of(operation), with);
}

bool Verdict::has_other_rule(Primitive const& operation, WorldView const& world) {
  auto const* const before = suppositions_.before_step();
  if (!is<Step>(operation.what) || world.shown().memory || before == nullptr) return false;
  auto const& right = reference_.model();
  bool moved = false;
  bool tells = false;
  for (int p = 0; p < right.parameter_count(); ++p) {
    bool const has_main = !right.tensor(p, TensorKind::main).empty();
    TensorKind const weights = has_main ? TensorKind::main : TensorKind::parameter;
    auto const now = values_.gather(world, p, weights);
    auto const average = values_.gather(world, p, TensorKind::exp_avg);
    auto const squares = values_.gather(world, p, TensorKind::exp_avg_sq);
    if (!now || !average || !squares || before->step_count(p) != 0 ||
        has_scale(TensorKind::exp_avg, average->format) ||
        has_scale(TensorKind::exp_avg_sq, squares->format))
      return false;
    moved = moved || !std::ranges::equal(now->values, before->tensor(p, weights));
    AdamConfig const& with = right.group(right.spec(p).group);
    auto const gradient = before->tensor(p, TensorKind::gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      if (!leaves_normal_moments(gradient[i], with)) continue;
      tells = true;
      if (are_of_one_gradient(average->values[i], squares->values[i], with)) return false;
    }
  }
  return moved && tells;
}

}  // namespace adamant::scenarios
