// Number formats back at fp32. Types depend on each other (param and main of one type are refused),
// so several are reset together, most of them first.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "scenarios/language/table.h"
#include "scenarios/search/minimize/passes.h"

namespace adamant::scenarios::passes_of {

namespace {

/// The keys of `types` that `mask` names, back at what they are in `usual`.
template <template <typename> typename Held>
void reset(Types<Held>& types, unsigned mask, Types<Held> const& usual) {
  unsigned bit = 1;
  for_each_key<Types<Held>>([&](auto const& row) {
    if ((mask & bit) != 0) put(types, row.place, value_at(usual, row.place));
    bit <<= 1U;
  });
}

/// All sets of keys, those of many before those of few.
std::vector<unsigned> all_masks() {
  std::vector<unsigned> masks;
  for (unsigned mask = 1; mask < 1U << key_count<Precision>; ++mask) masks.push_back(mask);
  std::stable_sort(masks.begin(), masks.end(),
                   [](unsigned a, unsigned b) { return std::popcount(a) > std::popcount(b); });
  return masks;
}

}  // namespace

void reset_precision(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) {
    s.precision = {};
    for (Param& param : s.params) param.precision = {};
  });
  candidates.offer([](Scenario& s) {
    for (Param& param : s.params) param.precision = {};
  });
  if (scenario.precision != Precision{}) {
    for (unsigned const mask : all_masks())
      candidates.offer([&](Scenario& s) { reset(s.precision, mask, Precision{}); });
  }
  for (std::size_t p = 0; p < scenario.params.size(); ++p) {
    PrecisionOverride const own = scenario.params[p].precision;
    if (own == PrecisionOverride{}) continue;
    // One parameter's types for all say the same in fewer words.
    candidates.offer([&](Scenario& s) {
      s.precision = with(s.precision, own);
      for (Param& param : s.params) param.precision = {};
    });
    for (unsigned const mask : all_masks())
      candidates.offer(
          [&](Scenario& s) { reset(s.params[p].precision, mask, PrecisionOverride{}); });
  }
}

/// bf16 before fp16 before fp8: types that come earlier in the format's lists.
void usual_precision(Scenario const&, Candidates& candidates) {
  constexpr std::array<Precision, 2> recipes{Precision{.param = ParamType::bf16,
                                                       .grad = GradType::bf16,
                                                       .main = MainType::fp32,
                                                       .exp_avg = StateType::bf16,
                                                       .exp_avg_sq = StateType::bf16},
                                             Precision{.param = ParamType::fp16,
                                                       .grad = GradType::fp16,
                                                       .main = MainType::fp32,
                                                       .exp_avg = StateType::fp16,
                                                       .exp_avg_sq = StateType::fp16}};
  for (Precision const& recipe : recipes)
    for (unsigned const mask : all_masks())
      candidates.offer([&](Scenario& s) { reset(s.precision, mask, recipe); });
}

}  // namespace adamant::scenarios::passes_of
