#include "oracle/explain/guess.h"

#include <algorithm>
#include <bit>
#include <span>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/quantise/states.h"

namespace adamant::oracle {

namespace {

/// What a model has in the place of a shard.
SeenShard shard_of(Model const& model, Layout const& layout, SeenShard const& like) {
  SeenShard shard{.rank = like.rank, .parameter = like.parameter, .kind = like.kind};
  auto const whole = model.tensor(like.parameter, like.kind);
  auto const scales = model.scales(like.parameter, like.kind);
  if (whole.empty()) return shard;
  if (!scales.empty()) shard.scale = scales[static_cast<std::size_t>(like.rank) % scales.size()];
  for (ElementRange const range : layout.ranges(like.parameter, like.rank, like.kind))
    shard.values.insert(shard.values.end(), whole.begin() + range.begin, whole.begin() + range.end);
  return shard;
}

/// One in another scale, or in numbers that are codes, is no more than one.
std::uint64_t steps_between(SeenShard const& a, SeenShard const& b, std::size_t i,
                            Formats const& formats) {
  bool const codes = a.kind == TensorKind::parameter && formats.recipe;
  auto const format = stored_format(formats, a.kind);
  if (ulp_distance(a.values[i], b.values[i]) == 0) return 0;
  if (codes || !format || a.scale != b.scale) return 1;
  return has_scale(a.kind, *format) ? scaled_distance(a.values[i], b.values[i], a.scale, *format)
                                    : ulp_distance(a.values[i], b.values[i], *format);
}

/// Bits that tell them apart; shards of another length are not compared.
int bits_between(SeenShard const& a, SeenShard const& b, Formats const& formats) {
  int bits = std::bit_width(ulp_distance(a.scale, b.scale));
  if (a.values.size() != b.values.size()) return bits + 1;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    bits += std::bit_width(steps_between(a, b, i, formats));
  return bits;
}

}  // namespace

std::string guess(std::vector<Supposition> const& suppositions, Model const& right,
                  Layout const& layout, std::vector<SeenShard> const& seen) {
  auto const bits = [&](Model const& model, SeenShard const& shard) {
    return bits_between(shard, shard_of(model, layout, shard), right.spec(shard.parameter).formats);
  };
  std::vector<SeenShard> wrong;
  int all_bits = 0;
  for (SeenShard const& shard : seen) {
    int const apart = bits(right, shard);
    if (apart > 0) wrong.push_back(shard);
    all_bits += apart;
  }
  if (all_bits < bits_enough) return {};
  std::vector<std::string> explaining;
  for (Supposition const& each : suppositions)
    if (std::ranges::all_of(wrong,
                            [&](SeenShard const& shard) { return bits(each.left, shard) == 0; }))
      explaining.push_back(each.with);
  return explaining.size() == 1 ? explaining.front() : "";
}

}  // namespace adamant::oracle
