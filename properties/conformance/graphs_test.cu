// Capture and launch of graphs: rules C-14, C-27, C-28 and G-1, G-2, G-4, G-10, G-14.
#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

/// A captured graph, ready to launch.
class Graph {
 public:
  /// Captures what `enqueue` enqueues on `stream`, and on streams that it forks from there.
  Graph(cudaStream_t stream, std::function<void()> const& enqueue,
        cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
    enqueue();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec_, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);  // what was made of it lives on
  }
  ~Graph() { EXPECT_EQ(cudaGraphExecDestroy(exec_), cudaSuccess); }
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;
  cudaError_t launch(cudaStream_t stream) const { return cudaGraphLaunch(exec_, stream); }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

__global__ void append_from(int* value, int const* digit) {
  *value = *value * 10 + *digit;
}

TEST(Graphs, ACaptureExecutesNothingAndALaunchEverything) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    Graph const graph(stream, [&] {
      ASSERT_CUDA(append_to(value, 1, stream));
      ASSERT_CUDA(append_to(value, 2, stream));
    });
    EXPECT_EQ(value.value(), 0);
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 12);
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 1212);
  });
}

TEST(Graphs, EveryModeCaptures) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                            cudaStreamCaptureModeRelaxed}) {
      Graph const graph(
          stream, [&] { ASSERT_CUDA(append_to(value, mode + 1, stream)); }, mode);
      ASSERT_CUDA(graph.launch(stream));
      ASSERT_CUDA(cudaStreamSynchronize(stream));
    }
    EXPECT_EQ(value.value(), 123);
  });
}

TEST(Graphs, LaunchesOfOneGraphRunOneAfterTheOther) {
  on_device([] {
    Stream const first;
    Stream const second;
    DeviceInts const value;
    Graph const graph(first, [&] { ASSERT_CUDA(append_to(value, 1, first)); });
    ASSERT_CUDA(graph.launch(first));
    ASSERT_CUDA(graph.launch(second));  // ordered by nothing but the graph
    EXPECT_EQ(value.value(), 11);
  });
}

TEST(Graphs, ALaunchIsOrderedByItsLaunchStreamAlone) {
  on_device([] {
    Stream const captured_on;
    Stream const stream;
    DeviceInts const value;
    Graph const graph(captured_on, [&] { ASSERT_CUDA(append_to(value, 2, captured_on)); });
    ASSERT_CUDA(append_to(value, 1, stream));
    ASSERT_CUDA(graph.launch(stream));
    ASSERT_CUDA(append_to(value, 3, stream));
    EXPECT_EQ(value.value(), 123);
  });
}

TEST(Graphs, WorkAroundACaptureKeepsItsOrder) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    DeviceInts const other;
    ASSERT_CUDA(append_to(value, 1, stream));
    Graph const graph(stream, [&] { ASSERT_CUDA(append_to(other, 5, stream)); });
    ASSERT_CUDA(append_to(value, 2, stream));
    EXPECT_EQ(value.value(), 12);
    EXPECT_EQ(other.value(), 0);
  });
}

TEST(Graphs, ForksAndJoinsByEventsBecomeEdges) {
  on_device([] {
    Stream const stream;
    Stream const fork;
    Event const forked;
    Event const joined;
    DeviceInts const value;
    DeviceInts const beside;
    Graph const graph(stream, [&] {
      ASSERT_CUDA(append_to(value, 1, stream));
      ASSERT_CUDA(cudaEventRecord(forked, stream));
      ASSERT_CUDA(append_to(beside, 7, stream));
      ASSERT_CUDA(cudaStreamWaitEvent(fork, forked));
      ASSERT_CUDA(append_to(value, 2, fork));
      ASSERT_CUDA(cudaEventRecord(joined, fork));
      ASSERT_CUDA(cudaStreamWaitEvent(stream, joined));
      ASSERT_CUDA(append_to(value, 3, stream));
    });
    ASSERT_CUDA(graph.launch(stream));
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 123123);
    EXPECT_EQ(beside.value(), 77);
  });
}

TEST(Graphs, AForkedStreamCapturesUntilTheEnd) {
  on_device([] {
    Stream const stream;
    Stream const fork;
    Event const event;
    DeviceInts const value;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    Graph const graph(stream, [&] {
      ASSERT_CUDA(append_to(value, 1, stream));
      ASSERT_CUDA(cudaEventRecord(event, stream));
      ASSERT_CUDA(cudaStreamWaitEvent(fork, event));
      ASSERT_CUDA(cudaStreamIsCapturing(fork, &status));
      EXPECT_EQ(status, cudaStreamCaptureStatusActive);
      ASSERT_CUDA(append_to(value, 2, fork));
      ASSERT_CUDA(cudaEventRecord(event, fork));
      ASSERT_CUDA(cudaStreamWaitEvent(stream, event));
    });
    ASSERT_CUDA(cudaStreamIsCapturing(fork, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
    ASSERT_CUDA(append_to(value, 9, fork));
    EXPECT_EQ(value.value(), 9);
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 912);
  });
}

TEST(Graphs, KernelArgumentsAreThoseOfTheCapture) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    int digit = 4;
    Graph const graph(stream, [&] { ASSERT_CUDA(append_to(value, digit, stream)); });
    digit = 5;
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 4);
  });
}

TEST(Graphs, DeviceMemoryIsReadAtEachLaunch) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    DeviceInts const digit;
    Graph const graph(stream, [&] {
      ASSERT_CUDA(launch(append_from, 1, 1, stream, value.data(), digit.data()));
      ASSERT_CUDA(append_to(digit, 1, stream));
    });
    for (int i = 0; i < 2; ++i) ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 1);
  });
}

