#include "real/checkpoint/saved_recipe.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/safetensors.h"

namespace adamant::real {

namespace {

SavedTensor const* find(Checkpoint const& checkpoint, SavedTensor const& values, Beside what) {
  auto const found = checkpoint.tensors.find(beside_key(values.key, what));
  return found == checkpoint.tensors.end() ? nullptr : &found->second;
}

bool is_bytes(SavedTensor const& tensor) {
  return tensor.dtype == dtype_of(NumberFormat::fp8);
}

/// Two codes a byte?
bool is_half(SavedTensor const& raw, SavedTensor const& values) {
  std::vector<std::int64_t> shape = values.shape;
  if (shape.empty() || shape.back() == 0) return false;
  shape.back() /= 2;
  return raw.shape == shape;
}

/// What the tensors that are there are of, if they are of anything: one may be missing.
Recipe recipe_of(Checkpoint const& checkpoint, SavedTensor const& values, SavedTensor const& raw) {
  if (find(checkpoint, values, Beside::history) != nullptr) return Recipe::fp8_delayed;
  if (find(checkpoint, values, Beside::next_scale) != nullptr) return Recipe::fp8_delayed;
  if (find(checkpoint, values, Beside::amax) != nullptr) return Recipe::nvfp4;
  SavedTensor const* const scale = find(checkpoint, values, Beside::scale);
  if (scale == nullptr)
    refuse_damaged("tensor ", raw.key, ": is saved without ",
                   beside_key(values.key, Beside::scale));
  if (is_bytes(*scale)) return is_half(raw, values) ? Recipe::nvfp4 : Recipe::mxfp8;
  return scale->shape.size() == 1 ? Recipe::fp8_current : Recipe::fp8_block;
}

void expect_as(BesideTensor const& is, SavedTensor const& saved, Recipe recipe) {
  if (saved.dtype != dtype_of(is.format) || saved.shape != is.shape)
    refuse_damaged("tensor ", saved.key, ": is ", saved.dtype, " ", text_of_shape(saved.shape),
                   ", expected ", dtype_of(is.format), " ", text_of_shape(is.shape), " of ",
                   std::string(name_of(recipe)));
}

void expect_nothing_else(Checkpoint const& checkpoint, SavedTensor const& values,
                         SavedRecipe const& recipe) {
  for (Beside const what : all_beside) {
    SavedTensor const* const saved = find(checkpoint, values, what);
    bool const belongs = std::ranges::any_of(
        recipe.tensors, [&](SavedRecipe::Tensor const& tensor) { return tensor.saved == saved; });
    if (saved != nullptr && !belongs)
      refuse_damaged("tensor ", saved->key, ": is saved, but ", name_of(recipe.recipe),
                     ", as which the parameter is saved, has none");
  }
}

// ---- numbers ------------------------------------------------------------------------------------

/// The bytes of a tensor that a rank has, and where they come from.
struct ReadNumbers {
  SavedRecipe::Tensor const& tensor;
  std::vector<std::byte> bytes;
  ShardDescription const& room;
  Checkpoint const& checkpoint;
};

/// The file that has number i.
std::string file_of(ReadNumbers const& numbers, std::size_t i) {
  std::vector<ReadRange> ranges;
  plan_reads(*numbers.tensor.saved, numbers.room, ranges);
  std::uint64_t const at = i * bytes_of(numbers.room.format);
  auto const found = std::ranges::find_if(ranges, [&](ReadRange const& range) {
    return range.to <= at && at < range.to + range.bytes;
  });
  return numbers.checkpoint.files[static_cast<std::size_t>(found->file)].name;
}

[[noreturn]] void refuse(ReadNumbers const& numbers, std::size_t i, std::string const& found,
                         std::string const& expected) {
  refuse_damaged(file_of(numbers, i), ": tensor ", numbers.tensor.saved->key, ": is ", found,
                 ", expected ", expected);
}

std::vector<float> floats_of(ReadNumbers const& numbers) {
  std::vector<float> floats(numbers.bytes.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), numbers.bytes.data(), numbers.bytes.size());
  bool const amaxes =
      numbers.tensor.is.what == Beside::amax || numbers.tensor.is.what == Beside::history;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    bool const possible = amaxes ? floats[i] >= 0 : floats[i] > 0 && std::isfinite(floats[i]);
    if (!possible)
      refuse(numbers, i, std::to_string(floats[i]),
             amaxes ? "a magnitude" : "a finite number above 0");
  }
  return floats;
}

