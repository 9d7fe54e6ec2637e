// Ranks as threads that can be left behind. Where one has failed, another may wait for it on a
// device, and nobody can tell a device: whoever started them goes on without such a rank, and its
// process has to end soon. It knows no engine.
#pragma once

#include <chrono>
#include <functional>

namespace adamant::scenarios {

/// Calls `body` for every rank, each on a thread of its own, and waits until all have returned;
/// true. Once one has `failed` the others have `patience`: where that runs out they are left,
/// false, and what they use must stay to the end of the process.
///
/// REQUIRES: `body` throws nothing; `failed` may be called at any time.
bool run_on_threads(int ranks, std::function<void(int rank)> body,
                    std::function<bool()> const& failed,
                    std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace adamant::scenarios
