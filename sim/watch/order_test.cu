// Unordered accesses, each beside the same program with its one missing edge.
#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

Side const copy_writes{"cudaMemcpyAsync of 64 bytes", "a", "write"};
Side const copy_reads{"cudaMemcpyAsync of 64 bytes", "a", "read"};
Side const fill_on_a{"fill", "a", "write"};
Side const sum_on_b{"sum", "b", "read"};

/// Two streams, a buffer that a writes and b reads, and somewhere for b to put the sum.
struct TwoStreams {
  cudaStream_t a = new_stream("a");
  cudaStream_t b = new_stream("b");
  cudaEvent_t event = new_event();
  float* data = on_device("data");
  float* total = on_device("total");
  void write_on_a() const { fill<<<1, 1, 0, a>>>(data, count, 1.0F); }
  void read_on_b() const { sum<<<1, 1, 0, b>>>(total, data, count); }
};

Expected const unordered_streams{Law::order_race, {fill_on_a, sum_on_b}, 0, bytes};

TEST_F(Judge, FindsAMissingEventWaitBetweenStreams) {
  judge(
      [](bool right) {
        TwoStreams const s;
        s.write_on_a();
        cudaEventRecord(s.event, s.a);
        if (right) cudaStreamWaitEvent(s.b, s.event, 0);
        s.read_on_b();
        finish();
      },
      unordered_streams);
}

TEST_F(Judge, FindsAnEventRecordedTooEarly) {
  judge(
      [](bool right) {
        TwoStreams const s;
        if (!right) cudaEventRecord(s.event, s.a);
        s.write_on_a();
        if (right) cudaEventRecord(s.event, s.a);
        cudaStreamWaitEvent(s.b, s.event, 0);
        s.read_on_b();
        finish();
      },
      unordered_streams);
}

TEST_F(Judge, FindsAWaitBoundToTheOlderRecord) {
  judge(
      [](bool right) {
        TwoStreams const s;
        cudaEventRecord(s.event, s.a);
        if (!right) cudaStreamWaitEvent(s.b, s.event, 0);
        s.write_on_a();
        cudaEventRecord(s.event, s.a);
        if (right) cudaStreamWaitEvent(s.b, s.event, 0);
        s.read_on_b();
        finish();
      },
      unordered_streams);
}

TEST_F(Judge, FindsAWaitForAnEventThatWasNeverRecorded) {
  judge(
      [](bool right) {
        TwoStreams const s;
        s.write_on_a();
        if (right) cudaEventRecord(s.event, s.a);
        cudaStreamWaitEvent(s.b, s.event, 0);
        s.read_on_b();
        finish();
      },
      unordered_streams);
}

TEST_F(Judge, FindsAnEdgeInTheWrongDirection) {
  judge(
      [](bool right) {
        TwoStreams const s;
        s.write_on_a();
        right ? order(s.a, s.b) : order(s.b, s.a);
        s.read_on_b();
        finish();
      },
      unordered_streams);
}

TEST_F(Judge, FindsAWriterThatDoesNotWaitForReaders) {
  judge(
      [](bool right) {
        TwoStreams const s;
        s.write_on_a();
        order(s.a, s.b);
        s.read_on_b();
        if (right) order(s.b, s.a);
        s.write_on_a();
        finish();
      },
      unordered_streams);
}

TEST_F(Judge, FindsAHostThatDoesNotWaitForACopy) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float* const on_host = pinned("on host");
        s.write_on_a();
        cudaMemcpyAsync(on_host, s.data, bytes, cudaMemcpyDeviceToHost, s.a);
        if (right) cudaStreamSynchronize(s.a);
        float volatile const seen = on_host[3];
        static_cast<void>(seen);
        finish();
      },
      {Law::order_race, {copy_writes, {"host code", "host", "read"}}, 12, 16});
}

