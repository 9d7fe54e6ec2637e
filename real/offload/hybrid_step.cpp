#include "real/offload/hybrid_step.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/offload/runs.h"

namespace adamant::real {

namespace {

constexpr std::size_t line_bytes = 64;

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace

HybridStep::HybridStep(Parts const& parts, HybridConfig const& config, HybridGrain const& grain)
    : parts_(parts),
      chunk_numel_(grain.chunk_numel),
      down_(config.overlap ? parts.copies.down : parts.streams.compute),
      up_(config.overlap ? parts.copies.up : parts.streams.compute) {
  ADAMANT_REAL_ASSERT(grain.window_numel > 0);
  ADAMANT_REAL_ASSERT(grain.chunk_numel > 0);
  allocate(config);
  cut_windows(config.overlap ? grain.window_numel : std::numeric_limits<std::int64_t>::max());
}

// Only what copies start from or end in is ever pinned.
void HybridStep::allocate(HybridConfig const& config) {
  std::array<std::size_t, array_count> bytes = {};
  for (int p = 0; p < parts_.layout.parameter_count(); ++p) {
    Room& room = rooms_.emplace_back();
    auto const numel = static_cast<std::size_t>(parts_.split.host_numel(p));
    for (Array const array : {gradients, parameters, main, exp_avg, exp_avg_sq}) {
      auto const format = format_of(array, p);
      room.begin[array] = bytes[array];
      if (format) bytes[array] += whole_lines(numel * bytes_of(*format));
    }
  }
  auto const make = [&](Array array, Purpose purpose, bool pinned) {
    HostArray::Shape const shape = {.bytes = bytes[array], .slot = array, .pinned = pinned};
    arrays_[array] = HostArray(parts_.ledger, purpose, shape);
  };
  make(gradients, Purpose::gradients, config.pin_gradients);
  make(parameters, Purpose::parameters, config.pin_parameters);
  make(main, Purpose::main, false);
  make(exp_avg, Purpose::exp_avg, false);
  make(exp_avg_sq, Purpose::exp_avg_sq, false);
}

void HybridStep::cut_windows(std::int64_t numel_max) {
  for (int p = 0; p < parts_.layout.parameter_count(); ++p) {
    std::int64_t const end = parts_.layout[p].stepped_numel();
    for (std::int64_t first = parts_.split.device_numel(p); first < end;) {
      bool const full = windows_.empty() || windows_.back().ends.back() >= numel_max;
      if (full) windows_.emplace_back();
      Window& window = windows_.back();
      std::int64_t const begins = window.ends.empty() ? 0 : window.ends.back();
      std::int64_t const count = std::min(end - first, numel_max - begins);
      window.pieces.push_back({.parameter = p, .first = first, .count = count});
      window.ends.push_back(begins + count);
      first += count;
    }
  }
  for (std::size_t i = 0; i < windows_.size(); ++i) fetched_.emplace_back();
}

HybridStep::Piece HybridStep::piece_of(int parameter) const {
  return {.parameter = parameter,
          .first = parts_.split.device_numel(parameter),
          .count = parts_.split.host_numel(parameter)};
}

void HybridStep::write_weights(int parameter, std::span<float const> shard) {
  Piece const piece = piece_of(parameter);
  if (piece.count == 0) return;
  auto const values = shard.subspan(static_cast<std::size_t>(piece.first));
  auto const bytes = encoded(values, format_of(parameters, parameter).value());
  std::memcpy(at(parameters, piece), bytes.data(), bytes.size());
}

void HybridStep::send_main(int parameter) {
  Piece const piece = piece_of(parameter);
  if (piece.count == 0) return;
  std::size_t const bytes = bytes_of_piece(parameters, piece);
  std::memcpy(at(parameters, piece), at(main, piece), bytes);
  ADAMANT_TRY(cudaMemcpyAsync(on_device(parameters, piece), at(parameters, piece), bytes,
                              cudaMemcpyHostToDevice, parts_.streams.compute.get()));
}

bool HybridStep::is_stepped(int parameter) const {
  return parts_.tensors.has_gradient(parameter);
}

bool HybridStep::is_stepped(Window const& window) const {
  return std::any_of(window.pieces.begin(), window.pieces.end(),
                     [&](Piece const& piece) { return is_stepped(piece.parameter); });
}

void HybridStep::fetch_gradients() {
  ready_.record(parts_.streams.compute);
  ready_.make_wait(down_);  // H1
  ready_.make_wait(up_);    // H3
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    for (Piece const& piece : windows_[w].pieces) {
      if (!parts_.tensors.has_gradient(piece.parameter)) continue;
      ADAMANT_TRY(cudaMemcpyAsync(at(gradients, piece), on_device(gradients, piece),
                                  bytes_of_piece(gradients, piece), cudaMemcpyDeviceToHost,
                                  down_.get()));
    }
    fetched_[w].record(down_);
  }
}

void HybridStep::find_amaxes(HostStep const& step, std::span<std::int32_t> amaxes) {
  step_ = step;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    if (!has_scales(windows_[w])) continue;
    fetched_[w].synchronize();  // H2
    look_at(windows_[w], amaxes);
  }
}

