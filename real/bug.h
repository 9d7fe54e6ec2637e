// The switch that puts a catalogued bug (real/bug_table.h) into the engine: ADAMANT_BUG(id) stands
// where the mistake was made. The shipped engine has none: without ADAMANT_BUGS every switch is
// false at compile time. The harness selects one per process and expects the bug's law to notice.
#pragma once

#include <cuda_runtime.h>

#include "real/bug_table.h"

namespace adamant::real {

#if defined(ADAMANT_BUGS) && !defined(__CUDACC__)
inline constexpr bool bugs_compiled = true;
/// Puts `bug` into every engine of this process from now on; `none` ends it.
void select_bug(Bug bug);
bool bug_is(Bug bug);
#else
inline constexpr bool bugs_compiled = false;
__host__ __device__ constexpr bool bug_is(Bug) {
  return false;
}
#endif

/// Is one of the bugs selected that change the arithmetic of one element? Kernels ask once, so that
/// their loops carry no switch.
__host__ __device__ inline bool bug_in_arithmetic() {
  return bug_is(Bug::epsilon_inside_root) || bug_is(Bug::decay_after_update) ||
         bug_is(Bug::modes_mixed) || bug_is(Bug::moments_swapped) || bug_is(Bug::square_first) ||
         bug_is(Bug::fused_multiply_add) || bug_is(Bug::decay_applied_twice) ||
         bug_is(Bug::oneflow_5960) || bug_is(Bug::te_1744);
}

}  // namespace adamant::real

#define ADAMANT_BUG(id) ::adamant::real::bug_is(::adamant::real::Bug::id)
