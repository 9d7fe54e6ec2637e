// The layout of FSDP2: dimension 0 of each parameter is cut, rows rounded up.
//
// Parameter with n rows of k elements over N shards: c = ceil(n / N) rows a shard,
//   shard i owns rows [min(n, i c), min(n, (i + 1) c)): trailing shards may be short or empty
// States that are cut over replicas, too: the same again of the rows of shard i.
#pragma once

#include "real/shard/ownership.h"

namespace adamant::real {

Ownership own_rows(ParameterSpec const& spec, RankOfMesh const& where);

}  // namespace adamant::real