void HybridStep::run(HostStep const& host_step) {
  step_ = host_step;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    if (!is_stepped(windows_[w])) continue;
    fetched_[w].synchronize();  // H2
    step(windows_[w]);
    send_up(windows_[w]);
  }
  sent_.record(up_);
  sent_.make_wait(parts_.streams.compute);  // H4
}

StepScalars const& HybridStep::row_of(Piece const& piece) const {
  return step_.rows[static_cast<std::size_t>(piece.parameter)];
}

int HybridStep::chunks_of(Window const& window) const {
  std::int64_t const wanted = window.ends.back() / chunk_numel_;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, parts_.workers.count()));
}

template <typename Visit>
void HybridStep::for_each_part(Window const& window, Visit visit) const {
  int const chunks = chunks_of(window);
  parts_.workers.parallel_for(chunks, [&](int chunk) {
    for_each_run(
        window.ends, chunk_of(window.ends.back(), chunk, chunks),
        [&](std::size_t i, std::int64_t first, std::int64_t count) {
          Piece const& piece = window.pieces[i];
          if (!is_stepped(piece.parameter)) return;
          visit(chunk, i,
                Piece{.parameter = piece.parameter, .first = piece.first + first, .count = count});
        });
  });
}

void HybridStep::step(Window const& window) const {
  for_each_part(window, [&](int, std::size_t, Piece const& part) {
    cpu_adam(row_of(part), numbers(part), part.count);
  });
}

// Every worker has a place of its own for what it finds in a piece.
void HybridStep::look_at(Window const& window, std::span<std::int32_t> amaxes) const {
  std::size_t const pieces = window.pieces.size();
  std::vector<CpuAmaxes> found(static_cast<std::size_t>(chunks_of(window)) * pieces);
  for_each_part(window, [&](int chunk, std::size_t i, Piece const& part) {
    found[static_cast<std::size_t>(chunk) * pieces + i] =
        cpu_adam_amaxes(row_of(part), numbers(part), part.count);
  });
  for (std::size_t f = 0; f < found.size(); ++f)
    raise(amaxes, window.pieces[f % pieces].parameter, found[f]);
}

// Bits of numbers >= 0 order as the numbers do.
void HybridStep::raise(std::span<std::int32_t> amaxes, int parameter,
                       CpuAmaxes const& found) const {
  float const of_kind[] = {found.weight, found.exp_avg, found.exp_avg_sq};
  for (int slot = 0; slot < slots_per_parameter; ++slot) {
    if (!has_scale(state_kinds[slot], parameter)) continue;
    std::int32_t& amax = amaxes[scale_slot(parameter, state_kinds[slot])];
    amax = std::max(amax, std::bit_cast<std::int32_t>(of_kind[slot]));
  }
}

void HybridStep::send_up(Window const& window) {
  for (Piece const& piece : window.pieces) {
    if (!is_stepped(piece.parameter)) continue;
    ADAMANT_TRY(cudaMemcpyAsync(on_device(parameters, piece), at(parameters, piece),
                                bytes_of_piece(parameters, piece), cudaMemcpyHostToDevice,
                                up_.get()));
  }
}

