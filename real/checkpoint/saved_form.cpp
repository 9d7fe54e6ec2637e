#include "real/checkpoint/saved_form.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/saved_recipe.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

/// The saved tensors of all parts under one key each, and the key of the whole.
class Joining {
 public:
  Joining(Checkpoint& checkpoint, std::vector<std::string> keys, std::string whole)
      : checkpoint_(checkpoint), keys_(std::move(keys)), whole_(std::move(whole)) {}

  /// The values, and before them what stands beside: of which recipe it is, is seen there.
  std::vector<Copy> join_all(TensorKind kind) {
    std::optional<Recipe> const recipe =
        kind == TensorKind::parameter
            ? recipe_saved(checkpoint_, checkpoint_.tensors.at(keys_.front()))
            : std::nullopt;
    std::vector<std::int64_t> const part = checkpoint_.tensors.at(keys_.front()).shape;
    for (Beside const what : all_beside) {
      bool const states_have = what == Beside::raw || what == Beside::scale;
      if (kind != TensorKind::parameter && !states_have) continue;
      if (!have_beside(what)) continue;
      bool const cut = recipe ? is_cut_with_rows(*recipe, what, part) : what == Beside::raw;
      if (cut)
        join(beside(what), beside_key(whole_, what));
      else
        take_first(beside(what), beside_key(whole_, what));
    }
    join(keys_, whole_);
    return std::move(copies_);
  }

 private:
  std::vector<std::string> beside(Beside what) const {
    std::vector<std::string> keys;
    for (std::string const& key : keys_) keys.push_back(beside_key(key, what));
    return keys;
  }

  bool have_beside(Beside what) const {
    std::vector<std::string> const keys = beside(what);
    auto const is_saved = [&](std::string const& key) { return checkpoint_.tensors.contains(key); };
    auto const missing = std::ranges::find_if_not(keys, is_saved);
    if (missing == keys.end()) return true;
    if (std::ranges::none_of(keys, is_saved)) return false;
    refuse_damaged("tensor ", *missing, ": is missing, other parts of ", whole_, " have it");
  }

  SavedTensor take(std::string const& key) {
    auto node = checkpoint_.tensors.extract(key);
    ADAMANT_REAL_ASSERT(!node.empty());
    return std::move(node.mapped());
  }

  void add(SavedTensor tensor, std::string const& key) {
    tensor.key = key;
    find_runs(tensor);
    checkpoint_.tensors[key] = std::move(tensor);
  }

  /// Part after part along dimension 0.
  void join(std::vector<std::string> const& keys, std::string const& whole) {
    SavedTensor joined = take(keys.front());
    for (std::size_t k = 1; k < keys.size(); ++k) {
      SavedTensor part = take(keys[k]);
      expect_alike(joined, part, static_cast<std::int64_t>(k));
      joined.boxes.add_from_row(part.boxes, joined.shape.front());
      joined.shape.front() += part.shape.front();
      count_elements(joined.shape, checkpoint_.directory, whole);
    }
    add(std::move(joined), whole);
  }

  /// REQUIRES: `joined` has `count` parts.
  static void expect_alike(SavedTensor const& joined, SavedTensor const& part, std::int64_t count) {
    std::vector<std::int64_t> expected = joined.shape;
    if (!expected.empty()) expected.front() /= count;
    if (part.dtype == joined.dtype && part.shape == expected && !expected.empty()) return;
    refuse_incompatible("tensor ", part.key, ": is ", part.dtype, " ", text_of_shape(part.shape),
                        ", expected ", joined.dtype, " ", text_of_shape(expected), " as ",
                        joined.key, ": parts of a parameter are alike");
  }

  void take_first(std::vector<std::string> const& keys, std::string const& whole) {
    SavedTensor const first = take(keys.front());
    for (std::string const& key : std::span(keys).subspan(1)) {
      Copy copy = {.is = take(key), .of = first};
      expect_alike(first, copy.is, 1);
      copies_.push_back(std::move(copy));
    }
    add(first, whole);
  }

