// Launch:  blocks over elements (x) times tensors (y); at most `tasks_max` tensors travel in the
//          argument struct, so that a unit of a model is one launch. Each block of a tensor writes
//          one partial fingerprint, in the first microbatch of a rank.
// Traffic: an element of the gradient to write, another to read where it adds, and one of the
//          parameter to read for the fingerprint: of a quantised one its code and its scale.
// Formats: numbers are made, multiplied by the loss scale and added in fp32; each gradient is
//          rounded once to its own format when it is stored, a sum of two once more. Fingerprints
//          are of widened parameters.
#include "scenarios/gradients/source.h"

#include <algorithm>
#include <utility>

#include "real/cuda/error.h"
#include "real/cuda/grid.h"
#include "real/cuda/lanes.h"
#include "real/cuda/plain_loops.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/gradients/plain_loop.h"
#include "scenarios/gradients/task.h"

namespace adamant::scenarios {

namespace {

__device__ float scale_of(GradientArguments const& a) {
  return a.loss_scale == nullptr ? 1.0F : *a.loss_scale;
}

__device__ Part part_of(GradientTask const& task, std::int64_t blocks) {
  std::int64_t const lanes = (task.numel + real::lanes - 1) / real::lanes;
  std::int64_t const chunk = (lanes + blocks - 1) / blocks * real::lanes;
  std::int64_t const begin = static_cast<std::int64_t>(blockIdx.x) * chunk;
  std::int64_t const end = begin + chunk;
  return {.begin = begin, .end = end < task.numel ? end : task.numel};
}

// ---- a thread goes through lanes ----------------------------------------------------------------

// Most tensors of a scenario end before their first eight lanes do: what is beyond is not computed.

/// Lanes beyond `count` stay as they are.
__device__ __forceinline__ void make_gradients(GradientClass kind, MicrobatchKey const& key,
                                               std::uint32_t const* hashes, int count,
                                               float* made) {
  switch (kind) {
    case GradientClass::exact:
      for (int k = 0; k < real::lanes; ++k)
        if (k < count) made[k] = exact_gradient(hashes[k], key);
      return;
    case GradientClass::normal:
      for (int k = 0; k < real::lanes; ++k)
        if (k < count) made[k] = normal_gradient(hashes[k], key);
      return;
    case GradientClass::wild:
      for (int k = 0; k < real::lanes; ++k)
        if (k < count) made[k] = wild_gradient(hashes[k], key);
  }
}

__device__ __forceinline__ void write_lanes(GradientArguments const& a, GradientTask const& task,
                                            float scale, std::uint32_t const* hashes,
                                            real::Lanes const& at) {
  float made[real::lanes] = {};
  make_gradients(a.kind, task.microbatch, hashes, at.count, made);
  std::int64_t const overflow = task.overflow_at - at.begin;
  for (int k = 0; k < real::lanes; ++k)
    made[k] = (k == overflow ? task.overflow_value : made[k]) * scale;
  if (a.accumulate != 0) {
    float older[real::lanes] = {};
    real::load(task.gradient, at, older);
    for (int k = 0; k < real::lanes; ++k)
      made[k] = older[k] + real::rounded(made[k], task.gradient.format);
  }
  real::store(made, task.gradient, at);
}

/// Their share in the fingerprint.
__device__ __forceinline__ std::uint64_t read_lanes(GradientTask const& task,
                                                    std::uint32_t const* hashes,
                                                    real::Lanes const& at) {
  float values[real::lanes] = {};
  if (task.quantised.codes == nullptr)
    real::load(task.value, at, values);
  else
    for (int k = 0; k < at.count; ++k) values[k] = real::value_at(task.quantised, at.begin + k);
  std::uint64_t sum = 0;
  for (int k = 0; k < real::lanes; ++k)
    sum += k < at.count ? fingerprint_term(hashes[k], values[k]) : 0;
  return sum;
}

/// Elements of the part that are the calling thread's; their share in the fingerprint. Where the
/// loops are plain nothing calls it.
[[maybe_unused]] __device__ std::uint64_t run_lanes(GradientArguments const& a,
                                                    GradientTask const& given, Part const& part) {
  GradientTask const task = given;  // a copy that no store in the loop can alias
  float const scale = scale_of(a);
  std::uint64_t sum = 0;
  std::int64_t const stride = static_cast<std::int64_t>(blockDim.x) * real::lanes;
  for (std::int64_t begin = part.begin + threadIdx.x * std::int64_t{real::lanes}; begin < part.end;
       begin += stride) {
    std::int64_t const left = part.end - begin;
    real::Lanes const at{.begin = begin,
                         .count = left < real::lanes ? static_cast<int>(left) : real::lanes};
    std::uint32_t hashes[real::lanes] = {};
    for (int k = 0; k < real::lanes; ++k)
      if (k < at.count) hashes[k] = element_hash(task.key, static_cast<std::uint64_t>(begin + k));
    if (task.gradient.data != nullptr) write_lanes(a, task, scale, hashes, at);
    if (task.partials != nullptr) sum += read_lanes(task, hashes, at);
  }
  return sum;
}

template <bool plain>
__device__ std::uint64_t run_thread(GradientArguments const& a, GradientTask const& task,
                                    Part const& part) {
  if constexpr (plain)
    return run_plain_loop(a, task, part);
  else
    return run_lanes(a, task, part);
}

__device__ void keep_block_sum(std::uint64_t sum, std::uint64_t* partial) {
  __shared__ unsigned long long total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, static_cast<unsigned long long>(sum));
  __syncthreads();
  if (threadIdx.x == 0) *partial = total;
}

__global__ void gradient_kernel(__grid_constant__ GradientArguments const arguments) {
  GradientTask task = arguments.tasks[blockIdx.y];
  if (task.keys != nullptr) {
    task.key = task.keys->tensor;
    task.microbatch = task.keys->microbatch;
    task.overflow_value = task.keys->overflow_value;
    task.overflow_at = task.keys->overflow_at;
  }
  auto const wanted = (task.numel + real::elements_per_block - 1) / real::elements_per_block;
  std::int64_t const blocks = wanted < real::blocks_max ? wanted : real::blocks_max;
  if (static_cast<std::int64_t>(blockIdx.x) >= blocks) return;
  std::uint64_t const sum =
      run_thread<real::has_plain_loops>(arguments, task, part_of(task, blocks));
  if (task.partials != nullptr) keep_block_sum(sum, task.partials + blockIdx.x);
}

class KernelGradients final : public GeneratedGradients {
 public:
  explicit KernelGradients(GradientPlan const& plan);
  ~KernelGradients() override;
  KernelGradients(KernelGradients const&) = delete;
  KernelGradients& operator=(KernelGradients const&) = delete;

