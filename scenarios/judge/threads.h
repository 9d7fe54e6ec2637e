// Independent pieces of work on all of the machine's cores.
#pragma once

#include <cstddef>
#include <functional>

namespace adamant::scenarios {

/// Calls `work(i)` for every i in [0, count) once, on any thread and in any order, and returns when
/// all are done. REQUIRES: `work` throws nothing.
void on_all_cores(std::size_t count, std::function<void(std::size_t)> const& work);

}  // namespace adamant::scenarios
