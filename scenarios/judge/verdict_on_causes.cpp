// The part of the verdict that gives the oracle what it needs to guess at the cause of wrong
// numbers: which operations of a small model a run makes, and what a world has after a wrong one.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "oracle/explain/guess.h"
#include "oracle/formats/formats.h"
#include "scenarios/judge/verdict.h"

namespace adamant::scenarios {

void Verdict::note_before(Primitive const& operation) {
  constexpr std::int64_t numel_max = 1 << 14;
  if (total_numel_ > numel_max) return;
  auto const& before = reference_.model();
  if (operation.kind == Primitive::Kind::step) suppositions_.step_follows(before);
  if (operation.kind == Primitive::Kind::load) suppositions_.load_follows(before, operation.entry);
  if (operation.kind == Primitive::Kind::set)
    suppositions_.settings_change(before, operation.entry);
  if (operation.kind == Primitive::Kind::save) suppositions_.save_follows(before, operation.entry);
}

std::string Verdict::guess(Primitive const& operation, WorldView const& world) const {
  bool const loads = operation.kind == Primitive::Kind::load;
  bool const steps =
      operation.kind == Primitive::Kind::step && arithmetic_ == Arithmetic::own_order;
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
                     name_of(operation.kind), with);
}

}  // namespace adamant::scenarios