TEST_F(Judge, FindsAHostThatWaitsForTheWrongStream) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float* const on_host = pinned("on host");
        s.write_on_a();
        cudaMemcpyAsync(on_host, s.data, bytes, cudaMemcpyDeviceToHost, s.a);
        cudaStreamSynchronize(right ? s.a : s.b);
        float volatile const seen = on_host[3];
        static_cast<void>(seen);
        finish();
      },
      {Law::order_race, {copy_writes, {"host code", "host", "read"}}, 12, 16});
}

TEST_F(Judge, FindsAHostThatPollsAnEventOfTheWorkBefore) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float* const on_host = pinned("on host");
        s.write_on_a();
        if (!right) cudaEventRecord(s.event, s.a);
        cudaMemcpyAsync(on_host, s.data, bytes, cudaMemcpyDeviceToHost, s.a);
        if (right) cudaEventRecord(s.event, s.a);
        while (cudaEventQuery(s.event) == cudaErrorNotReady) {
        }
        float volatile const seen = on_host[3];
        static_cast<void>(seen);
        finish();
      },
      {Law::order_race, {copy_writes, {"host code", "host", "read"}}, 12, 16});
}

TEST_F(Judge, FindsAHostThatOverwritesASourceInFlight) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float* const on_host = pinned("on host");
        cudaMemcpyAsync(s.data, on_host, bytes, cudaMemcpyHostToDevice, s.a);
        if (right) cudaStreamSynchronize(s.a);
        on_host[0] = 7.0F;
        finish();
      },
      {Law::order_race, {copy_reads, {"host code", "host", "write"}}, 0, 4});
}

TEST_F(Judge, FindsAPageableSourceThatIsModifiedInFlight) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float source[count] = {};
        cudaMemcpyAsync(s.data, source, bytes, cudaMemcpyHostToDevice, s.a);
        if (right) cudaStreamSynchronize(s.a);
        float volatile* const later = source;
        later[1] = 7.0F;
        finish();
      },
      {Law::order_race, {copy_reads, {"host code", "host", "write"}}, 4, 8});
}

void copy_what_a_host_function_writes(bool right) {
  TwoStreams const s;
  float source[count] = {};
  cudaLaunchHostFunc(
      s.a, [](void* to) { static_cast<float*>(to)[0] = 7.0F; }, source);
  if (right) cudaStreamSynchronize(s.a);
  cudaMemcpyAsync(s.data, source, bytes, cudaMemcpyHostToDevice, s.a);
  cudaStreamSynchronize(s.a);
}

// The copy may read its source at the call, before its turn in the stream. Seen in schedules in
// which the function runs after the call: earlier, nobody knows that its memory is of interest.
TEST_F(Judge, FindsAPageableSourceThatAHostFunctionStillWrites) {
  Report const wrong = explore(
      1, [](int) { copy_what_a_host_function_writes(false); }, 50);
  ASSERT_EQ(wrong.violations.size(), 1U);
  EXPECT_EQ(wrong.violations.front().law, Law::order_race);
  EXPECT_NE(describe(wrong).find("by a lambda of copy_what_a_host_function_writes on stream `a`"),
            std::string::npos)
      << describe(wrong);
  Report const right = explore(
      1, [](int) { copy_what_a_host_function_writes(true); }, 50);
  EXPECT_TRUE(right.ok()) << describe(right);
}

TEST_F(Judge, LetsTwoCopiesReadOnePageableSource) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float source[count] = {};
        cudaMemcpyAsync(s.data, source, bytes, cudaMemcpyHostToDevice, s.a);
        cudaMemcpyAsync(s.total, source, bytes, cudaMemcpyHostToDevice, s.b);
        cudaStreamSynchronize(s.b);
        if (right) cudaStreamSynchronize(s.a);
        float volatile* const later = source;
        later[1] = 7.0F;
        finish();
      },
      {Law::order_race, {copy_reads, {"host code", "host", "write"}}, 4, 8});
}