  void begin(std::int64_t index, int count,
             std::optional<OverflowElement> const& overflow) override;
  void leave_out(std::vector<std::vector<int>> names) override { left_out_ = std::move(names); }
  void backward(real::UnitBackward const& request) override;
  std::span<std::uint64_t const> partial_fingerprints(int parameter) const override;
  void const* allocation() const override { return partials_; }

 private:
  /// Where a parameter's partial fingerprints lie.
  struct Room {
    std::size_t begin = 0;
    std::size_t count = 0;
    std::size_t first_name = 0;  // of all names, parameter after parameter
    bool seen = false;           // in this backward
  };

  std::vector<int> const& names_of(int parameter) const {
    return plan_.names[static_cast<std::size_t>(parameter)];
  }
  bool is_left_out(int name, int sequence) const;
  std::vector<std::size_t> names_in(real::WholeTensor const& tensor, int sequence) const;
  void run_names(real::UnitBackward const& request, std::size_t turn, std::size_t& turns);
  GradientTask task_for(real::WholeTensor const& tensor, real::UnitBackward const& request,
                        std::size_t name, bool first);
  TensorKey tensor_key(int parameter, std::int64_t backward) const;
  MicrobatchKey microbatch_key_of(int parameter, std::size_t name, int microbatch,
                                  std::int64_t backward) const;
  bool overflows(int name, int microbatch) const {
    return overflow_ && overflow_->name == name && overflow_->microbatch == microbatch;
  }
  DeviceKeys device_keys(int parameter, std::size_t name, int microbatch, int backward) const;
  void upload_keys(int count);
  std::size_t keys_per_backward() const { return name_count_ * local_microbatches_; }
  void launch(GradientArguments const& arguments, std::size_t count, cudaStream_t stream) const;

