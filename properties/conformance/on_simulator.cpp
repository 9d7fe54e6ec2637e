#include <string>

#include "properties/conformance/on_device.h"
#include "sim/sim.h"

namespace adamant::properties {

namespace {

void run_case(std::function<void()> const& body) {
  body();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace

void on_device(std::function<void()> const& body) {
  constexpr int schedules = 24;
  sim::Report const report = sim::explore(
      1, [&](int) { run_case(body); }, schedules);
  EXPECT_TRUE(report.ok()) << sim::describe(report);
}

void on_device_against_capture_rules(std::function<void()> const& body) {
  constexpr std::uint64_t seeds = 8;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    sim::Options options;
    options.schedule = {.strategy = sim::Strategy::random, .seed = seed};
    sim::Report const report = sim::run(
        1, [&](int) { run_case(body); }, options);
    EXPECT_FALSE(report.ok());
    for (sim::Violation const& violation : report.violations) {
      EXPECT_EQ(violation.law, sim::Law::graph_capture) << sim::describe(report);
    }
  }
}

}  // namespace adamant::properties
