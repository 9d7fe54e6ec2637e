#include "real/checkpoint/quantised_tensors.h"

#include "real/checkpoint/checkpoint_error.h"

namespace adamant::real {

namespace {

BesideTensor raw_of(Recipe recipe, std::span<std::int64_t const> shape) {
  std::int64_t const in_a_byte = recipe == Recipe::nvfp4 ? 2 : 1;
  BesideTensor raw{.what = Beside::raw,
                   .format = NumberFormat::fp8,
                   .shape = {shape.begin(), shape.end()},
                   .elements = in_a_byte};
  raw.shape.back() /= in_a_byte;
  return raw;
}

BesideTensor scale_of(Recipe recipe, std::span<std::int64_t const> shape, bool whole_scales) {
  std::int64_t const columns = shape.back();
  std::int64_t const rows = numel_of(shape) / columns;
  bool const codes = recipe == Recipe::mxfp8 || recipe == Recipe::nvfp4;
  BesideTensor scale{.what = Beside::scale,
                     .format = codes ? NumberFormat::fp8 : NumberFormat::fp32,
                     .shape = {1}};
  if (block_rows(recipe) > 0)
    scale.shape = {rows / block_rows(recipe), columns / block_columns(recipe)};
  if (recipe == Recipe::mxfp8 && !whole_scales) scale.elements = block_columns(recipe);
  return scale;
}

}  // namespace

std::string beside_key(std::string const& key, Beside what) {
  constexpr std::string_view names[] = {"/raw", "/scale", "/amax", "/history", "/next_scale"};
  return concat(key, names[static_cast<std::size_t>(what)]);
}

std::int64_t BesideTensor::numel() const {
  return numel_of(shape);
}

ElementRange BesideTensor::part_of(ElementRange own) const {
  if (elements == 0) return {.begin = 0, .end = numel()};
  return {.begin = own.begin / elements, .end = (own.end + elements - 1) / elements};
}

bool is_cut_with_rows(Recipe recipe, Beside what, std::span<std::int64_t const> part) {
  if (what == Beside::raw) return true;
  if (what != Beside::scale || block_rows(recipe) == 0) return false;
  return numel_of(part) / part.back() % block_rows(recipe) == 0;
}

std::vector<BesideTensor> tensors_beside(Recipe recipe, std::span<std::int64_t const> shape,
                                         bool whole_scales) {
  std::vector<BesideTensor> tensors = {raw_of(recipe, shape),
                                       scale_of(recipe, shape, whole_scales)};
  if (recipe == Recipe::nvfp4) tensors.push_back({.what = Beside::amax, .shape = {1}});
  if (recipe == Recipe::fp8_delayed) {
    tensors.push_back({.what = Beside::history, .shape = {16}});
    tensors.push_back({.what = Beside::next_scale, .shape = {1}});
  }
  return tensors;
}

}  // namespace adamant::real