TEST(Graphs, CopiesReadPinnedMemoryAtEachLaunch) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    PinnedInts const source;
    Graph const graph(stream, [&] {
      ASSERT_CUDA(cudaMemcpyAsync(value.data(), source.data(), source.bytes(),
                                  cudaMemcpyHostToDevice, stream));
    });
    source[0] = 6;
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 6);
    source[0] = 7;
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 7);
  });
}

TEST(Graphs, CopiesReadPageableMemoryAtEachLaunch) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    std::vector<int> source = {0};
    Graph const graph(stream, [&] {
      ASSERT_CUDA(cudaMemcpyAsync(value.data(), source.data(), sizeof(int), cudaMemcpyHostToDevice,
                                  stream));
    });
    source[0] = 6;
    ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 6);
  });
}

TEST(Graphs, FillsRunAtEachLaunch) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    Graph const graph(stream, [&] {
      ASSERT_CUDA(cudaMemsetAsync(value.data(), 0, value.bytes(), stream));
      ASSERT_CUDA(append_to(value, 8, stream));
    });
    for (int i = 0; i < 3; ++i) ASSERT_CUDA(graph.launch(stream));
    EXPECT_EQ(value.value(), 8);
  });
}

TEST(Graphs, HostFunctionsRunAtEachLaunch) {
  on_device([] {
    Stream const stream;
    int calls = 0;
    Graph const graph(stream, [&] {
      auto const count = [](void* data) { ++*static_cast<int*>(data); };
      ASSERT_CUDA(cudaLaunchHostFunc(stream, count, &calls));
    });
    EXPECT_EQ(calls, 0);
    for (int i = 0; i < 3; ++i) ASSERT_CUDA(graph.launch(stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(calls, 3);
  });
}

TEST(Graphs, AnEventRecordedAfterALaunchWaitsForAllOfIt) {
  on_device([] {
    Stream const stream;
    Stream const other;
    Event const done;
    DeviceInts const value;
    Graph const graph(stream, [&] { ASSERT_CUDA(append_to(value, 1, stream)); });
    ASSERT_CUDA(graph.launch(stream));
    ASSERT_CUDA(cudaEventRecord(done, stream));
    ASSERT_CUDA(cudaStreamWaitEvent(other, done));
    ASSERT_CUDA(append_to(value, 2, other));
    EXPECT_EQ(value.value(), 12);
  });
}

TEST(Graphs, ExternalEventsReachOutOfTheGraph) {
  on_device([] {
    Stream const stream;
    Stream const other;
    Event const inside;
    Event const outside;
    DeviceInts const value;
    Graph const graph(stream, [&] {
      ASSERT_CUDA(cudaStreamWaitEvent(stream, outside, cudaEventWaitExternal));
      ASSERT_CUDA(append_to(value, 2, stream));
      ASSERT_CUDA(cudaEventRecordWithFlags(inside, stream, cudaEventRecordExternal));
    });
    ASSERT_CUDA(append_to(value, 1, other));
    ASSERT_CUDA(cudaEventRecord(outside, other));
    ASSERT_CUDA(graph.launch(stream));
    ASSERT_CUDA(cudaStreamWaitEvent(other, inside));
    ASSERT_CUDA(append_to(value, 3, other));
    EXPECT_EQ(value.value(), 123);
  });
}

TEST(Graphs, AnEmptyCaptureIsAGraphWithoutNodes) {
  on_device([] {
    Stream const stream;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    ASSERT_NE(graph, nullptr);
    std::size_t count = 1;
    ASSERT_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT_EQ(count, 0U);
    ASSERT_CUDA(cudaGraphDestroy(graph));
  });
}

TEST(Graphs, NodesHaveTheTypesOfWhatWasCaptured) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASSERT_CUDA(cudaMemsetAsync(value.data(), 0, value.bytes(), stream));
    ASSERT_CUDA(append_to(value, 1, stream));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    std::size_t count = 2;
    cudaGraphNode_t nodes[2] = {};
    ASSERT_CUDA(cudaGraphGetNodes(graph, nodes, &count));
    ASSERT_EQ(count, 2U);
    int kernels = 0;
    int fills = 0;
    for (cudaGraphNode_t const node : nodes) {
      cudaGraphNodeType type = cudaGraphNodeTypeHost;
      ASSERT_CUDA(cudaGraphNodeGetType(node, &type));
      kernels += type == cudaGraphNodeTypeKernel ? 1 : 0;
      fills += type == cudaGraphNodeTypeMemset ? 1 : 0;
    }
    EXPECT_EQ(kernels, 1);
    EXPECT_EQ(fills, 1);
    ASSERT_CUDA(cudaGraphDestroy(graph));
  });
}

TEST(Graphs, CaptureInfoNamesTheCaptureAndWhatComesNextAfterWhat) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    ASSERT_CUDA(cudaStreamGetCaptureInfo(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASSERT_CUDA(append_to(value, 1, stream));
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t const* nodes = nullptr;
    cudaGraphEdgeData const* edges = nullptr;
    std::size_t count = 0;
    ASSERT_CUDA(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &count));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_NE(id, 0U);
    EXPECT_NE(graph, nullptr);
    EXPECT_EQ(count, 1U);
    cudaGraphNode_t const first = nodes[0];
    ASSERT_CUDA(append_to(value, 2, stream));
    ASSERT_CUDA(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &count));
    EXPECT_EQ(count, 1U);
    EXPECT_NE(nodes[0], first);
    cudaGraph_t ended = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &ended));
    EXPECT_EQ(ended, graph);
    ASSERT_CUDA(cudaGraphDestroy(ended));
  });
}

}  // namespace
}  // namespace adamant::properties
