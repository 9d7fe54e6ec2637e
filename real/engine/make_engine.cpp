// What an engine is made of, in which order, and how it goes.
#include <exception>

#include "real/comm/loopback_communicator.h"
#include "real/comm/nccl_communicator.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/engine/sharded_adam.h"

namespace adamant::real {

namespace {

MeshCommunicators communicators_by_nccl(EngineConfig const& config) {
  Mesh const& mesh = config.mesh;
  auto world = std::make_unique<NcclCommunicator>(
      config.nccl_id, RankOfWorld{.rank = config.rank, .world_size = mesh.rank_count()});
  if (mesh.replicas == 1) return {mesh, std::move(world), nullptr, nullptr};
  int const shard = mesh.shard_of(config.rank);
  int const replica = mesh.replica_of(config.rank);
  auto within = std::make_unique<NcclCommunicator>(
      *world, replica, RankOfWorld{.rank = shard, .world_size = mesh.shards});
  auto across = std::make_unique<NcclCommunicator>(
      *world, shard, RankOfWorld{.rank = replica, .world_size = mesh.replicas});
  return {mesh, std::move(world), std::move(within), std::move(across)};
}

MeshCommunicators communicators_by_loopback(EngineConfig const& config) {
  Mesh const& mesh = config.mesh;
  ADAMANT_REAL_ASSERT(config.rendezvous != nullptr);
  ADAMANT_REAL_ASSERT(config.exchange != nullptr);
  ADAMANT_REAL_ASSERT(config.exchange->world_size() == mesh.rank_count());
  int const shard = mesh.shard_of(config.rank);
  int const replica = mesh.replica_of(config.rank);
  std::vector<int> within, across;
  for (int rank = 0; rank < mesh.rank_count(); ++rank) {
    if (mesh.replica_of(rank) == replica) within.push_back(rank);
    if (mesh.shard_of(rank) == shard) across.push_back(rank);
  }
  auto const among = [&](std::vector<int> members, int own) {
    return std::make_unique<LoopbackCommunicator>(config.exchange, *config.rendezvous,
                                                  std::move(members), own);
  };
  auto world = std::make_unique<LoopbackCommunicator>(
      config.exchange, *config.rendezvous,
      RankOfWorld{.rank = config.rank, .world_size = mesh.rank_count()});
  if (mesh.replicas == 1) return {mesh, std::move(world), nullptr, nullptr};
  return {mesh, std::move(world), among(std::move(within), shard),
          among(std::move(across), replica)};
}

MeshCommunicators make_communicators(EngineConfig const& config) {
  return config.transport == Transport::nccl ? communicators_by_nccl(config)
                                             : communicators_by_loopback(config);
}

/// States that are away before the first step have no device memory yet; nor have those of what
/// the CPU steps, which are the last of their flat buffers.
DeviceBytes bytes_on_device(Layout const& layout, Split const& split,
                            std::optional<StateOffloadConfig> const& away) {
  DeviceBytes bytes = {};
  for (TensorKind const kind : all_tensor_kinds) {
    bool const moment = kind == TensorKind::exp_avg || kind == TensorKind::exp_avg_sq;
    bool const leaves =
        away && ((moment && away->moments) || (kind == TensorKind::main && away->main));
    bool const state = moment || kind == TensorKind::main;
    std::size_t const held = state ? split.device_bytes(layout, kind) : layout.flat_bytes(kind);
    bytes[static_cast<std::size_t>(kind)] = leaves ? 0 : held;
  }
  return bytes;
}

std::vector<std::string> group_names(EngineConfig const& config) {
  if (!config.group_names.empty()) return config.group_names;
  std::vector<std::string> names;
  for (std::size_t g = 0; g < config.groups.size(); ++g) names.push_back(std::to_string(g));
  return names;
}

}  // namespace

ShardedAdam::ShardedAdam(EngineConfig const& config, GradientSource& source)
    : exceptions_at_birth_(std::uncaught_exceptions()),
      parameters_(config.parameters),
      group_names_(group_names(config)),
      step_counter_(config.step_counter),
      where_{.rank = config.rank, .world_size = config.mesh.rank_count()},
      piece_bytes_(config.checkpoint_piece_bytes),
      layout_(config.parameters, {.rank = config.rank, .mesh = config.mesh}, config.layout),
      split_(layout_, config.hybrid ? config.hybrid->fraction : 0.0),
      communicators_(make_communicators(config)),
      tensors_(layout_, bytes_on_device(layout_, split_, config.state_offload), ledger_, streams_,
               {.gradients = config.capturable, .cast_gradients = config.keep_cast_grad}),
      scaling_({.layout = layout_,
                .ledger = ledger_,
                .streams = streams_,
                .communicator = communicators_.states()},
               {.loss_scale = config.loss_scale,
                .max_norm = config.max_norm,
                .capturable = config.capturable}),
      scales_({.layout = layout_,
               .ledger = ledger_,
               .streams = streams_,
               .communicator = communicators_.states()},
              config.hybrid.has_value()),
      quantised_(quantised_parts()),
      step_(config.parameters,
            {.groups = config.groups,
             .counter = config.step_counter,
             .capturable = config.capturable},
            step_parts()),
      across_({.layout = layout_,
               .tensors = tensors_,
               .streams = streams_,
               .communicators = communicators_}),
      backward_(backward_parts(config, source)),
      leaves_after_step_(config.state_offload.has_value()),
      capturable_(config.capturable) {
  make_offload(config);
}

QuantisedParameters::Parts ShardedAdam::quantised_parts() {
  return {.layout = layout_,
          .split = split_,
          .tensors = tensors_,
          .ledger = ledger_,
          .streams = streams_,
          .communicator = communicators_.states()};
}

AdamStep::Parts ShardedAdam::step_parts() {
  return {.layout = layout_,
          .split = split_,
          .scales = scales_,
          .quantised = quantised_,
          .ledger = ledger_,
          .streams = streams_};
}

BackwardParts ShardedAdam::backward_parts(EngineConfig const& config, GradientSource& source) {
  return {.layout = layout_,
          .tensors = tensors_,
          .ledger = ledger_,
          .streams = streams_,
          .communicators = communicators_,
          .quantised = quantised_,
          .source = source,
          .where = where_,
          .microbatches = config.microbatches,
          .keeps_buffers = config.capturable};
}

void ShardedAdam::make_offload(EngineConfig const& config) {
  if (config.state_offload || config.hybrid) copies_ = std::make_unique<OffloadStreams>();
  if (config.state_offload)
    states_ = std::make_unique<StateOffload>(state_parts(), *config.state_offload, true);
  if (!config.hybrid) return;
  HybridStep::Parts const parts = {
      .layout = layout_,
      .split = split_,
      .tensors = tensors_,
      .quantised = quantised_,
      .ledger = ledger_,
      .streams = streams_,
      .copies = *copies_,
      .workers = config.workers != nullptr ? *config.workers : no_workers_};
  hybrid_ = std::make_unique<HybridStep>(parts, *config.hybrid, config.hybrid_grain);
}

// Pinned memory may not die under a copy, nor a communicator under a collective. Where an error
// unwinds, of the engine or of its host program, the other ranks may not come to what this one
// waits for. Before a communicator ends the graph goes that has its calls: NCCL waits for that, by
// an abort, too. Errors are not news here: whoever destroys the engine because of one has seen it.
ShardedAdam::~ShardedAdam() {
  if (failed_ || std::uncaught_exceptions() > exceptions_at_birth_) {
    iteration_.reset();
    communicators_.abandon();
  }
  for (Stream const* stream : all_streams())
    static_cast<void>(cudaStreamSynchronize(stream->get()));
}

std::unique_ptr<Engine> make_engine(EngineConfig const& config, GradientSource& source) {
  ADAMANT_REAL_ASSERT(!config.parameters.empty());
  ADAMANT_REAL_ASSERT(config.mesh.shards >= 1);
  ADAMANT_REAL_ASSERT(config.mesh.replicas >= 1);
  ADAMANT_REAL_ASSERT(!config.groups.empty());
  ADAMANT_REAL_ASSERT(config.group_names.empty() ||
                      config.group_names.size() == config.groups.size());
  ADAMANT_REAL_ASSERT(config.checkpoint_piece_bytes >= 1);
  ADAMANT_REAL_ASSERT(config.checkpoint_piece_bytes <= std::size_t{1} << 20);
  ADAMANT_REAL_ASSERT(config.microbatches >= 1);
  ADAMANT_REAL_ASSERT(!(config.state_offload && config.hybrid));
  ADAMANT_REAL_ASSERT(!(config.capturable && (config.state_offload || config.hybrid)));
  ADAMANT_REAL_ASSERT(config.microbatches <= 1 << 24);  // exact in binary32
  ADAMANT_TRY(cudaSetDevice(config.device));
  return std::make_unique<ShardedAdam>(config, source);
}

}  // namespace adamant::real
