#include "oracle/budget/holdings.h"

#include "oracle/formats/formats.h"
#include "oracle/layout/buckets.h"
#include "oracle/layout/packing.h"

namespace adamant::oracle {
namespace {

constexpr std::int64_t alignment_bytes = 16;
constexpr std::int64_t mxfp8_block_numel = 32;

Holding holding_of(Bucket const& bucket, std::span<ParameterSpec const> parameters,
                   Mesh const& mesh, int rank) {
  ElementRange const part = part_of(bucket, mesh, rank, TensorKind::exp_avg);
  Holding holding{.states = state_room(bucket, mesh, rank),
                  .parameters = parameter_room(bucket, mesh, rank),
                  .whole = mesh.shards * bucket.chunk};
  if (mesh.replicas > 1)
    holding.reduced = mesh.cuts_states_across() ? holding.states : bucket.chunk;
  for (Placed const placed : bucket.parameters) {
    auto const& parameter = parameters[static_cast<std::size_t>(placed.parameter)];
    ElementRange const own = elements_in(part, placed.offset, parameter.numel());
    holding.unit = parameter.unit;
    holding.formats.push_back(parameter.formats);
    holding.shares.push_back({.parameter = placed.parameter,
                              .begin = placed.offset + own.begin - part.begin,
                              .numel = own.numel()});
  }
  return holding;
}

}  // namespace

std::int64_t aligned(std::int64_t bytes) {
  return round_up(bytes, alignment_bytes);
}

std::optional<NumberFormat> kept_format(Formats const& formats, TensorKind kind) {
  return kind == TensorKind::main ? formats.main : stored_format(formats, kind);
}

std::optional<NumberFormat> Holding::format(TensorKind kind) const {
  for (Formats const& each : formats)
    if (auto const format = kept_format(each, kind)) return format;
  return std::nullopt;
}

std::int64_t Holding::state_bytes(TensorKind kind) const {
  auto const stored = format(kind);
  return stored ? aligned(bytes_for(states, *stored)) : 0;
}

std::int64_t Holding::parameter_bytes(std::int64_t numel, bool scales_beside) const {
  auto const recipe = formats.front().recipe;
  if (!recipe) return aligned(bytes_for(numel, formats.front().parameter));
  if (recipe == Recipe::nvfp4) return aligned(numel / 2);
  bool const beside = recipe == Recipe::mxfp8 && scales_beside;
  return aligned(numel) + (beside ? aligned(numel / mxfp8_block_numel) : 0);
}

std::vector<Holding> holdings_of(LayoutKind kind, std::span<ParameterSpec const> parameters,
                                 Mesh const& mesh, int rank) {
  std::vector<Holding> holdings;
  for (Bucket const& bucket : buckets_of(kind, parameters, mesh))
    holdings.push_back(holding_of(bucket, parameters, mesh, rank));
  return holdings;
}

}  // namespace adamant::oracle
