#include "real/step/adam_step.h"

#include <utility>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/step/adam_kernel.h"

namespace adamant::real {

namespace {

std::size_t table_bytes(std::span<ParameterSpec const> parameters) {
  return parameters.size() * sizeof(StepScalars);
}

}  // namespace

AdamStep::AdamStep(std::span<ParameterSpec const> parameters, Settings const& settings,
                   Parts const& parts)
    : layout_(parts.layout),
      scales_(parts.scales),
      quantised_(parts.quantised),
      streams_(parts.streams),
      groups_(settings.groups),
      counted_{
          .counters = {parameters, static_cast<int>(settings.groups.size()), settings.counter}},
      table_(parts.ledger, Purpose::step_table, table_bytes(parameters), streams_.compute),
      staging_(parts.ledger, Purpose::step_table,
               settings.capturable ? 0 : table_bytes(parameters)) {
  if (settings.capturable)
    device_.emplace(parameters, settings.groups, settings.counter, parts.ledger, streams_);
  for (ParameterSpec const& spec : parameters) group_of_.push_back(spec.group);
  table_read_.record(streams_.compute);  // the first upload waits for the allocation
  std::vector<WorkPiece> const pieces = make_work_list(layout_, parts.split);
  extent_ = extent_of(pieces);
  pieces_ = DeviceBuffer(parts.ledger, Purpose::work_list, pieces.size() * sizeof(WorkPiece),
                         streams_.compute);
  upload_work_list(pieces);
}

void AdamStep::upload_work_list(std::vector<WorkPiece> const& pieces) {
  if (pieces.empty()) return;
  ADAMANT_TRY(cudaMemcpyAsync(pieces_.as<void>(), pieces.data(), pieces_.bytes(),
                              cudaMemcpyHostToDevice, streams_.compute.get()));
  streams_.compute.synchronize();  // the list is pageable and about to die
}

void AdamStep::count(Tensors const& tensors, std::int32_t const* skip) {
  count_replayed(tensors.have_gradients(), skip != nullptr);
  if (device_) device_->advance(table_.as<StepScalars>(), skip);
}

void AdamStep::run(Tensors const& tensors, GradientFactors const& factors, CpuPart const& cpu) {
  bool const on_device = extent_.piece_count > 0 || scales_.exist() || quantised_.exist();
  if (!on_device && cpu.step == nullptr) return;
  if (device_) {
    launch_kernel(tensors, factors, cpu);
    return finish();
  }
  if (!tensors.any_gradient()) return;
  fill_staging(tensors);
  if (cpu.step != nullptr) cpu.step->fetch_gradients();
  if (on_device) {
    upload_table();
    launch_kernel(tensors, factors, cpu);
  }
  if (cpu.step != nullptr) run_on_host(cpu);
  if (on_device) finish();
}

void AdamStep::run_on_host(CpuPart const& cpu) {
  if (scales_.exist()) scales_.wait_for_host();
  cpu.step->run(host_step(cpu));
  if (scales_.exist()) scales_.take_next_on_host();
}

// Codes are of whole shards: those of device and CPU.
void AdamStep::finish() {
  if (quantised_.exist()) quantised_.renew(table_.as<StepScalars>());
  if (!device_) table_read_.record(streams_.compute);
}

HostStep AdamStep::host_step(CpuPart const& cpu) const {
  auto const parameters = static_cast<std::size_t>(layout_.parameter_count());
  return {.rows = {staging_.as<StepScalars>(), parameters},
          .factors = cpu.factors,
          .scales = scales_.on_host()};
}

void AdamStep::fill_staging(Tensors const& tensors) {
  uploaded_.synchronize();  // S1
  auto* const rows = staging_.as<StepScalars>();
  StepCounters const& counters = counted_.counters;
  for (int p = 0; p < layout_.parameter_count(); ++p) {
    bool const apply = tensors.has_gradient(p);  // without elements it may have a scale
    // By way of a local: g++ lets a function build its result in place, where no access is
    // reported.
    StepScalars const row = step_scalars(settings_of(p), counters.of(p), apply);
    rows[p] = row;
  }
}

AdamConfig const& AdamStep::settings_of(int parameter) const {
  auto const group = static_cast<std::size_t>(group_of_[static_cast<std::size_t>(parameter)]);
  return groups_[group];
}

void AdamStep::upload_table() {
  table_read_.make_wait(streams_.copy);  // S2
  ADAMANT_TRY(cudaMemcpyAsync(table_.as<void>(), staging_.as<void>(), table_.bytes(),
                              cudaMemcpyHostToDevice, streams_.copy.get()));
  uploaded_.record(streams_.copy);
}

void AdamStep::launch_kernel(Tensors const& tensors, GradientFactors const& factors,
                             CpuPart const& cpu) {
  if (!device_) uploaded_.make_wait(streams_.compute);  // S3
  AdamArguments const arguments = {.parameters = tensors.flat(TensorKind::parameter),
                                   .main = tensors.flat(TensorKind::main),
                                   .gradients = tensors.flat(TensorKind::gradient),
                                   .cast_gradients = tensors.flat(TensorKind::cast_gradient),
                                   .exp_avg = tensors.flat(TensorKind::exp_avg),
                                   .exp_avg_sq = tensors.flat(TensorKind::exp_avg_sq),
                                   .pieces = pieces_.as<WorkPiece>(),
                                   .table = table_.as<StepScalars>(),
                                   .factors = factors,
                                   .scales = scales_.on_device()};
  if (scales_.exist()) renew_scales(arguments, cpu);
  if (extent_.piece_count > 0) launch_adam(arguments, extent_, streams_.compute);
  if (scales_.exist()) scales_.take_next();
}

// The parts of device and CPU meet here, and with them all ranks.
void AdamStep::renew_scales(AdamArguments const& arguments, CpuPart const& cpu) {
  std::int32_t* const amaxes = scales_.clear_amaxes();
  if (extent_.has_scales) launch_amaxes(arguments, amaxes, extent_, streams_.compute);
  if (cpu.step != nullptr) {
    cpu.step->find_amaxes(host_step(cpu), scales_.clear_host_amaxes());
    scales_.join_host_amaxes();
  }
  scales_.renew(table_.as<StepScalars>());
}

void AdamStep::gradients_changed(ParameterSet const& have_gradients) {
  if (device_) device_->set_gradients(have_gradients);
}

StepCounters const& AdamStep::counters() const {
  if (!counted_.unsure) return counted_.counters;
  DeviceTable::Counters now = device_->read_counters();
  counted_.counters.restore(std::move(now.of_groups), std::move(now.of_parameters));
  counted_.unsure = false;
  return counted_.counters;
}

StepCountView AdamStep::steps_view(int parameter) const {
  if (counted_.unsure) return {.on_device = device_->counter_of(parameter)};
  return {.count = counted_.counters.of(parameter)};
}

void AdamStep::set_counters(std::vector<std::int64_t> group_steps,
                            std::vector<std::int64_t> parameter_steps) {
  if (device_) device_->set_counters(group_steps, parameter_steps);
  counted_.counters.restore(std::move(group_steps), std::move(parameter_steps));
  counted_.unsure = false;
}

void AdamStep::set_group(int group, AdamConfig const& config) {
  ADAMANT_REAL_ASSERT(group >= 0);
  ADAMANT_REAL_ASSERT(static_cast<std::size_t>(group) < groups_.size());
  groups_[static_cast<std::size_t>(group)] = config;
  if (device_) device_->set_group(group, config);
}

}  // namespace adamant::real