  Checkpoint& checkpoint_;
  std::vector<std::string> keys_;
  std::string whole_;
  std::vector<Copy> copies_;
};

/// The end of a key that no prefix changes.
std::string tail_of(std::string const& name, TensorKind kind) {
  return kind == TensorKind::parameter ? name : concat(name, ".", name_of(kind));
}

/// A key that ends with `tail`, if it ended with `other`.
std::string with_other_tail(std::string const& key, std::string const& tail,
                            std::string const& other) {
  ADAMANT_REAL_ASSERT(key.ends_with(tail));
  return concat(key.substr(0, key.size() - tail.size()), other);
}

/// Main weights lie beside the steps, of all parts or of none. REQUIRES: steps are matched.
void match_main_weights_of_parts(Checkpoint const& checkpoint, KeyMap& matched,
                                 std::string const& parameter, std::span<std::string const> parts) {
  std::vector<std::string> absent;
  KeyMap found;
  for (std::string const& part : parts) {
    std::string const name = name_of_part(parameter, part);
    std::string const key = with_other_tail(matched.at(state_key(name, "step")), "step",
                                            std::string(name_of(TensorKind::main)));
    if (checkpoint.tensors.contains(key))
      found[key_of(name, TensorKind::main)] = key;
    else
      absent.push_back(key);
  }
  if (!found.empty() && !absent.empty())
    refuse_incompatible("tensor ", absent.front(), " is not saved, other parts of ", parameter,
                        " have it");
  matched.merge(found);
}

}  // namespace

std::vector<std::string> names_in_keys(ParameterStep const& parameter) {
  if (parameter.parts.empty()) return {parameter.parameter};
  std::vector<std::string> names;
  for (std::string const& part : parameter.parts)
    names.push_back(name_of_part(parameter.parameter, part));
  return names;
}

std::vector<Share> shares_of(std::span<std::int64_t const> shape, std::size_t count) {
  auto const parts = static_cast<std::int64_t>(count);
  ADAMANT_REAL_ASSERT(shape.front() % parts == 0);
  std::vector<std::int64_t> part(shape.begin(), shape.end());
  part.front() /= parts;
  std::int64_t const numel = numel_of(part);
  std::vector<Share> shares;
  for (std::int64_t k = 0; k < parts; ++k) shares.push_back({{k * numel, (k + 1) * numel}, part});
  return shares;
}

std::vector<Share> shares_beside(BesideTensor const& is, Recipe recipe,
                                 std::span<std::int64_t const> whole, std::size_t count) {
  Share const part = shares_of(whole, count).front();
  if (is_cut_with_rows(recipe, is.what, part.shape)) return shares_of(is.shape, count);
  return std::vector<Share>(count, {{.begin = 0, .end = is.numel()}, is.shape});
}

std::vector<std::string> parts_to_find(Checkpoint const& checkpoint,
                                       ParameterStep const& parameter) {
  if (!parameter.parts.empty() || !checkpoint.manifest) return parameter.parts;
  auto const& saved = checkpoint.manifest->parts;
  auto const found = saved.find(parameter.parameter);
  return found == saved.end() ? std::vector<std::string>() : found->second;
}

std::vector<Copy> join_parts(Checkpoint& checkpoint, KeyMap& matched, std::string const& parameter,
                             std::span<std::string const> parts) {
  match_main_weights_of_parts(checkpoint, matched, parameter, parts);
  std::vector<Copy> copies;
  for (TensorKind const kind :
       {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq, TensorKind::main}) {
    std::string const whole = key_of(parameter, kind);
    std::vector<std::string> keys;
    std::string saved;
    for (std::string const& part : parts) {
      std::string const name = name_of_part(parameter, part);
      auto node = matched.extract(key_of(name, kind));
      if (node.empty()) continue;
      keys.push_back(node.mapped());
      saved = with_other_tail(node.mapped(), tail_of(name, kind), tail_of(parameter, kind));
    }
    if (keys.empty()) continue;  // main weights may be absent
    matched[whole] = saved;
    for (Copy& copy : Joining(checkpoint, std::move(keys), saved).join_all(kind))
      copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace adamant::real
