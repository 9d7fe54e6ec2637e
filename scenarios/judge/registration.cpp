#include "scenarios/judge/registration.h"

#include <algorithm>

namespace adamant::scenarios {

std::vector<ParameterSpec> as_registered(std::vector<ParameterSpec> parameters, ParamOrder order) {
  if (order == ParamOrder::listed || parameters.empty()) return parameters;
  int const last = parameters.back().unit;
  std::ranges::reverse(parameters);
  for (ParameterSpec& parameter : parameters) parameter.unit = last - parameter.unit;
  return parameters;
}

oracle::Layout layout_of(Scenario const& setting, std::vector<ParameterSpec> const& parameters) {
  Mesh const mesh = mesh_of(setting.world);
  oracle::Layout laid_out =
      oracle::lay_out(setting.layout, as_registered(parameters, setting.order), mesh);
  if (setting.order == ParamOrder::listed) return laid_out;
  oracle::Layout layout(mesh, setting.layout);
  auto const count = static_cast<int>(parameters.size());
  for (int p = 0; p < count; ++p) {
    int const number = registered_number(p, count, setting.order);
    for (int shard = 0; shard < mesh.shards; ++shard)
      layout.add(laid_out.ranges(number, shard, TensorKind::parameter));
    for (int rank = 0; mesh.cuts_states_across() && rank < mesh.rank_count(); ++rank)
      layout.add_states(laid_out.ranges(number, rank, TensorKind::exp_avg));
  }
  return layout;
}

}  // namespace adamant::scenarios