/// Neither NaN nor, where there is a sign, negative.
std::vector<std::uint8_t> codes_of(ReadNumbers const& numbers, Recipe recipe) {
  std::vector<std::uint8_t> codes(numbers.bytes.size());
  if (!codes.empty()) std::memcpy(codes.data(), numbers.bytes.data(), codes.size());
  int const largest = recipe == Recipe::mxfp8 ? 0xfe : 0x7e;
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (codes[i] > largest)
      refuse(numbers, i, std::to_string(codes[i]),
             concat("the code of a scale, at most ", std::to_string(largest)));
  return codes;
}

void keep(ReadNumbers const& numbers, Recipe recipe, QuantisedScales& scales) {
  if (numbers.room.format == NumberFormat::fp8) {
    std::vector<std::uint8_t> codes = codes_of(numbers, recipe);
    if (numbers.tensor.is.elements == 0) scales.scale_codes = std::move(codes);
    return;
  }
  std::vector<float> floats = floats_of(numbers);
  switch (numbers.tensor.is.what) {
    case Beside::history:
      std::ranges::copy(floats, scales.delayed->history);
      return;
    case Beside::next_scale:
      scales.delayed->next = floats.front();
      return;
    default:
      scales.scales = std::move(floats);
  }
}

}  // namespace

std::optional<Recipe> recipe_saved(Checkpoint const& checkpoint, SavedTensor const& values) {
  SavedTensor const* const raw = find(checkpoint, values, Beside::raw);
  if (raw == nullptr || !is_bytes(*raw)) return std::nullopt;
  return recipe_of(checkpoint, values, *raw);
}

std::optional<SavedRecipe> find_recipe(Checkpoint const& checkpoint, SavedTensor const& values,
                                       bool whole_scales) {
  std::optional<Recipe> const recipe = recipe_saved(checkpoint, values);
  if (!recipe) return std::nullopt;
  SavedTensor const* const raw = find(checkpoint, values, Beside::raw);
  SavedRecipe found{.recipe = *recipe};
  if (!takes(found.recipe, values.shape))
    refuse_damaged("tensor ", raw->key, ": no ", name_of(found.recipe), " has the shape ",
                   text_of_shape(values.shape));
  for (BesideTensor& is : tensors_beside(found.recipe, values.shape, whole_scales)) {
    SavedTensor const* const saved = find(checkpoint, values, is.what);
    if (saved == nullptr)
      refuse_damaged("tensor ", raw->key, ": is saved as ", name_of(found.recipe), " without ",
                     beside_key(values.key, is.what));
    expect_as(is, *saved, found.recipe);
    found.tensors.push_back({std::move(is), saved});
  }
  expect_nothing_else(checkpoint, values, found);
  return found;
}

ShardDescription describe_part(BesideTensor const& tensor, ElementRange const& range,
                               std::byte* data) {
  return {.key = "",
          .format = tensor.format,
          .global_shape = tensor.shape,
          .ranges = {&range, 1},
          .data = data};
}

std::byte* data_of(QuantisedView const& view, Beside what) {
  auto const bytes = [](auto const* data) {
    return const_cast<std::byte*>(reinterpret_cast<std::byte const*>(data));
  };
  switch (what) {
    case Beside::raw:
      return bytes(view.codes);
    case Beside::scale:
      return view.scale_codes != nullptr ? bytes(view.scale_codes) : bytes(view.scales);
    case Beside::amax:
      return bytes(view.scales);
    case Beside::history:
      return bytes(view.delayed->history);
    case Beside::next_scale:
      return bytes(&view.delayed->next);
  }
  return nullptr;
}

QuantisedScales read_scales(SavedRecipe const& saved, ElementRange own, ReadPart const& read,
                            Checkpoint const& checkpoint) {
  QuantisedScales scales;
  if (saved.recipe == Recipe::fp8_delayed) scales.delayed.emplace();
  for (SavedRecipe::Tensor const& tensor : saved.tensors) {
    if (tensor.is.what == Beside::raw) continue;
    ElementRange const part = tensor.is.part_of(own);
    ShardDescription const room = describe_part(tensor.is, part, nullptr);
    keep({tensor, read(*tensor.saved, room), room, checkpoint}, saved.recipe, scales);
  }
  return scales;
}

}  // namespace adamant::real
