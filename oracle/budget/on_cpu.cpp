#include "oracle/budget/on_cpu.h"

#include <algorithm>
#include <cmath>

#include "oracle/layout/packing.h"

namespace adamant::oracle {
namespace {

constexpr std::int64_t piece_numel_max = 65536;
constexpr std::int64_t host_alignment_bytes = 64;
constexpr std::int64_t staggered_from_bytes = 1 << 20;
constexpr std::int64_t stagger_bytes = 4160;

/// Of a weight that the CPU sends up: what is quantised has to be there in fp32 first.
NumberFormat sent_format(Formats const& formats) {
  return formats.recipe ? NumberFormat::fp32 : formats.parameter;
}

/// Elements that stay on the device.
std::int64_t numel_on_device(std::span<Holding const> holdings, double fraction) {
  std::int64_t total = 0;
  for (Holding const& holding : holdings)
    for (Share const share : holding.shares) total += share.numel;
  auto const wanted = static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(total)));
  return std::max<std::int64_t>(total - wanted, 0);
}

/// One parameter, `left` of whose elements the device still steps.
void add_share(OnCpu& sum, Share const& share, Formats const& formats, std::int64_t left) {
  std::int64_t const on_device = std::clamp<std::int64_t>(left, 0, share.numel);
  std::int64_t const rest = share.numel - on_device;
  auto const handed = kept_format(formats, TensorKind::cast_gradient).value_or(formats.gradient);
  auto const on_host = [&](NumberFormat format) {
    return round_up(bytes_for(rest, format), host_alignment_bytes);
  };
  sum.pieces += pieces_of(on_device);
  sum.gradients += on_host(handed);
  sum.weights += on_host(sent_format(formats));
  if (formats.recipe && rest > 0) sum.copies += aligned(bytes_for(share.numel, NumberFormat::fp32));
}

/// What a bucket keeps of a state on the device, where its rank steps the first `left` elements
/// there: all before the first one that is not.
std::int64_t kept_bytes(Holding const& holding, TensorKind kind, std::int64_t left) {
  for (Share const share : holding.shares) {
    if (left < share.numel) {
      auto const format = holding.format(kind);
      return format ? aligned(bytes_for(share.begin + left, *format)) : 0;
    }
    left -= share.numel;
  }
  return holding.state_bytes(kind);
}

std::int64_t numel_stepped(Holding const& holding) {
  std::int64_t numel = 0;
  for (Share const share : holding.shares) numel += share.numel;
  return numel;
}

}  // namespace

std::int64_t pieces_of(std::int64_t numel) {
  return (numel + piece_numel_max - 1) / piece_numel_max;
}

OnCpu on_cpu(std::span<Holding const> holdings, double fraction) {
  OnCpu sum;
  bool cut = false;  // is the first element behind that the CPU steps
  std::int64_t left = numel_on_device(holdings, fraction);
  for (Holding const& holding : holdings) {
    bool const all_here = numel_stepped(holding) <= left;
    for (TensorKind const kind : state_kinds)
      if (!cut) sum.states[kind] += kept_bytes(holding, kind, left);
    cut = cut || !all_here;
    for (std::size_t s = 0; s < holding.shares.size(); ++s) {
      add_share(sum, holding.shares[s], holding.formats[s], left);
      left = std::max<std::int64_t>(left - holding.shares[s].numel, 0);
    }
  }
  if (sum.weights >= staggered_from_bytes) sum.weights += stagger_bytes;
  return sum;
}

}  // namespace adamant::oracle
