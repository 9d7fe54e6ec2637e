// The layout of FSDP2: dimension 0 of each parameter is cut, rows rounded up.
//
// Parameter with n rows of k elements in a world of W ranks: c = ceil(n / W) rows a rank,
//   rank r owns rows [min(n, r c), min(n, (r + 1) c)): trailing ranks may be short or empty
#pragma once

#include "real/shard/layout.h"

namespace adamant::real {

Cut cut_by_rows(ParameterSpec const& spec, RankOfWorld where);

}  // namespace adamant::real
