#include "scenarios/peers/client/gradients.h"

#include "oracle/formats/formats.h"
#include "scenarios/gradients/blocks.h"
#include "scenarios/judge/dump/safetensors.h"

namespace adamant::scenarios {

namespace {

std::vector<std::uint32_t> hashes_of(TensorKey key, std::int64_t numel) {
  std::vector<std::uint32_t> hashes(static_cast<std::size_t>(numel));
  hash_block(key, 0, hashes);
  return hashes;
}

/// One rank's sum for one parameter.
std::vector<float> summed(FedGradients const& gradients, int parameter, std::int64_t backward,
                          std::optional<OverflowElement> const& overflow, int rank) {
  auto const at = static_cast<std::size_t>(parameter);
  NumberFormat const format = gradients.formats[at];
  auto const key = gradient_key({.seed = gradients.seed, .parameter = parameter}, backward);
  auto const hashes = hashes_of(key, gradients.parameters[at].numel());
  std::vector<float> sum(hashes.size());
  std::vector<float> one(hashes.size());
  for (int m = rank; m < gradients.microbatches; m += gradients.ranks) {
    gradient_block(gradients.kind,
                   microbatch_key({.seed = gradients.seed,
                                   .backward = backward,
                                   .microbatch = m,
                                   .microbatch_count = gradients.microbatches,
                                   .format = format}),
                   hashes, one.data());
    if (overflow && overflow->name == parameter && overflow->microbatch == m)
      one[static_cast<std::size_t>(overflow->element)] = overflow->value;
    oracle::round_to(format, one);
    if (m == rank)
      sum = one;  // keeps the sign of a zero, which an addition to 0 would not
    else
      add_block(one, sum.data());
    oracle::round_to(format, sum);
  }
  return sum;
}

}  // namespace

std::vector<WholeTensors> fed_gradients(FedGradients const& gradients, std::int64_t backward,
                                        std::optional<OverflowElement> const& overflow) {
  std::vector<WholeTensors> fed(static_cast<std::size_t>(gradients.ranks));
  for (int rank = 0; rank < gradients.ranks; ++rank)
    for (int p = 0; p < static_cast<int>(gradients.parameters.size()); ++p)
      fed[static_cast<std::size_t>(rank)].push_back(summed(gradients, p, backward, overflow, rank));
  return fed;
}

// Exact and normal gradients lie far below 2^100 / scale_max, but not below fp16's largest number.
bool stays_finite(Formats const& formats, GradientClass kind, float scale) {
  constexpr float scale_max = 1 << 24;
  bool const narrow =
      formats.parameter == NumberFormat::fp16 || formats.gradient == NumberFormat::fp16;
  bool const tame = scale == 1.0F || (!narrow && scale <= scale_max);
  return tame && kind != GradientClass::wild;
}

WholeTensors initial_values(std::span<ParameterSpec const> parameters, std::uint64_t seed) {
  WholeTensors tensors;
  for (int p = 0; p < static_cast<int>(parameters.size()); ++p) {
    auto const hashes = hashes_of(initial_key({.seed = seed, .parameter = p}),
                                  parameters[static_cast<std::size_t>(p)].numel());
    initial_block(hashes, tensors.emplace_back(hashes.size()).data());
    Formats const& formats = parameters[static_cast<std::size_t>(p)].formats;
    if (!formats.recipe) oracle::round_to(formats.parameter, tensors.back());
  }
  return tensors;
}

void write_whole(std::filesystem::path const& path, std::span<ParameterSpec const> parameters,
                 WholeTensors const& tensors) {
  std::vector<TensorToWrite> entries;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    entries.push_back({.name = parameters[p].name,
                       .shape = parameters[p].shape,
                       .parts = {std::as_bytes(std::span(tensors[p]))}});
  write_safetensors(path, entries);
}

}  // namespace adamant::scenarios
