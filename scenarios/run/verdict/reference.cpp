#include "scenarios/run/verdict/reference.h"

#include <algorithm>
#include <array>
#include <memory>

#include "oracle/formats/formats.h"
#include "scenarios/run/gradients/blocks.h"
#include "scenarios/run/gradients/keys.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t block_numel = 8192;

/// Hashes of a range of elements, kept until another range is asked for: all microbatches of a
/// block need the same ones.
class KeptHashes {
 public:
  std::span<std::uint32_t const> of(TensorKey key, std::int64_t begin, std::size_t count) {
    if (begin != begin_ || count != hashes_.size()) {
      hashes_.resize(count);
      hash_block(key, static_cast<std::uint64_t>(begin), hashes_);
      begin_ = begin;
    }
    return hashes_;
  }

 private:
  std::int64_t begin_ = -1;
  std::vector<std::uint32_t> hashes_;
};

/// Calls `visit(begin, count)` for consecutive blocks of [0, numel).
template <typename Visit>
void for_each_block(std::int64_t numel, Visit visit) {
  for (std::int64_t begin = 0; begin < numel; begin += block_numel)
    visit(begin, static_cast<std::size_t>(std::min(block_numel, numel - begin)));
}

}  // namespace

Reference::Reference(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
                     std::uint64_t seed)
    : kind_(scenario.gradients),
      microbatch_count_(static_cast<int>(scenario.microbatch_count())),
      seed_(seed),
      model_({.parameters = parameters,
              .groups = adam_configs(scenario),
              .step_counter = scenario.optimizer.step_counter}) {
  for (int p = 0; p < model_.parameter_count(); ++p) write_initial_values(p);
}

void Reference::write_initial_values(int parameter) {
  auto const key = initial_key({.seed = seed_, .parameter = parameter});
  std::array<std::uint32_t, block_numel> hash_room;
  std::array<float, block_numel> value_room;
  for_each_block(model_.spec(parameter).numel(), [&](std::int64_t begin, std::size_t count) {
    std::span<std::uint32_t> const hashes(hash_room.data(), count);
    hash_block(key, static_cast<std::uint64_t>(begin), hashes);
    initial_block(hashes, value_room.data());
    model_.write_parameter(parameter, begin, std::span(value_room).first(count));
  });
}

oracle::MicrobatchReader Reference::reader(int parameter, std::int64_t backward) const {
  auto const key = gradient_key({.seed = seed_, .parameter = parameter}, backward);
  auto const format = model_.spec(parameter).formats.gradient;
  return [=, this, kept = KeptHashes()](int microbatch, std::int64_t begin,
                                        std::span<float> out) mutable {
    auto const microbatch_constants = microbatch_key({.seed = seed_,
                                                      .backward = backward,
                                                      .microbatch = microbatch,
                                                      .microbatch_count = microbatch_count_,
                                                      .format = format});
    gradient_block(kind_, microbatch_constants, kept.of(key, begin, out.size()), out.data());
    oracle::round_to(format, out);
  };
}

void Reference::add_exact_mean(int parameter, std::int64_t backward) {
  auto const read = reader(parameter, backward);
  model_.add_gradient(parameter, [&](std::int64_t first, std::span<float> mean) {
    auto const read_block = [&](int microbatch, std::int64_t begin, std::span<float> out) {
      read(microbatch, first + begin, out);
    };
    oracle::mean_over_microbatches(microbatch_count_, read_block, mean);
  });
}

void Reference::take_gradient(int parameter, std::span<float const> observed) {
  model_.set_gradient(parameter, observed);
}

void Reference::set_groups(std::span<AdamConfig const> groups) {
  for (std::size_t group = 0; group < groups.size(); ++group)
    model_.set_group(static_cast<int>(group), groups[group]);
}

std::uint64_t Reference::fingerprint(int parameter, std::int64_t backward) const {
  auto const key = gradient_key({.seed = seed_, .parameter = parameter}, backward);
  auto const values = model_.tensor(parameter, TensorKind::parameter);
  std::array<std::uint32_t, block_numel> room;
  std::uint64_t sum = 0;
  for_each_block(std::ssize(values), [&](std::int64_t begin, std::size_t count) {
    std::span<std::uint32_t> const hashes(room.data(), count);
    hash_block(key, static_cast<std::uint64_t>(begin), hashes);
    sum += fingerprint_block(hashes, values.data() + begin);
  });
  return sum;
}

}  // namespace adamant::scenarios
