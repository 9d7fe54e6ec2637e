#include "scenarios/judge/dump/quantised_tensors.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "scenarios/judge/saved/quantised.h"

namespace adamant::scenarios {

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Copies what a rank has, one of each so many elements, to where it is in the whole.
void put(std::span<ElementRange const> ranges, std::int64_t covered, Bytes const& held,
         Bytes& whole) {
  auto from = held.begin();
  for (ElementRange const range : ranges) {
    auto const count = range.numel() / covered;
    std::copy_n(from, count, whole.begin() + range.begin / covered);
    from += count;
  }
}

/// What all ranks have together.
struct Whole {
  Bytes codes;
  Bytes scale_codes;
  QuantisedShard first;  // of the first rank
};

std::optional<Whole> put_together(WorldView const& world, ParameterSpec const& spec,
                                  int parameter) {
  Recipe const recipe = spec.formats.recipe.value();
  std::int64_t const scales = oracle::scales_of(recipe, oracle::matrix_of(spec)).numel();
  Whole whole{.codes = Bytes(static_cast<std::size_t>(spec.numel())),
              .scale_codes = Bytes(static_cast<std::size_t>(scales)),
              .first = {}};
  std::int64_t found = 0;
  for (int rank = 0; rank < world.shard_count(); ++rank) {
    Shard const shard = world.shard(rank, parameter, TensorKind::parameter);
    std::int64_t const numel = numel_of(shard.ranges);
    if (!shard.quantised || shard.quantised->recipe != recipe) return std::nullopt;
    if (std::ssize(shard.quantised->codes) != numel) return std::nullopt;
    put(shard.ranges, 1, shard.quantised->codes, whole.codes);
    auto const& scale_codes = shard.quantised->scale_codes;
    if (recipe == Recipe::mxfp8 && std::ssize(scale_codes) != scales)
      put(shard.ranges, spec.numel() / scales, scale_codes, whole.scale_codes);
    else if (rank == 0)
      whole.scale_codes = scale_codes;
    if (rank == 0) whole.first = *shard.quantised;
    found += numel;
  }
  if (found != spec.numel()) return std::nullopt;
  return whole;
}

/// Two a byte, the one of the even index in the lower half.
Bytes paired(Bytes const& codes) {
  Bytes pairs;
  for (std::size_t i = 0; i + 1 < codes.size(); i += 2)
    pairs.push_back(static_cast<std::uint8_t>((codes[i + 1] << 4) | (codes[i] & 0xf)));
  return pairs;
}

class Tensors {
 public:
  Tensors(std::string name, ByteRooms& rooms) : name_(std::move(name)), rooms_(rooms) {}

  void add(char const* part, std::vector<std::int64_t> shape, std::span<float const> numbers) {
    add(part, std::move(shape), NumberFormat::fp32, std::as_bytes(numbers));
  }
  void add(char const* part, std::vector<std::int64_t> shape, Bytes const& codes) {
    add(part, std::move(shape), NumberFormat::fp8, std::as_bytes(std::span(codes)));
  }
  std::vector<TensorToWrite> taken() { return std::move(tensors_); }

 private:
  void add(char const* part, std::vector<std::int64_t> shape, NumberFormat format,
           std::span<std::byte const> bytes) {
    auto const& room = rooms_.emplace_back(bytes.begin(), bytes.end());
    tensors_.push_back({.name = name_ + part,
                        .shape = std::move(shape),
                        .stored = format,
                        .written = format,
                        .parts = {room}});
  }

  std::string name_;
  ByteRooms& rooms_;
  std::vector<TensorToWrite> tensors_;
};

}  // namespace

std::vector<TensorToWrite> quantised_tensors(WorldView const& world, ParameterSpec const& spec,
                                             int parameter, ByteRooms& rooms) {
  auto const whole = put_together(world, spec, parameter);
  if (!whole) return {};
  Recipe const recipe = spec.formats.recipe.value();
  QuantisedShard const& first = whole->first;
  Tensors tensors(spec.name, rooms);
  bool const four_bits = recipe == Recipe::nvfp4;
  tensors.add("/raw", raw_shape(recipe, spec), four_bits ? paired(whole->codes) : whole->codes);
  if (four_bits || recipe == Recipe::mxfp8)
    tensors.add("/scale", scale_shape(recipe, spec), whole->scale_codes);
  else
    tensors.add("/scale", scale_shape(recipe, spec), first.scales);
  if (four_bits) tensors.add("/amax", {1}, std::span(&first.amax, 1));
  if (recipe != Recipe::fp8_delayed) return tensors.taken();
  tensors.add("/history", {std::ssize(first.delayed.history)}, first.delayed.history);
  tensors.add("/next_scale", {1}, std::span(&first.delayed.next, 1));
  return tensors.taken();
}

}  // namespace adamant::scenarios
