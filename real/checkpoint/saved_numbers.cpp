#include "real/checkpoint/saved_numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

SavedTensor const* find(Checkpoint const& checkpoint, std::string const& key) {
  auto const found = checkpoint.tensors.find(key);
  return found == checkpoint.tensors.end() ? nullptr : &found->second;
}

int writer_of(SavedBox const& box, std::span<int const> writers) {
  return writers[static_cast<std::size_t>(box.file)];
}

/// How many of a tensor's elements each rank has written; ranks without any are absent.
std::map<int, std::int64_t> numel_by_writer(SavedTensor const& tensor,
                                            std::span<int const> writers) {
  std::map<int, std::int64_t> numel;
  for (SavedBox const box : tensor.boxes)
    if (box.numel() > 0) numel[writer_of(box, writers)] += box.numel();
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

void check_scale(SavedTensor const& scale, SavedTensor const& raw, std::span<int const> writers) {
  if (scale.dtype != dtype_of(NumberFormat::fp32))
    refuse_damaged("tensor ", scale.key, ": is saved as ", scale.dtype, ", expected F32");
  int const ranks = writers.empty() ? 0 : std::ranges::max(writers) + 1;
  bool const list = scale.shape.size() == 1 && scale.shape[0] >= 1 && scale.shape[0] <= ranks;
  if (!list)
    refuse_damaged("tensor ", scale.key, ": is ", text_of_shape(scale.shape),
                   ", expected [1], or one for each rank that has saved, at most [",
                   std::to_string(ranks), "]");
  if (scale.shape[0] == 1) return;
  auto const numbers = numel_by_writer(scale, writers);
  for (auto const& [writer, numel] : numel_by_writer(raw, writers)) {
    auto const found = numbers.find(writer);
    if (found == numbers.end() || found->second != 1)
      refuse_damaged("tensor ", scale.key, ": has ",
                     std::to_string(found == numbers.end() ? 0 : found->second),
                     " numbers in files of a rank that has elements of ", raw.key,
                     ", expected one");
  }
}

std::optional<SavedNumbers> find_quantised(Checkpoint const& checkpoint, std::string const& key,
                                           bool whole_scales) {
  SavedTensor const& values = checkpoint.tensors.at(key);
  std::optional<SavedRecipe> recipe = find_recipe(checkpoint, values, whole_scales);
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

/// The number that a rank has written of a scale, or any of them.
SavedBox number_of(SavedTensor const& scale, std::span<int const> writers,
                   std::optional<int> writer = {}) {
  for (SavedBox const box : scale.boxes)
    if (box.numel() == 1 && (!writer || writer_of(box, writers) == *writer)) return box;
  ADAMANT_REAL_ASSERT(false);  // check_scale() has seen it
}

}  // namespace

std::vector<int> writers_of(Checkpoint const& checkpoint) {
  std::map<std::string, int> known;
  std::vector<int> writers;
  for (OpenFile const& file : checkpoint.files)
    writers.push_back(
        known.emplace(owner_of_file(file.name), static_cast<int>(known.size())).first->second);
  return writers;
}

SavedNumbers find_numbers(Checkpoint const& checkpoint, std::span<int const> writers,
                          std::string const& key, TensorKind kind, bool whole_scales) {
  if (kind == TensorKind::parameter) {
    std::optional<SavedNumbers> quantised = find_quantised(checkpoint, key, whole_scales);
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
  if (scaled) check_scale(*saved.scale, *saved.raw, writers);
  if (saved.raw != nullptr) return saved;
  saved.raw = saved.values;
  saved.format = saved.values_format = format_alone(*saved.values);
  return saved;
}

SharedScale shared_scale(SavedNumbers const& saved, std::span<int const> writers,
                         std::span<ElementRange const> ranges) {
  std::int64_t const numel = numel_of(ranges);
  if (numel == 0 || saved.scale == nullptr) return {.found = true, .number = {}};
  if (saved.scale->shape[0] == 1)
    return {.found = numel == saved.raw->numel(), .number = number_of(*saved.scale, writers)};
  ShardDescription const sharing = {
      .key = "", .format = saved.format, .global_shape = saved.raw->shape, .ranges = ranges};
  std::vector<ReadRange> reads;
  plan_reads(*saved.raw, sharing, reads);
  auto const writer_of_read = [&](ReadRange const& read) {
    return writers[static_cast<std::size_t>(read.file)];
  };
  int const writer = writer_of_read(reads.front());
  bool const alone = std::ranges::all_of(
      reads, [&](ReadRange const& read) { return writer_of_read(read) == writer; });
  if (!alone || numel_by_writer(*saved.raw, writers).at(writer) != numel) return {};
  return {.found = true, .number = number_of(*saved.scale, writers, writer)};
}

}  // namespace adamant::real
