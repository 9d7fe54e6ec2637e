#include <string>

#include "properties/conformance/on_device.h"
#include "sim/sim.h"

namespace adamant::properties {

void on_device(std::function<void()> const& body) {
  constexpr int schedules = 24;
  sim::Report const report = sim::explore(
      1,
      [&](int) {
        body();
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
      },
      schedules);
  EXPECT_TRUE(report.ok()) << sim::describe(report);
}

}  // namespace adamant::properties