TEST_F(Judge, FindsARaceInRegisteredMemory) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float target[count] = {};
        cudaHostRegister(target, bytes, cudaHostRegisterDefault);
        s.write_on_a();
        cudaMemcpyAsync(target, s.data, bytes, cudaMemcpyDeviceToHost, s.a);
        if (right) cudaStreamSynchronize(s.a);
        float const volatile* const later = target;
        static_cast<void>(later[2]);
        finish();
        cudaHostUnregister(target);
      },
      {Law::order_race, {copy_writes, {"host code", "host", "read"}}, 8, 12});
}

void write_flag(void* flag) {
  *static_cast<float*>(flag) = 5.0F;
}

TEST_F(Judge, FindsAHostThatReadsWhatAHostFunctionWrites) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const flag = pinned("flag");
        cudaLaunchHostFunc(a, write_flag, flag);
        if (right) cudaStreamSynchronize(a);
        float volatile const seen = *flag;
        static_cast<void>(seen);
        finish();
      },
      {Law::order_race, {{"write_flag", "a", "write"}, {"host code", "host", "read"}}, 0, 4});
}

TEST_F(Judge, KnowsThatTheDefaultStreamOrdersBlockingStreamsOnly) {
  judge(
      [](bool right) {
        cudaStream_t const b = new_stream("b", right ? cudaStreamDefault : cudaStreamNonBlocking);
        float* const data = on_device("data");
        float* const total = on_device("total");
        fill<<<1, 1>>>(data, count, 1.0F);
        sum<<<1, 1, 0, b>>>(total, data, count);
        finish();
      },
      {Law::order_race, {{"fill", "default", "write"}, sum_on_b}, 0, bytes});
}

TEST_F(Judge, KnowsThatTheDefaultStreamWaitsForBlockingStreamsOnly) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a", right ? cudaStreamDefault : cudaStreamNonBlocking);
        float* const data = on_device("data");
        float* const total = on_device("total");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        sum<<<1, 1>>>(total, data, count);
        finish();
      },
      {Law::order_race, {fill_on_a, {"sum", "default", "read"}}, 0, bytes});
}

TEST_F(Judge, KnowsThatASynchronousCopyFromPageableMemoryReturnsAfterStaging) {
  judge(
      [](bool right) {
        TwoStreams const s;
        float const source[count] = {};
        cudaMemcpy(s.data, source, bytes, cudaMemcpyHostToDevice);
        if (right) cudaStreamSynchronize(nullptr);
        s.read_on_b();
        finish();
      },
      {Law::order_race, {{"cudaMemcpy of 64 bytes", "default", "write"}, sum_on_b}, 0, bytes});
}

TEST_F(Judge, KnowsThatAFillOfDeviceMemoryDoesNotWait) {
  judge(
      [](bool right) {
        TwoStreams const s;
        cudaMemset(s.data, 0, bytes);
        if (right) cudaDeviceSynchronize();
        s.read_on_b();
        finish();
      },
      {Law::order_race, {{"cudaMemset of 64 bytes", "default", "write"}, sum_on_b}, 0, bytes});
}

TEST_F(Judge, FindsTwoHostsThatOnlyMeet) {
  static float* shared = nullptr;
  judge(
      [](bool right) {
        if (current_rank() == 0) shared = pinned("shared");
        meet();
        if (current_rank() == 0) shared[0] = 3.0F;
        right ? barrier() : meet();
        if (current_rank() == 1) {
          float volatile const seen = shared[0];
          static_cast<void>(seen);
        }
      },
      {Law::order_race,
       {{"host code", "host", "write"}, {"host code", "host", "read"}},
       0,
       4,
       /*ranks=*/2});
}

TEST_F(Judge, NamesTheMissingEdgeFromTheHostOfAnotherRank) {
  static float* shared = nullptr;
  Report const report = run(2, [](int rank) {
    if (rank == 0) shared = pinned("shared");
    meet();
    cudaStream_t const a = new_stream("a");
    if (rank == 1) sum<<<1, 1, 0, a>>>(on_device("total"), shared, 1);
    finish();
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations.back().missing,
            "no collective or barrier orders the host of rank 0 before sum of rank 1");
}

}  // namespace
}  // namespace adamant::sim
