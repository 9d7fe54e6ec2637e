// The trace of a run: what is on which track, what comes after what, and that it is kept only where
// it is wanted.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {
namespace {

Options traced() {
  Options options;
  options.trace = true;
  return options;
}

cudaStream_t stream_called(char const* name) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  name_stream(stream, name);
  return stream;
}

/// The first event of that kind; of a stream, where one is named.
Event const* find(Report const& report, EventKind kind, std::string const& stream = "") {
  auto const found =
      std::find_if(report.trace.begin(), report.trace.end(), [&](Event const& event) {
        return event.kind == kind && (stream.empty() || event.stream == stream);
      });
  return found == report.trace.end() ? nullptr : &*found;
}

Event const* called(Report const& report, std::string const& name) {
  auto const found = std::find_if(
      report.trace.begin(), report.trace.end(),
      [&](Event const& event) { return event.kind == EventKind::call && event.name == name; });
  return found == report.trace.end() ? nullptr : &*found;
}

/// Whose numbers `event` has among what it comes after.
std::vector<Event const*> before(Report const& report, Event const& event) {
  std::vector<Event const*> events;
  for (std::uint32_t const number : event.after) events.push_back(&report.trace[number]);
  return events;
}

/// A fill on `a`, an event after it, `b` waits for that and copies to the host, which waits.
void one_edge(int) {
  cudaStream_t const a = stream_called("a");
  cudaStream_t const b = stream_called("b");
  void* data = nullptr;
  void* host = nullptr;
  cudaMalloc(&data, 64);
  cudaMallocHost(&host, 64);
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  note_operation(3, "step");
  cudaMemsetAsync(data, 1, 64, a);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  cudaMemcpyAsync(host, data, 64, cudaMemcpyDeviceToHost, b);
  cudaStreamSynchronize(b);
  note_operation(-1);
  cudaStreamSynchronize(a);
}

TEST(Trace, HasWhatEachOperationComesAfter) {
  Report const report = run(1, one_edge, traced());
  ASSERT_TRUE(report.ok()) << describe(report);
  Event const* const fill = find(report, EventKind::fill, "a");
  Event const* const record = find(report, EventKind::record, "a");
  Event const* const wait = find(report, EventKind::wait, "b");
  Event const* const copy = find(report, EventKind::copy, "b");
  ASSERT_TRUE(fill && record && wait && copy);
  EXPECT_EQ(before(report, *fill), std::vector{called(report, "cudaMemsetAsync")});
  EXPECT_EQ(before(report, *wait), (std::vector{called(report, "cudaStreamWaitEvent"), record}));
  EXPECT_EQ(before(report, *called(report, "cudaStreamSynchronize")), std::vector{copy});
  EXPECT_GE(wait->end_ns, record->end_ns);
  EXPECT_EQ(copy->path, CopyPath::device_to_host);
  EXPECT_EQ(copy->bytes, 64U);
  EXPECT_EQ(copy->operation, 3);
  EXPECT_EQ(fill->path, CopyPath::none);
}

TEST(Trace, HasASpanForWhatTheHostAnnounced) {
  Report const report = run(1, one_edge, traced());
  Event const* const span = find(report, EventKind::program_operation);
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->name, "step");
  EXPECT_EQ(span->operation, 3);
  Event const* const call = called(report, "cudaMemsetAsync");
  Event const* const wait = called(report, "cudaStreamSynchronize");
  EXPECT_LE(span->begin_ns, call->begin_ns);
  EXPECT_GE(span->end_ns, wait->end_ns);
  EXPECT_LT(span->end_ns, report.simulated_ns + 1000);
}

TEST(Trace, OfOneTrackLiesOneAfterTheOtherOrWithin) {
  Options options = traced();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    options.schedule = {.strategy = Strategy::random, .seed = seed};
    Report const report = run(2, one_edge, options);
    for (Event const& a : report.trace)
      for (Event const& b : report.trace) {
        if (a.track != b.track || &a >= &b) continue;
        bool const apart = a.end_ns <= b.begin_ns || b.end_ns <= a.begin_ns;
        bool const within = a.begin_ns <= b.begin_ns && b.end_ns <= a.end_ns;
        ASSERT_TRUE(apart || within) << a.name << " and " << b.name;
      }
  }
}

TEST(Trace, IsKeptOnlyWhereItIsWantedAndChangesNothing) {
  Options options;
  Report const without = run(2, one_edge, options);
  Report const with = run(2, one_edge, traced());
  EXPECT_TRUE(without.trace.empty());
  EXPECT_FALSE(with.trace.empty());
  EXPECT_EQ(without.digest, with.digest);
  EXPECT_EQ(without.choices, with.choices);
}

TEST(Trace, NamesTheEventsOfAViolation) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  Options options = traced();
  options.locate = false;
  Report const report = run(
      1,
      [](int) {
        cudaStream_t const a = stream_called("a");
        cudaStream_t const b = stream_called("b");
        void* data = nullptr;
        cudaMalloc(&data, 64);
        cudaMemsetAsync(data, 1, 64, a);
        cudaMemsetAsync(data, 2, 64, b);
        cudaStreamSynchronize(a);
        cudaStreamSynchronize(b);
        cudaFree(data);
      },
      options);
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  for (Access const& access : report.violations[0].accesses) {
    ASSERT_GE(access.event, 0);
    Event const& event = report.trace[static_cast<std::size_t>(access.event)];
    EXPECT_EQ(event.kind, EventKind::fill);
    EXPECT_EQ(event.stream, access.stream);
  }
}

TEST(Trace, PlacesAnAccessOfHostCodeBetweenItsCalls) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  Options options = traced();
  options.locate = false;
  Report const report = run(
      1,
      [](int) {
        cudaStream_t const a = stream_called("a");
        void* host = nullptr;
        void* data = nullptr;
        cudaMallocHost(&host, 64);
        cudaMalloc(&data, 64);
        cudaMemsetAsync(data, 1, 64, a);
        cudaMemcpyAsync(host, data, 64, cudaMemcpyDeviceToHost, a);
        std::byte seen[64];
        copy_watched(seen, host, 64);
        cudaStreamSynchronize(a);
        cudaFreeHost(host);
      },
      options);
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  bool found = false;
  for (Access const& access : report.violations[0].accesses) {
    Event const& event = report.trace[static_cast<std::size_t>(access.event)];
    if (event.kind != EventKind::host_access) continue;
    found = true;
    EXPECT_EQ(event.stream, "host");
    EXPECT_EQ(event.begin_ns, called(report, "cudaMemcpyAsync")->end_ns);
    EXPECT_EQ(event.end_ns, event.begin_ns);
  }
  EXPECT_TRUE(found);
}

TEST(Trace, ShowsWhatWaitsForEver) {
  Options options = traced();
  options.locate = false;
  Report const report = run(
      2,
      [](int rank) {
        if (rank == 0) barrier();
      },
      options);
  ASSERT_EQ(report.violations.size(), 1U);
  ASSERT_GE(report.violations[0].event, 0);
  Event const& mark = report.trace[static_cast<std::size_t>(report.violations[0].event)];
  EXPECT_EQ(mark.kind, EventKind::violation);
  EXPECT_EQ(mark.rank, 0);
  EXPECT_EQ(mark.name, "order.deadlock");
}

}  // namespace
}  // namespace adamant::sim
