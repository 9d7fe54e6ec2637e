#include "scenarios/judge/saved/quantised.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace adamant::scenarios {

namespace {

using Boxes = std::vector<SavedBox>;
using Shape = std::vector<std::int64_t>;

/// The keys beside a parameter's own; null where they are not there.
struct Parts {
  Boxes const* raw = nullptr;
  Boxes const* scale = nullptr;
  Boxes const* amax = nullptr;
  Boxes const* history = nullptr;
  Boxes const* next_scale = nullptr;
};

Parts parts_of(SavedFiles const& saved, std::string const& name) {
  auto const find = [&](char const* part) { return saved.find(saved.weight_prefix + name + part); };
  return {.raw = find("/raw"),
          .scale = find("/scale"),
          .amax = find("/amax"),
          .history = find("/history"),
          .next_scale = find("/next_scale")};
}

/// REQUIRES: there is a scale.
Recipe recipe_of(Parts const& parts) {
  if (parts.amax != nullptr) return Recipe::nvfp4;
  if (parts.history != nullptr) return Recipe::fp8_delayed;
  SavedBox const& scale = parts.scale->front();
  if (scale.format == NumberFormat::fp8) return Recipe::mxfp8;
  return scale.shape.size() == 1 ? Recipe::fp8_current : Recipe::fp8_block;
}

void require(bool holds, std::string const& name, char const* what) {
  if (!holds) throw std::runtime_error(name + ": " + what);
}

std::vector<std::uint8_t> one_of_each(std::vector<std::uint8_t> const& pairs) {
  std::vector<std::uint8_t> codes;
  for (std::uint8_t const pair : pairs) {
    codes.push_back(pair & 0xf);
    codes.push_back(pair >> 4);
  }
  return codes;
}

bool takes(Recipe recipe, ParameterSpec const& parameter) {
  return parameter.shape.size() >= 2 && oracle::takes(recipe, oracle::matrix_of(parameter));
}

}  // namespace

std::vector<std::int64_t> raw_shape(Recipe recipe, ParameterSpec const& parameter) {
  Shape shape = parameter.shape;
  if (recipe == Recipe::nvfp4) shape.back() /= 2;
  return shape;
}

std::vector<std::int64_t> scale_shape(Recipe recipe, ParameterSpec const& parameter) {
  if (recipe == Recipe::fp8_delayed || recipe == Recipe::fp8_current) return {1};
  oracle::MatrixShape const blocks = oracle::scales_of(recipe, oracle::matrix_of(parameter));
  return {blocks.rows, blocks.columns};
}

std::optional<SavedQuantised> quantised_in(SavedFiles const& saved,
                                           ParameterSpec const& parameter) {
  Parts const parts = parts_of(saved, parameter.name);
  if (parts.scale == nullptr) return std::nullopt;
  Recipe const recipe = recipe_of(parts);
  std::string const& name = parameter.name;
  require(takes(recipe, parameter), name, "no shape for its recipe");
  require(parts.raw != nullptr, name, "scales without what they are of");
  bool const delayed = recipe == Recipe::fp8_delayed;
  require(delayed == (parts.next_scale != nullptr), name, "a history with a scale, or neither");
  require(recipe == Recipe::nvfp4 || parts.amax == nullptr, name, "an amax of another recipe");
  SavedQuantised found{.recipe = recipe};
  auto& [codes, scales, scale_codes, amax] = found.quantised;
  codes = bytes_together(*parts.raw, raw_shape(recipe, parameter));
  if (recipe == Recipe::nvfp4) {
    codes = one_of_each(codes);
    amax = put_together(*parts.amax, {1}).front();
  }
  Shape const shape = scale_shape(recipe, parameter);
  if (recipe == Recipe::mxfp8 || recipe == Recipe::nvfp4) {
    scale_codes = bytes_together(*parts.scale, shape);
    for (std::uint8_t const code : scale_codes)
      scales.push_back(oracle::scale_of_code(recipe, code, amax));
  } else {
    scales = put_together(*parts.scale, shape);
  }
  if (!delayed) return found;
  std::ranges::copy(put_together(*parts.history, {std::ssize(found.delayed.history)}),
                    found.delayed.history.begin());
  found.delayed.next = put_together(*parts.next_scale, {1}).front();
  return found;
}

}  // namespace adamant::scenarios
