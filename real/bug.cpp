#include "real/bug.h"

namespace adamant::real {

#if defined(ADAMANT_BUGS) && !defined(__CUDACC__)

namespace {
Bug selected_bug = Bug::none;
}  // namespace

void select_bug(Bug bug) {
  selected_bug = bug;
}
bool bug_is(Bug bug) {
  return selected_bug == bug;
}

#endif

}  // namespace adamant::real