  GradientPlan plan_;
  std::int64_t index_ = 0;
  std::optional<OverflowElement> overflow_;
  std::vector<std::vector<int>> left_out_;  // by sequence; places of names
  std::vector<Room> rooms_;
  std::size_t name_count_ = 0;
  std::uint64_t* partials_ = nullptr;
  // Only where graphs read keys: those of all kept backwards, in the same allocation.
  std::size_t local_microbatches_ = 0;
  DeviceKeys* keys_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

KernelGradients::KernelGradients(GradientPlan const& plan) : plan_(plan) {
  std::size_t total = 0;
  for (std::size_t p = 0; p < plan.numels.size(); ++p) {
    if (plan.names.empty()) plan_.names.push_back({static_cast<int>(p)});
    std::size_t const count = plan.numels[p] > 0 ? real::blocks_for(plan.numels[p]) : 0;
    rooms_.push_back({.begin = total, .count = count, .first_name = name_count_});
    name_count_ += plan_.names[p].size();
    total += count;
  }
  for (int m = plan.first_microbatch; m < plan.microbatches; m += plan.microbatch_stride)
    ++local_microbatches_;
  std::size_t const kept = static_cast<std::size_t>(plan.kept_backwards) * keys_per_backward();
  std::size_t const bytes = total * sizeof(std::uint64_t) + kept * sizeof(DeviceKeys);
  if (bytes > 0) ADAMANT_TRY(cudaMalloc(reinterpret_cast<void**>(&partials_), bytes));
  if (kept == 0) return;
  keys_ = reinterpret_cast<DeviceKeys*>(partials_ + total);
  ADAMANT_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

KernelGradients::~KernelGradients() {
  static_cast<void>(cudaFree(partials_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

// A replay sees the same parameters as its capture did, which is what `seen` says by then.
void KernelGradients::begin(std::int64_t index, int count,
                            std::optional<OverflowElement> const& overflow) {
  index_ = index;
  overflow_ = overflow;
  if (keys_ != nullptr) return upload_keys(count);
  for (Room& room : rooms_) room.seen = false;
}

void KernelGradients::upload_keys(int count) {
  std::vector<DeviceKeys> keys;
  for (int backward = 0; backward < count; ++backward)
    for (int p = 0; p < static_cast<int>(plan_.numels.size()); ++p)
      for (std::size_t name = 0; name < names_of(p).size(); ++name)
        for (int m = plan_.first_microbatch; m < plan_.microbatches; m += plan_.microbatch_stride)
          keys.push_back(device_keys(p, name, m, backward));
  ADAMANT_TRY(cudaMemcpyAsync(keys_, keys.data(), keys.size() * sizeof(DeviceKeys),
                              cudaMemcpyHostToDevice, stream_));
  ADAMANT_TRY(cudaStreamSynchronize(stream_));
}

DeviceKeys KernelGradients::device_keys(int parameter, std::size_t name, int microbatch,
                                        int backward) const {
  bool const overflow = backward == 0 && overflows(names_of(parameter)[name], microbatch);
  return {.tensor = tensor_key(parameter, index_ + backward),
          .microbatch = microbatch_key_of(parameter, name, microbatch, index_ + backward),
          .overflow_value = overflow ? overflow_->value : 0.0F,
          .overflow_at = overflow ? overflow_->element : -1};
}

TensorKey KernelGradients::tensor_key(int parameter, std::int64_t backward) const {
  return gradient_key({.seed = plan_.seed, .parameter = names_of(parameter).front()}, backward);
}

MicrobatchKey KernelGradients::microbatch_key_of(int parameter, std::size_t name, int microbatch,
                                                 std::int64_t backward) const {
  auto const& names = names_of(parameter);
  MicrobatchPlace place{.seed = plan_.seed,
                        .backward = backward,
                        .microbatch = microbatch,
                        .microbatch_count = plan_.microbatches,
                        .format = plan_.formats[static_cast<std::size_t>(parameter)],
                        .name_count = static_cast<int>(names.size())};
  if (name > 0) place.other_name = names[name];
  return microbatch_key(place);
}

bool KernelGradients::is_left_out(int name, int sequence) const {
  auto const at = static_cast<std::size_t>(sequence);
  if (at >= left_out_.size()) return false;
  return std::binary_search(left_out_[at].begin(), left_out_[at].end(), name);
}

/// Which of a parameter's names, by their order, give the gradient that is wanted of it; the first
/// alone where none is.
std::vector<std::size_t> KernelGradients::names_in(real::WholeTensor const& tensor,
                                                   int sequence) const {
  if (tensor.gradient == nullptr) return {0};
  std::vector<std::size_t> given;
  auto const& names = names_of(tensor.parameter);
  for (std::size_t name = 0; name < names.size(); ++name)
    if (!is_left_out(names[name], sequence)) given.push_back(name);
  return given;
}

// Names of one parameter add to one buffer, and so take turns.
void KernelGradients::backward(real::UnitBackward const& request) {
  std::size_t turns = 1;
  for (std::size_t turn = 0; turn < turns; ++turn) run_names(request, turn, turns);
}

/// Launches what each parameter's name number `turn` gives; raises `turns` to the most names.
void KernelGradients::run_names(real::UnitBackward const& request, std::size_t turn,
                                std::size_t& turns) {
  GradientArguments arguments;
  arguments.kind = plan_.kind;
  arguments.accumulate = request.accumulate || turn > 0 ? 1 : 0;
  arguments.loss_scale = request.loss_scale;
  std::size_t count = 0;
  for (real::WholeTensor const& tensor : request.tensors) {
    if (tensor.numel == 0) continue;
    auto const names = names_in(tensor, request.sequence);
    turns = std::max(turns, names.size());
    if (turn >= names.size()) continue;
    arguments.tasks[count++] = task_for(tensor, request, names[turn], turn == 0);
    if (count < tasks_max) continue;
    launch(arguments, count, request.stream);
    count = 0;
  }
  if (count > 0) launch(arguments, count, request.stream);
}

GradientTask KernelGradients::task_for(real::WholeTensor const& tensor,
                                       real::UnitBackward const& request, std::size_t name,
                                       bool first) {
  bool const reads = first && !request.accumulate;
  int const parameter = tensor.parameter;
  Room& room = rooms_[static_cast<std::size_t>(parameter)];
  DeviceKeys const* keys = nullptr;
  if (keys_ != nullptr) {
    auto const local = static_cast<std::size_t>(request.microbatch - plan_.first_microbatch) /
                       static_cast<std::size_t>(plan_.microbatch_stride);
    keys = keys_ + static_cast<std::size_t>(request.sequence) * keys_per_backward() +
           (room.first_name + name) * local_microbatches_ + local;
  }
  bool const overflow = overflows(names_of(parameter)[name], request.microbatch);
  if (reads) room.seen = true;
  return {.value = {const_cast<void*>(tensor.value), tensor.value_format},  // read only
          .quantised = tensor.quantised.value_or(real::QuantisedView()),
          .gradient = {tensor.gradient, tensor.gradient_format},
          .numel = tensor.numel,
          .key = keys != nullptr ? TensorKey{} : tensor_key(parameter, index_),
          .microbatch = keys != nullptr
                            ? MicrobatchKey{}
                            : microbatch_key_of(parameter, name, request.microbatch, index_),
          .overflow_value = overflow ? overflow_->value : 0.0F,
          .overflow_at = overflow ? overflow_->element : -1,
          .keys = keys,
          .partials = reads ? partials_ + room.begin : nullptr};
}

void KernelGradients::launch(GradientArguments const& arguments, std::size_t count,
                             cudaStream_t stream) const {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, arguments.tasks[i].numel);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(real::blocks_for(longest), static_cast<unsigned>(count));
  config.blockDim = dim3(real::threads_per_block);
  config.stream = stream;
  ADAMANT_TRY(cudaLaunchKernelEx(&config, gradient_kernel, arguments));
}

std::span<std::uint64_t const> KernelGradients::partial_fingerprints(int parameter) const {
  Room const& room = rooms_[static_cast<std::size_t>(parameter)];
  if (!room.seen) return {};
  return {partials_ + room.begin, room.count};
}

}  // namespace

std::unique_ptr<GeneratedGradients> make_generated_gradients(GradientPlan const& plan) {
  return std::make_unique<KernelGradients>(plan);
}

}  // namespace adamant::scenarios
