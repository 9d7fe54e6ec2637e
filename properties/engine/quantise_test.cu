// The engine's quantised parameters against the oracle's: whole matrices that are cut over ranks at
// any row must have the codes and scales that the oracle gives them in one piece.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <list>
#include <ostream>
#include <string>
#include <vector>

#include "oracle/quantise/recipes.h"
#include "oracle/testing/random_values.h"
#include "oracle/testing/special_values.h"
#include "real/cuda/error.h"
#include "real/cuda/launch.h"
#include "real/quantise/quantise_kernels.h"
#include "real/quantise/quantised_view.h"
#include "real/shard/memory.h"
#include "real/testing/ranks.h"

namespace adamant::properties {
namespace {

using oracle::MatrixShape;
using real::QuantiseTask;
using real::RecipeShape;

using Values = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
using Rows = std::vector<std::int64_t>;  // where ranks begin, and the end

constexpr Recipe recipes[] = {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                              Recipe::mxfp8, Recipe::nvfp4};

/// Small arrays on their way to a device and back.
class Device {
 public:
  template <typename T>
  T* put(std::vector<T> const& values) {
    real::DeviceBuffer& buffer =
        kept_.emplace_back(ledger_, Purpose::parameters, values.size() * sizeof(T), stream);
    if (!values.empty())
      ADAMANT_TRY(cudaMemcpyAsync(buffer.as<void>(), values.data(), buffer.bytes(),
                                  cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
    return buffer.as<T>();
  }

  template <typename T>
  std::vector<T> get(T const* from, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0)
      ADAMANT_TRY(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(T),
                                  cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return values;
  }

  template <typename T>
  void put(std::vector<T> const& values, T* to) {
    ADAMANT_TRY(cudaMemcpyAsync(to, values.data(), values.size() * sizeof(T),
                                cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
  }

  real::Stream stream;

 private:
  real::Ledger ledger_;
  std::list<real::DeviceBuffer> kept_;
};

struct ReadArguments {
  real::QuantisedView view;
  std::int64_t count = 0;
  float* to = nullptr;
};

__global__ void read_kernel(__grid_constant__ ReadArguments const a) {
  real::for_each_in_grid(
      a.count, [&](std::int64_t i) { a.to[i] = real::value_at(a.view, a.view.begin + i); });
}

/// What ranks together made of a matrix.
struct Outcome {
  Bytes codes;        // one of each element
  Values scales;      // what reading multiplies by
  Bytes scale_codes;  // of mxfp8 and nvfp4
  Values read;
  real::DelayedScale delayed;
};

/// All ranks of a world, one after the other on one device: what each has of one parameter.
class World {
 public:
  World(Device& device, Recipe recipe, MatrixShape shape, Rows rows)
      : device_(device),
        shape_{.numel = shape.numel(), .columns = shape.columns, .recipe = recipe},
        maxima_(static_cast<std::size_t>(real::maxima_count(shape_))) {
    for (std::size_t r = 0; r + 1 < rows.size(); ++r)
      tasks_.push_back(task_of(rows[r] * shape.columns, rows[r + 1] * shape.columns));
  }

  std::vector<QuantiseTask> const& tasks() const { return tasks_; }
  void apply(std::int32_t const* flag) {
    for (QuantiseTask& task : tasks_) task.apply = flag;
  }

  void write(Values const& weights) {
    for (QuantiseTask& task : tasks_)
      task.weights = device_.put(
          Values(weights.begin() + task.begin, weights.begin() + task.begin + task.count));
  }

  /// What a collective does between the two reads.
  void join() {
    std::vector<std::int32_t> largest(maxima_.size());
    for (QuantiseTask const& task : tasks_) {
      auto const own = device_.get(task.partial, static_cast<std::int64_t>(largest.size()));
      for (std::size_t i = 0; i < own.size(); ++i) largest[i] = std::max(largest[i], own[i]);
    }
    for (QuantiseTask const& task : tasks_) {
      device_.put(largest, const_cast<std::int32_t*>(task.joined));
      device_.put(maxima_, task.partial);
    }
  }

  void quantise(Values const& weights) {
    write(weights);
    launch_first_read(tasks_, device_.stream);
    join();
    launch_scales(tasks_, device_.stream);
    launch_second_read(tasks_, device_.stream);
  }

  Outcome outcome() {
    Outcome outcome;
    Bytes packed;
    for (QuantiseTask const& task : tasks_)
      append(packed, device_.get(task.codes, real::code_bytes(shape_.recipe, task.count)));
    for (QuantiseTask const& task : tasks_) gather_scale_codes(task, outcome.scale_codes);
    outcome.codes = unpacked(packed);
    outcome.read = read(packed, outcome.scale_codes);
    QuantiseTask const& last = tasks_.back();  // of which all ranks have the same
    if (shape_.recipe == Recipe::fp8_delayed) outcome.delayed = device_.get(last.delayed, 1)[0];
    outcome.scales = scales_of(view(last, nullptr, outcome.scale_codes.data()));
    return outcome;
  }

 private:
  QuantiseTask task_of(std::int64_t begin, std::int64_t end) {
    std::int64_t const count = end - begin;
    std::int64_t const blocks = real::block_count(shape_);
    Recipe const recipe = shape_.recipe;
    std::int64_t const codes_of_scales = recipe == Recipe::mxfp8   ? count / 32
                                         : recipe == Recipe::nvfp4 ? blocks
                                                                   : 0;
    return {.shape = shape_,
            .begin = begin,
            .count = count,
            .codes = device_.put(filled<std::uint8_t>(real::code_bytes(recipe, count), 0xaa)),
            .partial = device_.put(maxima_),
            .joined = device_.put(maxima_),
            .scales = device_.put(filled<float>(recipe == Recipe::nvfp4 ? 1 : blocks, 5)),
            .scale_codes = device_.put(filled<std::uint8_t>(codes_of_scales, 0xaa)),
            .delayed = device_.put(std::vector<real::DelayedScale>(1))};
  }

  template <typename T>
  static std::vector<T> filled(std::int64_t count, T value) {
    return std::vector<T>(static_cast<std::size_t>(count), value);
  }

  template <typename T>
  static void append(std::vector<T>& to, std::vector<T> const& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  void gather_scale_codes(QuantiseTask const& task, Bytes& to) {
    std::int64_t const blocks = real::block_count(shape_);
    if (shape_.recipe == Recipe::mxfp8) append(to, device_.get(task.scale_codes, task.count / 32));
    if (shape_.recipe == Recipe::nvfp4) to = device_.get(task.scale_codes, blocks);
  }

  Bytes unpacked(Bytes const& packed) const {
    if (shape_.recipe != Recipe::nvfp4) return packed;
    Bytes codes;
    for (unsigned const byte : packed) {
      codes.push_back(static_cast<std::uint8_t>(byte & 0xfU));
      codes.push_back(static_cast<std::uint8_t>(byte >> 4));
    }
    return codes;
  }

  /// The whole tensor as it is after a gather.
  real::QuantisedView view(QuantiseTask const& any, std::uint8_t const* codes,
                           std::uint8_t const* scale_codes) const {
    return {.shape = shape_, .codes = codes, .scales = any.scales, .scale_codes = scale_codes};
  }

  Values read(real::QuantisedView const& view, std::int64_t count) {
    float* const to = device_.put(filled<float>(count, 0));
    if (count > 0)
      launch(read_kernel, dim3(real::blocks_for(count)), device_.stream,
             ReadArguments{.view = view, .count = count, .to = to});
    return device_.get(to, count);
  }

  /// As a kernel of a model reads it, all on one rank, and each rank its own part.
  Values read(Bytes const& packed, Bytes const& scale_codes) {
    Values own;
    for (QuantiseTask const& task : tasks_)
      append(own, read({.shape = shape_,
                        .begin = task.begin,
                        .codes = task.codes,
                        .scales = task.scales,
                        .scale_codes = task.scale_codes},
                       task.count));
    Values const all =
        read(view(tasks_.front(), device_.put(packed), device_.put(scale_codes)), shape_.numel);
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(all[i] == own[i] || std::isnan(all[i])) << "of element " << i;
    return all;
  }

  Values scales_of(real::QuantisedView view) {
    std::int64_t const kept = shape_.recipe == Recipe::nvfp4   ? 1
                              : shape_.recipe == Recipe::mxfp8 ? 0
                                                               : real::block_count(shape_);
    Values const on_host = device_.get(view.scales, kept);
    view.scales = on_host.data();
    Values scales;
    for (std::int64_t b = 0; b < real::block_count(shape_); ++b)
      scales.push_back(real::scale_at(view, b));
    return scales;
  }

  Device& device_;
  RecipeShape shape_;
  std::vector<std::int32_t> const maxima_;  // zeros
  std::vector<QuantiseTask> tasks_;
};

void expect_equal(Outcome const& outcome, oracle::Quantised const& right, MatrixShape shape,
                  Recipe recipe) {
  EXPECT_EQ(outcome.scales, right.scales);
  EXPECT_EQ(outcome.scale_codes, right.scale_codes);
  EXPECT_EQ(outcome.codes, right.codes);
  Values const read = oracle::read(right, shape, recipe);
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (std::isnan(read[i]))
      ASSERT_TRUE(std::isnan(outcome.read[i])) << i;
    else
      ASSERT_EQ(outcome.read[i], read[i]) << i;
  }
}

void on_one_device(std::function<void(Device&)> const& body) {
  real::run_ranks(1, real::Devices::shared, [&](real::RankContext const&) {
    Device device;
    body(device);
  });
}

Values random_weights(MatrixShape shape, std::uint64_t seed, int exponent_min, int exponent_max) {
  oracle::RandomValues random(seed);
  Values values;
  for (std::int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(random.scaled(exponent_min, exponent_max));
  return values;
}

/// Rows shared out as fsdp2 does: rounded up, so that trailing ranks have fewer or none.
Rows shared_out(std::int64_t rows, std::int64_t ranks) {
  std::int64_t const chunk = (rows + ranks - 1) / ranks;
  Rows begins;
  for (std::int64_t r = 0; r <= ranks; ++r) begins.push_back(std::min(rows, r * chunk));
  return begins;
}

void expect_as_in_one_piece(Device& device, Recipe recipe, MatrixShape shape, Rows const& rows,
                            Values const& weights) {
  oracle::DelayedScale delayed;
  bool const is_delayed = recipe == Recipe::fp8_delayed;
  auto const right = oracle::quantise(weights, shape, recipe, is_delayed ? &delayed : nullptr);
  World world(device, recipe, shape, rows);
  world.quantise(weights);
  SCOPED_TRACE(std::string(name_of(recipe)) + " of " + std::to_string(shape.rows) + " x " +
               std::to_string(shape.columns) + " on " + std::to_string(rows.size() - 1) +
               " ranks, the first of which has " + std::to_string(rows[1]) + " rows");
  expect_equal(world.outcome(), right, shape, recipe);
}

/// The smallest matrix that a recipe takes, and one of several blocks.
std::vector<MatrixShape> shapes_of(Recipe recipe) {
  switch (recipe) {
    case Recipe::fp8_block:
      return {{.rows = 128, .columns = 128}, {.rows = 256, .columns = 384}};
    case Recipe::mxfp8:
      return {{.rows = 32, .columns = 32}, {.rows = 64, .columns = 96}};
    case Recipe::nvfp4:
      return {{.rows = 16, .columns = 16}, {.rows = 48, .columns = 80}};
    default:
      return {{.rows = 1, .columns = 1}, {.rows = 7, .columns = 5}, {.rows = 50, .columns = 33}};
  }
}

class Quantise : public testing::TestWithParam<Recipe> {
 protected:
  void SetUp() override { ADAMANT_NEEDS(1, real::Devices::shared); }
};

TEST_P(Quantise, IsTheSameOnAnyNumberOfRanks) {
  on_one_device([](Device& device) {
    for (MatrixShape const shape : shapes_of(GetParam()))
      for (std::int64_t const ranks : {1, 2, 3, 5})
        expect_as_in_one_piece(device, GetParam(), shape, shared_out(shape.rows, ranks),
                               random_weights(shape, static_cast<std::uint64_t>(ranks), -20, 3));
  });
}

TEST_P(Quantise, IsTheSameWhereverRowsAreCut) {
  on_one_device([](Device& device) {
    auto const shapes = shapes_of(GetParam());
    MatrixShape const shape = shapes[shapes.size() - 2];
    Values const weights = random_weights(shape, 7, -3, 3);
    for (std::int64_t row = 0; row <= shape.rows; row += shape.rows > 32 ? 9 : 1)
      expect_as_in_one_piece(device, GetParam(), shape, {0, row, shape.rows}, weights);
  });
}

TEST_P(Quantise, OfAnyMagnitude) {
  on_one_device([](Device& device) {
    for (MatrixShape const shape : shapes_of(GetParam()))
      for (int const exponent : {-149, -135, -126, -100, 0, 100, 127})
        expect_as_in_one_piece(device, GetParam(), shape, shared_out(shape.rows, 2),
                               random_weights(shape, 11, exponent - 4, exponent));
  });
}

TEST_P(Quantise, OfWhatIsNoNumber) {
  on_one_device([](Device& device) {
    MatrixShape const shape = shapes_of(GetParam()).back();
    Values const zeros(static_cast<std::size_t>(shape.numel()));
    expect_as_in_one_piece(device, GetParam(), shape, shared_out(shape.rows, 2), zeros);
    for (float const special :
         {oracle::inf, -oracle::inf, oracle::nan, -oracle::nan, -0.0F, 0x1p-149F, 0x1.fffffep127F})
      for (Values weights : {zeros, random_weights(shape, 13, -9, 9)}) {
        std::size_t const middle = weights.size() / 2;
        weights[middle + 4] = 0x1p12F;  // in one run with what may not hide it
        weights[middle + 5] = special;
        weights.front() = special;
        expect_as_in_one_piece(device, GetParam(), shape, shared_out(shape.rows, 3), weights);
      }
  });
}

// More quantisations than a history has room for; amaxes rise, fall, vanish and overflow.
TEST_P(Quantise, AgainAndAgain) {
  on_one_device([](Device& device) {
    MatrixShape const shape = shapes_of(GetParam()).front();
    oracle::DelayedScale delayed;
    bool const is_delayed = GetParam() == Recipe::fp8_delayed;
    World world(device, GetParam(), shape, shared_out(shape.rows, 2));
    for (int step = 0; step < 40; ++step) {
      SCOPED_TRACE(step);
      int const exponent = step % 13 - 6;
      Values weights = random_weights(shape, static_cast<std::uint64_t>(step), exponent, exponent);
      if (step == 5) weights.assign(weights.size(), 0);
      if (step == 9) weights[0] = oracle::inf;
      auto const right =
          oracle::quantise(weights, shape, GetParam(), is_delayed ? &delayed : nullptr);
      world.quantise(weights);
      Outcome const outcome = world.outcome();
      expect_equal(outcome, right, shape, GetParam());
      if (!is_delayed) continue;
      EXPECT_EQ(outcome.delayed.next, delayed.next);
      EXPECT_TRUE(std::ranges::equal(outcome.delayed.history, delayed.history));
    }
  });
}

TEST_P(Quantise, LeavesAloneWhatIsNotStepped) {
  on_one_device([](Device& device) {
    MatrixShape const shape = shapes_of(GetParam()).back();
    World world(device, GetParam(), shape, shared_out(shape.rows, 2));
    world.quantise(random_weights(shape, 1, -3, 3));
    Outcome const before = world.outcome();
    std::int32_t* const flag = device.put(std::vector<std::int32_t>{0});
    world.apply(flag);
    world.quantise(random_weights(shape, 2, 4, 6));
    Outcome const after = world.outcome();
    EXPECT_EQ(after.codes, before.codes);
    EXPECT_EQ(after.scales, before.scales);
    EXPECT_EQ(after.scale_codes, before.scale_codes);
    EXPECT_EQ(after.delayed.next, before.delayed.next);
    EXPECT_TRUE(std::ranges::equal(after.delayed.history, before.delayed.history));
    device.put(std::vector<std::int32_t>{1}, flag);
    world.quantise(random_weights(shape, 2, 4, 6));
    EXPECT_NE(world.outcome().codes, before.codes);
  });
}

// More tasks than one launch takes, of all recipes.
TEST_P(Quantise, OfManyParametersAtOnce) {
  on_one_device([](Device& device) {
    std::list<World> worlds;
    std::vector<QuantiseTask> tasks;
    for (std::uint64_t i = 0; i < 45; ++i) {
      Recipe const recipe = i % 2 == 0 ? GetParam() : recipes[i / 2 % 5];
      MatrixShape const shape = shapes_of(recipe).front();
      World& world = worlds.emplace_back(device, recipe, shape, shared_out(shape.rows, 1));
      world.write(random_weights(shape, i, -5, 5));
      tasks.push_back(world.tasks().front());
    }
    launch_first_read(tasks, device.stream);
    for (World& world : worlds) world.join();
    launch_scales(tasks, device.stream);
    launch_second_read(tasks, device.stream);
    std::uint64_t i = 0;
    for (World& world : worlds) {
      SCOPED_TRACE(i);
      oracle::DelayedScale delayed;
      Recipe const recipe = i % 2 == 0 ? GetParam() : recipes[i / 2 % 5];
      MatrixShape const shape = shapes_of(recipe).front();
      expect_equal(world.outcome(),
                   oracle::quantise(random_weights(shape, i, -5, 5), shape, recipe,
                                    recipe == Recipe::fp8_delayed ? &delayed : nullptr),
                   shape, recipe);
      ++i;
    }
  });
}

// 9 * (224 * fl32(1/6)) is above 336, half-way between two codes, to which (9 * 224) * fl32(1/6) is
// rounded.
TEST(QuantiseToNvfp4, InTheOrderOfTheRule) {
  ADAMANT_NEEDS(1, real::Devices::shared);
  on_one_device([](Device& device) {
    MatrixShape const shape{.rows = 16, .columns = 32};
    Values weights(static_cast<std::size_t>(shape.numel()));
    weights[0] = 12;
    weights[16] = 9;
    expect_as_in_one_piece(device, Recipe::nvfp4, shape, shared_out(shape.rows, 2), weights);
  });
}

INSTANTIATE_TEST_SUITE_P(OfEveryRecipe, Quantise, testing::ValuesIn(recipes),
                         [](auto const& of) { return std::string(name_of(of.param)); });

}  // namespace
}  // namespace adamant::properties
