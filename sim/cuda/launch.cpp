// Kernels: blocks run one after another in an order from Choices; the threads of a block are fibers
// that meet at __syncthreads. A block of one thread needs no fiber and runs at the speed of a plain
// loop.

#include <cuda_runtime.h>

#include <memory>
#include <span>
#include <vector>

#include "sim/cuda/runtime.h"
#include "sim/cuda/shared_memory.h"

constinit thread_local uint3 threadIdx = {0, 0, 0};
constinit thread_local uint3 blockIdx = {0, 0, 0};
constinit thread_local dim3 blockDim(1, 1, 1);
constinit thread_local dim3 gridDim(1, 1, 1);

namespace adamant::sim {
namespace {

constexpr std::uint64_t threads_per_block_max = 1024;
// Waking other threads for less costs more than it gains.
constexpr std::uint64_t shared_blocks_min = 16;

struct Launch {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  std::function<void()> body;  // one thread
};

uint3 unflatten(std::uint64_t index, dim3 const& extent) {
  return {static_cast<unsigned>(index % extent.x),
          static_cast<unsigned>(index / extent.x % extent.y),
          static_cast<unsigned>(index / extent.x / extent.y)};
}

std::uint64_t count(dim3 const& extent) {
  return std::uint64_t{extent.x} * extent.y * extent.z;
}

// The block that runs now; null between blocks.
class Block;
Block* current_block = nullptr;
// The judge of the kernel that runs now; null where nobody judges.
Watch* kernel_watch = nullptr;

// Runs the threads of one block, each as far as it comes, round by round of __syncthreads. A fiber
// runs one thread after another until one waits, and then another fiber goes on with the next: a
// block without barriers needs a single stack.
class Block {
 public:
  explicit Block(Launch const& launch) : launch_(launch), threads_(count(launch.block)) {}

  void run() {
    current_block = this;
    while (next_ < threads_) start();
    while (!waiting_.empty()) {
      std::vector<Runner*> const round = std::exchange(waiting_, {});
      for (Runner* runner : round) resume(*runner);
    }
    current_block = nullptr;
  }

  void synchronise() {
    adamant_sim_kernel_ends();
    running_->fiber.suspend();
    adamant_sim_kernel_begins();
  }

 private:
  struct Runner {
    Fiber fiber;
    std::uint64_t thread = 0;
  };

  void start() {
    Runner& runner = *runners_.emplace_back(std::make_unique<Runner>());
    runner.fiber.start(Fiber::StackSize::device_thread, [this, &runner] {
      while (next_ < threads_) {
        runner.thread = next_++;
        threadIdx = unflatten(runner.thread, launch_.block);
        launch_.body();
      }
    });
    resume(runner);
  }

  void resume(Runner& runner) {
    threadIdx = unflatten(runner.thread, launch_.block);
    running_ = &runner;
    runner.fiber.resume();
    if (runner.fiber.alive()) waiting_.push_back(&runner);
  }

