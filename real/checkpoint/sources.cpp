#include "real/checkpoint/sources.h"

#include <string>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/conversion.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/saved_recipe.h"
#include "real/quantise/trial.h"

namespace adamant::real {

namespace {

/// In the type that the engine has?
bool is_same_type(SavedNumbers const& saved, StateTensor const& tensor) {
  if (saved.recipe)
    return tensor.quantised && tensor.quantised->shape.recipe == saved.recipe->recipe;
  return !tensor.quantised && saved.format == tensor.shard.format;
}

std::string type_of(SavedNumbers const& saved) {
  return saved.recipe ? std::string(name_of(saved.recipe->recipe)) : dtype_of(saved.format);
}

std::string type_of(StateTensor const& tensor) {
  return tensor.quantised ? std::string(name_of(tensor.quantised->shape.recipe))
                          : dtype_of(tensor.shard.format);
}

/// Scales of a parameter in another form are of others: then values are stored anew.
bool is_taken(SavedNumbers const& saved, StateTensor const& tensor) {
  bool const has_scales = saved.recipe.has_value() || saved.scale != nullptr;
  return is_same_type(saved, tensor) && !(saved.other_form && has_scales);
}

/// Codes and scales are taken as they were, or made anew of the main weight.
Source source_of_quantised(SavedParameter const& saved, StateTensor const& tensor) {
  bool const taken = is_taken(saved.parameter, tensor);
  bool const same = is_same_type(saved.parameter, tensor);
  return {.tensor = &tensor,
          .saved = taken ? saved.parameter : saved.weight(),
          .converts = !taken,
          .keeps_all = !same && !saved.may_round.parameter};
}

std::size_t first_rounded(Source const& source, std::span<float const> values) {
  StateTensor const& tensor = *source.tensor;
  if (!tensor.quantised) return first_rounded(tensor, values, source.scale);
  return first_changed(tensor.quantised->shape, tensor.shard.ranges.front(), values, source.maxima);
}

}  // namespace

/// A parameter beside a main weight is taken as it was; without one it is the weight.
Source source_of_parameter(SavedParameter const& saved, StateTensor const& tensor) {
  if (tensor.quantised) return source_of_quantised(saved, tensor);
  bool const same = is_same_type(saved.parameter, tensor);
  bool const stays = same && !tensor.is_upper && (saved.keeps_main || !saved.main);
  bool const goes = saved.main && !saved.keeps_main;
  return {.tensor = &tensor,
          .saved = stays ? saved.parameter : saved.weight(),
          .converts = !stays,
          .keeps_all = (!same && !saved.may_round.parameter) || (goes && !saved.may_round.main)};
}

Source source_of_main(SavedParameter const& saved, StateTensor const& tensor) {
  bool const same = saved.main && saved.main->format == tensor.shard.format;
  return {.tensor = &tensor,
          .saved = saved.weight(),
          .converts = !same || !is_taken(*saved.main, tensor),
          .keeps_all = !same && !saved.may_round.main && !tensor.upper};
}

Source source_of_moment(SavedNumbers const& saved, bool may_round, StateTensor const& tensor) {
  bool const same = saved.format == tensor.shard.format;
  return {.tensor = &tensor,
          .saved = saved,
          .converts = !is_taken(saved, tensor),
          .keeps_all = !same && !may_round};
}

/// What is said of a tensor before the type that it is saved in, where another one is that.
std::string made_of(Source const& source) {
  std::string const& saved = source.saved.values->key;
  return saved == source.tensor->shard.key ? "" : concat("made of ", saved, ", ");
}

void expect_all_kept(Source const& source, std::span<float const> values) {
  std::size_t const first = first_rounded(source, values);
  if (first == values.size()) return;
  refuse_incompatible("tensor ", source.tensor->shard.key, ": ", made_of(source), "saved as ",
                      type_of(source.saved), ", current ", type_of(*source.tensor), ": ",
                      hexadecimal(values[first]),
                      " would be rounded, and the load does not say that it may");
}

}  // namespace adamant::real
