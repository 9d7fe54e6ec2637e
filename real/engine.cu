// The door's verbs, put together from shards, collectives and steps. All device work of a verb ends
// in the order of the compute stream, so verbs need no events between them.
#include "real/engine.h"

#include "real/comm/backward_pass.h"
#include "real/comm/loopback_communicator.h"
#include "real/comm/nccl_communicator.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/step/adam_step.h"

namespace adamant::real {

namespace {

std::unique_ptr<Communicator> make_communicator(EngineConfig const& config) {
  RankOfWorld const where = {.rank = config.rank, .world_size = config.world_size};
  if (config.transport == Transport::nccl)
    return std::make_unique<NcclCommunicator>(config.nccl_id, where);
  ADAMANT_REAL_ASSERT(config.rendezvous != nullptr);
  return std::make_unique<LoopbackCommunicator>(config.exchange, *config.rendezvous, where);
}

class ShardedAdam final : public Engine {
 public:
  ShardedAdam(EngineConfig const& config, GradientSource& source);
  ~ShardedAdam() override;

  void write_parameter(int parameter, std::span<float const> values) override;
  void backward(std::span<int const> without) override;
  void step() override {
    attempt([&] { step_.run(tensors_); });
  }
  void zero_grad(bool set_to_none) override;
  void set_group(int group, AdamConfig const& config) override { step_.set_group(group, config); }
  void synchronize() override;

  ShardView shard(int parameter, TensorKind kind) const override {
    return tensors_.view(kind, parameter);
  }
  bool has_gradient(int parameter) const override { return tensors_.has_gradient(parameter); }
  std::int64_t step_count(int parameter) const override { return step_.count(parameter); }

  std::vector<Buffer> buffers() const override { return ledger_.buffers(); }
  std::size_t peak_bytes(Purpose purpose) const override { return ledger_.peak_bytes(purpose); }
  std::vector<NamedStream> streams() const override;

 private:
  void upload(std::byte* to, std::span<std::byte const> from);

  /// Remembers that a verb failed: from then on the other ranks are somewhere else.
  template <typename Verb>
  void attempt(Verb verb) {
    try {
      verb();
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  // In the order in which they are made; destroyed the other way round, buffers before streams.
  Layout layout_;
  Ledger ledger_;
  Streams streams_;
  std::unique_ptr<Communicator> communicator_;
  Tensors tensors_;
  AdamStep step_;
  BackwardPass backward_;
  bool failed_ = false;
};

ShardedAdam::ShardedAdam(EngineConfig const& config, GradientSource& source)
    : layout_(config.parameters, {.rank = config.rank, .world_size = config.world_size}),
      communicator_(make_communicator(config)),
      tensors_(layout_, ledger_, streams_),
      step_(config.parameters, {.groups = config.groups, .counter = config.step_counter}, layout_,
            ledger_, streams_),
      backward_({.layout = layout_,
                 .tensors = tensors_,
                 .ledger = ledger_,
                 .streams = streams_,
                 .communicator = *communicator_,
                 .source = source,
                 .where = {.rank = config.rank, .world_size = config.world_size},
                 .microbatches = config.microbatches}) {}

// Pinned memory may not die under a copy, nor a communicator under a collective. Errors are not
// news here: whoever destroys the engine because of one has seen it.
ShardedAdam::~ShardedAdam() {
  if (failed_) communicator_->abandon();
  for (Stream const* stream : {&streams_.copy, &streams_.comm, &streams_.compute})
    static_cast<void>(cudaStreamSynchronize(stream->get()));
}

void ShardedAdam::write_parameter(int parameter, std::span<float const> values) {
  ParameterLayout const& layout = layout_[parameter];
  ADAMANT_REAL_ASSERT(static_cast<std::int64_t>(values.size()) == layout.numel);
  if (layout.shard_numel() == 0) return;
  auto const rows = values.subspan(static_cast<std::size_t>(layout.first_element()),
                                   static_cast<std::size_t>(layout.shard_numel()));
  attempt([&] {
    Formats const& formats = layout.formats;
    std::byte* const to = tensors_.at(TensorKind::parameter, parameter);
    if (formats.parameter == NumberFormat::fp32)
      upload(to, std::as_bytes(rows));
    else
      upload(to, encoded(rows, formats.parameter));
    if (formats.main)
      upload(tensors_.at(TensorKind::main, parameter),
             encoded(rounded(rows, formats.parameter), *formats.main));
  });
}

// Waits: the source is pageable and about to die.
void ShardedAdam::upload(std::byte* to, std::span<std::byte const> from) {
  ADAMANT_TRY(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice,
                              streams_.compute.get()));
  streams_.compute.synchronize();
}

void ShardedAdam::backward(std::span<int const> without) {
  std::vector<bool> wanted(static_cast<std::size_t>(layout_.parameter_count()), true);
  for (int const parameter : without) {
    ADAMANT_REAL_ASSERT(parameter >= 0);
    ADAMANT_REAL_ASSERT(parameter < layout_.parameter_count());
    wanted[static_cast<std::size_t>(parameter)] = false;
  }
  attempt([&] { backward_.run(wanted); });
}

void ShardedAdam::zero_grad(bool set_to_none) {
  attempt([&] {
    if (set_to_none)
      tensors_.drop_gradients();
    else
      tensors_.zero_gradients();
  });
}

void ShardedAdam::synchronize() {
  attempt([&] {
    for (Stream const* stream : {&streams_.copy, &streams_.comm, &streams_.compute})
      stream->synchronize();
  });
}

std::vector<NamedStream> ShardedAdam::streams() const {
  return {{streams_.compute.get(), "compute"},
          {streams_.comm.get(), "comm"},
          {streams_.copy.get(), "copy"}};
}

}  // namespace

std::unique_ptr<Engine> make_engine(EngineConfig const& config, GradientSource& source) {
  ADAMANT_REAL_ASSERT(!config.parameters.empty());
  ADAMANT_REAL_ASSERT(!config.groups.empty());
  ADAMANT_REAL_ASSERT(config.microbatches >= 1);
  ADAMANT_REAL_ASSERT(config.microbatches <= 1 << 24);  // exact in binary32
  ADAMANT_TRY(cudaSetDevice(config.device));
  return std::make_unique<ShardedAdam>(config, source);
}

}  // namespace adamant::real
