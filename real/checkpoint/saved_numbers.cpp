#include "real/checkpoint/saved_numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"

namespace adamant::real {

namespace {

SavedTensor const* find(Checkpoint const& checkpoint, std::string const& key) {
  auto const found = checkpoint.tensors.find(key);
  return found == checkpoint.tensors.end() ? nullptr : &found->second;
}

/// How many of a tensor's elements each file has; files without any are absent.
std::map<int, std::int64_t> numel_by_file(SavedTensor const& tensor) {
  std::map<int, std::int64_t> numel;
  for (SavedBox const& box : tensor.boxes)
    if (box.numel() > 0) numel[box.file] += box.numel();
  return numel;
}

/// Numbers under the key alone, as others keep them.
NumberFormat format_alone(SavedTensor const& values) {
  auto const format = format_of_dtype(values.dtype);
  if (!format || *format == NumberFormat::fp8)
    refuse_incompatible("tensor ", values.key, ": is saved as ", values.dtype,
                        ", expected F32, BF16 or F16");
  return *format;
}

NumberFormat format_of_raw(SavedTensor const& raw, SavedTensor const& values, TensorKind kind) {
  if (values.dtype != dtype_of(NumberFormat::fp32))
    refuse_damaged("tensor ", values.key, ": is saved as ", values.dtype, ", expected F32 beside ",
                   raw.key);
  if (raw.shape != values.shape)
    refuse_damaged("tensor ", raw.key, ": is ", text_of_shape(raw.shape), ", expected ",
                   text_of_shape(values.shape), " as ", values.key);
  auto const format = format_of_dtype(raw.dtype);
  bool const known = format && *format != NumberFormat::fp32 &&
                     (*format != NumberFormat::fp8 || kind != TensorKind::parameter);
  if (!known)
    refuse_damaged("tensor ", raw.key, ": is saved as ", raw.dtype, ", expected BF16 or F16",
                   kind == TensorKind::parameter ? "" : ", or U8 for fp8");
  return *format;
}

void check_scale(SavedTensor const& scale, SavedTensor const& raw, std::size_t file_count) {
  if (scale.dtype != dtype_of(NumberFormat::fp32))
    refuse_damaged("tensor ", scale.key, ": is saved as ", scale.dtype, ", expected F32");
  bool const one = scale.shape.size() == 1 && scale.shape[0] == 1;
  bool const each =
      scale.shape.size() == 1 && scale.shape[0] == static_cast<std::int64_t>(file_count);
  if (!one && !each)
    refuse_damaged("tensor ", scale.key, ": is ", text_of_shape(scale.shape), ", expected [1] or [",
                   std::to_string(file_count), "], one for each file");
  if (one) return;
  auto const numbers = numel_by_file(scale);
  for (auto const& [file, numel] : numel_by_file(raw)) {
    auto const found = numbers.find(file);
    if (found == numbers.end() || found->second != 1)
      refuse_damaged("tensor ", scale.key, ": has ",
                     std::to_string(found == numbers.end() ? 0 : found->second),
                     " numbers in a file that has elements of ", raw.key, ", expected one");
  }
}

std::optional<SavedNumbers> find_quantised(Checkpoint const& checkpoint, std::string const& key) {
  SavedTensor const& values = checkpoint.tensors.at(key);
  std::optional<SavedRecipe> recipe = find_recipe(checkpoint, values);
  if (recipe && values.dtype != dtype_of(NumberFormat::fp32))
    refuse_damaged("tensor ", values.key, ": is saved as ", values.dtype, ", expected F32 beside ",
                   raw_key(key));
  if (recipe) return SavedNumbers{.values = &values, .recipe = std::move(recipe)};
  SavedTensor const* const raw = find(checkpoint, raw_key(key));
  for (Beside const what : {Beside::amax, Beside::history, Beside::next_scale}) {
    std::string const beside = beside_key(key, what);
    if (find(checkpoint, beside) == nullptr) continue;
    if (raw == nullptr)
      refuse_damaged("tensor ", raw_key(key), ": is missing, expected U8 beside ", beside);
    refuse_damaged("tensor ", raw->key, ": is saved as ", raw->dtype, ", expected U8 beside ",
                   beside);
  }
  return std::nullopt;
}

/// The number that a file has of a scale, or any of them.
SavedBox const* number_in(SavedTensor const& scale, std::optional<int> file = {}) {
  auto const found = std::find_if(scale.boxes.begin(), scale.boxes.end(), [&](SavedBox const& box) {
    return box.numel() == 1 && box.file == file.value_or(box.file);
  });
  return &*found;
}

}  // namespace

SavedNumbers find_numbers(Checkpoint const& checkpoint, std::string const& key, TensorKind kind) {
  if (kind == TensorKind::parameter) {
    std::optional<SavedNumbers> quantised = find_quantised(checkpoint, key);
    if (quantised) return std::move(*quantised);
  }
  SavedNumbers saved{.values = &checkpoint.tensors.at(key),
                     .raw = find(checkpoint, raw_key(key)),
                     .scale = find(checkpoint, scale_key(key))};
  if (saved.raw != nullptr) {
    saved.format = format_of_raw(*saved.raw, *saved.values, kind);
    if (has_scale(kind, saved.format) && saved.scale == nullptr)
      refuse_damaged("tensor ", saved.raw->key, ": is saved without ", scale_key(key));
  }
  bool const scaled = saved.raw != nullptr && has_scale(kind, saved.format);
  if (saved.scale != nullptr && !scaled)
    refuse_damaged("tensor ", saved.scale->key, ": is saved, but nothing that it is a scale of");
  if (scaled) check_scale(*saved.scale, *saved.raw, checkpoint.files.size());
  if (saved.raw != nullptr) return saved;
  saved.raw = saved.values;
  saved.format = saved.values_format = format_alone(*saved.values);
  return saved;
}

SharedScale shared_scale(SavedNumbers const& saved, std::span<ElementRange const> ranges) {
  std::int64_t const numel = numel_of(ranges);
  if (numel == 0 || saved.scale == nullptr) return {.found = true};
  if (saved.scale->shape[0] == 1)
    return {.found = numel == saved.raw->numel(), .number = number_in(*saved.scale)};
  ShardDescription const sharing = {
      .key = "", .format = saved.format, .global_shape = saved.raw->shape, .ranges = ranges};
  std::vector<ReadRange> reads;
  plan_reads(*saved.raw, sharing, reads);
  int const file = reads.front().file;
  bool const alone = std::all_of(reads.begin(), reads.end(),
                                 [&](ReadRange const& read) { return read.file == file; });
  if (!alone || numel_by_file(*saved.raw).at(file) != numel) return {};
  return {.found = true, .number = number_in(*saved.scale, file)};
}

}  // namespace adamant::real