ShardView HybridStep::placed(ShardView view, TensorKind kind, int parameter) const {
  std::int64_t const count = parts_.split.host_numel(parameter);
  if (count == 0) return view;
  for (Array const array : {main, exp_avg, exp_avg_sq}) {
    if (kind_of(array, parameter) != kind || !parts_.layout[parameter].format(kind)) continue;
    std::int64_t const first = parts_.split.device_numel(parameter);
    std::byte* const here = at(array, {.parameter = parameter, .first = first, .count = count});
    view.on_host = first == 0;
    if (view.on_host) {
      view.data = here;
    } else {
      view.tail = here;
      view.tail_numel = count;
    }
  }
  return view;
}

// ---- where things are ---------------------------------------------------------------------------

TensorKind HybridStep::kind_of(Array array, int parameter) const {
  bool const cast = parts_.layout[parameter].format(TensorKind::cast_gradient).has_value();
  switch (array) {
    case gradients:
      return cast ? TensorKind::cast_gradient : TensorKind::gradient;
    case parameters:
      return TensorKind::parameter;
    case main:
      return TensorKind::main;
    case exp_avg:
      return TensorKind::exp_avg;
    default:
      return TensorKind::exp_avg_sq;
  }
}

std::byte* HybridStep::at(Array array, Piece const& piece) const {
  Room const& room = rooms_[static_cast<std::size_t>(piece.parameter)];
  std::int64_t const skipped = piece.first - parts_.split.device_numel(piece.parameter);
  return arrays_[array].data() + room.begin[array] +
         bytes_of_piece(array, {.parameter = piece.parameter, .first = 0, .count = skipped});
}

std::optional<NumberFormat> HybridStep::format_of(Array array, int parameter) const {
  ParameterLayout const& layout = parts_.layout[parameter];
  if (array == parameters && layout.quantised) return NumberFormat::fp32;
  return layout.format(kind_of(array, parameter));
}

std::byte* HybridStep::on_device(Array array, Piece const& piece) const {
  bool const quantised = array == parameters && parts_.layout[piece.parameter].quantised;
  std::byte* const begin =
      quantised ? reinterpret_cast<std::byte*>(parts_.quantised.weights_together(piece.parameter))
                : parts_.tensors.stepped_at(kind_of(array, piece.parameter), piece.parameter);
  return begin +
         bytes_of_piece(array, {.parameter = piece.parameter, .first = 0, .count = piece.first});
}

std::size_t HybridStep::bytes_of_piece(Array array, Piece const& piece) const {
  auto const format = format_of(array, piece.parameter);
  return static_cast<std::size_t>(piece.count) * bytes_of(format.value());
}

bool HybridStep::has_scale(TensorKind kind, int parameter) const {
  auto const format = parts_.layout[parameter].format(kind);
  return format && adamant::has_scale(kind, *format);
}

bool HybridStep::has_scales(Window const& window) const {
  return std::any_of(window.pieces.begin(), window.pieces.end(), [&](Piece const& piece) {
    return is_stepped(piece.parameter) &&
           std::any_of(std::begin(state_kinds), std::end(state_kinds),
                       [&](TensorKind kind) { return has_scale(kind, piece.parameter); });
  });
}

CpuScale HybridStep::scale_of(TensorKind kind, int parameter) const {
  if (!has_scale(kind, parameter)) return {};
  std::size_t const slot = scale_slot(parameter, kind);
  return {.now = step_.scales.now[slot], .next = step_.scales.next[slot]};
}

CpuAdamNumbers HybridStep::numbers(Piece const& piece) const {
  Formats const& formats = parts_.layout[piece.parameter].formats;
  bool const copies = formats.main.has_value();
  auto const array = [&](Array which) {
    return Numbers{at(which, piece), format_of(which, piece.parameter).value()};
  };
  return {.weights = array(copies ? main : parameters),
          .gradients = array(gradients),
          .exp_avg = array(exp_avg),
          .exp_avg_sq = array(exp_avg_sq),
          .parameter = array(parameters),
          .copies = copies,
          .inverse = step_.factors.inverse,
          .coefficient = step_.factors.coefficient,
          .scales = {.weight = scale_of(TensorKind::main, piece.parameter),
                     .exp_avg = scale_of(TensorKind::exp_avg, piece.parameter),
                     .exp_avg_sq = scale_of(TensorKind::exp_avg_sq, piece.parameter)}};
}

}  // namespace adamant::real
