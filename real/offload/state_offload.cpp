#include "real/offload/state_offload.h"

#include <cstring>
#include <utility>

#include "real/cuda/error.h"

namespace adamant::real {

namespace {

bool is_moment(TensorKind kind) {
  return kind == TensorKind::exp_avg || kind == TensorKind::exp_avg_sq;
}

}  // namespace

StateOffload::StateOffload(Parts const& parts, StateOffloadConfig const& config, bool born_away)
    : parts_(parts), away_(born_away), never_stepped_(born_away) {
  if (config.moments) kinds_ = {TensorKind::exp_avg, TensorKind::exp_avg_sq};
  if (config.main) kinds_.push_back(TensorKind::main);
  for (TensorKind const kind : kinds_) {
    std::size_t const bytes = parts.layout.flat_bytes(kind);
    pinned(kind).emplace(parts.ledger, purpose_of(kind), bytes);
    if (born_away && bytes > 0) std::memset(pinned(kind)->as<void>(), 0, bytes);
  }
}

void StateOffload::send_away() {
  if (away_) return;
  away_ = true;
  order(parts_.streams.compute, computed_, parts_.copies.down);  // O1
  for (TensorKind const kind : kinds_) send(kind);
  sent_.record(parts_.copies.down);
}

void StateOffload::send(TensorKind kind) {
  DeviceBuffer device = parts_.tensors.take(kind);
  if (!device) return;
  ADAMANT_TRY(cudaMemcpyAsync(pinned(kind)->as<void>(), device.as<void>(),
                              parts_.layout.flat_bytes(kind), cudaMemcpyDeviceToHost,
                              parts_.copies.down.get()));
  device.free_on(parts_.copies.down);  // O2
}

void StateOffload::bring_back() {
  if (!away_) return;
  away_ = false;
  if (!never_stepped_) sent_.make_wait(parts_.copies.up);  // O3
  for (TensorKind const kind : kinds_) bring(kind);
  never_stepped_ = false;
  brought_.record(parts_.copies.up);
  brought_.make_wait(parts_.streams.compute);  // O4
}

// Moments that were born here are zeros: the first step makes them on the device.
void StateOffload::bring(TensorKind kind) {
  DeviceBuffer device(parts_.ledger, purpose_of(kind), parts_.layout.flat_bytes(kind),
                      parts_.copies.up);
  if (!device) return;
  std::size_t const bytes = device.bytes();
  if (never_stepped_ && is_moment(kind)) {
    zero_async(device, 0, bytes, parts_.copies.up);
  } else {
    ADAMANT_TRY(cudaMemcpyAsync(device.as<void>(), pinned(kind)->as<void>(), bytes,
                                cudaMemcpyHostToDevice, parts_.copies.up.get()));
  }
  parts_.tensors.put(kind, std::move(device));
}

void StateOffload::note_written() {
  if (!never_stepped_) return;
  never_stepped_ = false;
  sent_.record(parts_.copies.down);  // so that there is something to wait for
}

ShardView StateOffload::placed(ShardView view, TensorKind kind, int parameter) const {
  auto const& pinned = pinned_[static_cast<std::size_t>(kind)];
  ParameterLayout const& layout = parts_.layout[parameter];
  if (!away_ || !pinned || layout.range(kind).numel() == 0 || !layout.format(kind)) return view;
  view.data = pinned->as<std::byte>() + layout.begin(kind);  // O5
  view.on_host = true;
  return view;
}

}  // namespace adamant::real