  Launch const& launch_;
  std::uint64_t threads_;
  std::uint64_t next_ = 0;  // the first thread that nobody has started
  std::vector<std::unique_ptr<Runner>> runners_;
  std::vector<Runner*> waiting_;
  Runner* running_ = nullptr;
};

void run_block(Launch const& launch) {
  threadIdx = {0, 0, 0};
  if (launch.shared_bytes > 0) poison_shared();
  if (count(launch.block) == 1) return launch.body();
  Block(launch).run();
}

// Only a block that needs no fiber and no dynamic shared memory can run on any thread.
bool is_shareable(Runtime& runtime, Launch const& launch) {
  return runtime.world.crew().size() > 1 && !runtime.world.options().checked &&
         count(launch.block) == 1 && launch.shared_bytes == 0;
}

void run(Runtime& runtime, Launch const& launch) {
  std::uint64_t const blocks = count(launch.grid);
  kernel_watch = runtime.watch.enabled() ? &runtime.watch : nullptr;
  set_shared_bytes(launch.shared_bytes);
  current_block = nullptr;  // a block that broke off left itself there
  bool const backwards = blocks > 1 && runtime.world.choices().pick(2) == 1;
  runtime.world.choices().mark(CoverageMark::blocks_backwards, backwards);
  auto const run_one = [&](std::uint64_t i) {
    std::uint64_t const block = backwards ? blocks - 1 - i : i;
    blockDim = launch.block;
    gridDim = launch.grid;
    blockIdx = unflatten(block, launch.grid);
    runtime.watch.set_block(static_cast<std::uint32_t>(block));
    run_block(launch);
  };
  if (blocks >= shared_blocks_min && is_shareable(runtime, launch)) {
    return runtime.world.crew().share(blocks,
                                      [&](std::size_t block, std::size_t) { run_one(block); });
  }
  for (std::uint64_t i = 0; i < blocks; ++i) run_one(i);
}

cudaError_t check(cudaLaunchConfig_t const& config) {
  dim3 const& grid = config.gridDim;
  dim3 const& block = config.blockDim;
  bool const empty = count(grid) == 0 || count(block) == 0;
  bool const wide = grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535;
  bool const deep = block.x > 1024 || block.y > 1024 || block.z > 64;
  if (empty || wide || deep || count(block) > threads_per_block_max) {
    return cudaErrorInvalidValue;  // cudaErrorInvalidConfiguration before CUDA 13
  }
  return config.dynamicSmemBytes > shared_bytes_max ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t refuse(Runtime& runtime, Stream const& stream, cudaError_t error) {
  Capture* const capture = capture_of(runtime, stream);
  if (capture == nullptr) return error;
  return invalidate(runtime, *capture, "a launch", error, "no kernel can be launched so");
}

cudaError_t enqueue_launch(Runtime& runtime, cudaLaunchConfig_t const& config, void const* function,
                           std::function<void()> body,
                           std::span<adamant_sim_argument const> arguments) {
  Stream* const stream = stream_of(runtime, config.stream);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (cudaError_t const error = check(config); error != cudaSuccess)
    return refuse(runtime, *stream, error);
  StreamOperation& operation = runtime.world.make(OperationKind::kernel, "kernel", 0, function);
  operation.cost_ns = 3000 + 100 * count(config.gridDim);
  operation.body = [&runtime, launch = Launch{config.gridDim, config.blockDim,
                                              config.dynamicSmemBytes, std::move(body)}] {
    run(runtime, launch);
  };
  cudaError_t const error = enqueue(runtime, *stream, operation);
  if (runtime.captures.empty() || error != cudaSuccess) return error;
  if (GraphNode* const node = newest_node(runtime, *stream)) {
    for (adamant_sim_argument const& argument : arguments) {
      hold_arguments(runtime, *node, argument.at, argument.bytes);
    }
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace adamant::sim

using namespace adamant::sim;

cudaError_t adamant_sim_launch(cudaLaunchConfig_t const* config, void const* function,
                               std::function<void()> body, adamant_sim_argument const* arguments,
                               std::size_t argument_count) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (config == nullptr) return cudaErrorInvalidValue;
    return enqueue_launch(runtime, *config, function, std::move(body), {arguments, argument_count});
  });
}

extern "C" {

void adamant_sim_kernel_begins() {
  if (kernel_watch != nullptr) active_watch = kernel_watch;
}

void adamant_sim_kernel_ends() {
  if (kernel_watch != nullptr) active_watch = nullptr;
}

void adamant_sim_name_kernel(void const* kernel, char const* name) {
  if (runs_world) name_function(kernel, name);  // what another thread launches is refused
}

void __syncthreads() {
  if (current_block != nullptr) current_block->synchronise();
}

void* adamant_sim_dynamic_shared() {
  return dynamic_shared();
}

}  // extern "C"
