#include "scenarios/judge/saved_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "scenarios/judge/quantised.h"
#include "scenarios/judge/saved/files.h"
#include "scenarios/judge/saved/quantised.h"

namespace adamant::scenarios {

namespace {

using MaybeViolation = std::optional<Violation>;

MaybeViolation other_files(std::string text) {
  return Violation{
      .law = Law::checkpoint_roundtrip, .breach = Breach::other_files, .text = std::move(text)};
}

MaybeViolation fault_of_list(std::span<StoredFile const> files, int rank_count) {
  std::vector<std::string> names;
  for (StoredFile const& file : files) names.push_back(file.name);
  if (std::erase(names, "adamant.json") == 0) return other_files("there is no manifest");
  for (std::string const& name : names)
    if (!name.ends_with(".safetensors")) return other_files(name + " is no part of a checkpoint");
  if (auto fault = fault_of_names(names, rank_count)) return other_files(std::move(*fault));
  return std::nullopt;
}

MaybeViolation fault_of_step(SavedFiles const& saved, oracle::Model const& model, int parameter) {
  std::string const& name = model.spec(parameter).name;
  std::optional<double> const step = saved.step(name);
  if (!step) return other_files(name + ".step is not there once");
  float const expected = static_cast<float>(model.step_count(parameter));
  float const actual = static_cast<float>(*step);
  if (actual == expected) return std::nullopt;
  return Violation{.law = Law::checkpoint_roundtrip,
                   .breach = Breach::saved_otherwise,
                   .subject = StepCount{.parameter = name},
                   .expected = Number(expected),
                   .actual = Number(actual)};
}

MaybeViolation fault_of_steps(SavedFiles const& saved, oracle::Model const& model) {
  for (int p = 0; p < model.parameter_count(); ++p)
    if (auto fault = fault_of_step(saved, model, p)) return fault;
  return std::nullopt;
}

/// What a quantised parameter is read from.
MaybeViolation fault_of_codes(SavedFiles const& saved, oracle::Model const& model, int parameter) {
  ParameterSpec const& spec = model.spec(parameter);
  ElementRange const all{.begin = 0, .end = spec.numel()};
  QuantisedShard const expected = quantised_shard(model, parameter, std::span(&all, 1), true);
  auto const found = quantised_in(saved, spec);
  if (!found) return other_files(spec.name + "/scale is not there");
  QuantisedShard held;
  held.recipe = found->recipe;
  held.codes = found->quantised.codes;
  held.scales = found->quantised.scales;
  held.scale_codes = found->quantised.scale_codes;
  held.amax = found->quantised.amax;
  held.delayed = found->delayed;
  if (!have_one_form(expected, held))
    return other_files(spec.name + " is saved under " + std::string(name_of(held.recipe)));
  auto difference = scale_difference(expected, held);
  if (!difference) difference = code_difference(expected, held);
  if (!difference) return std::nullopt;
  return Violation{.law = Law::checkpoint_roundtrip,
                   .breach = Breach::saved_otherwise,
                   .subject = Tensor{.parameter = spec.name},
                   .index = difference->index,
                   .expected = difference->expected,
                   .actual = difference->actual,
                   .text = std::string(part_of(difference->breach).word)};
}

/// The numbers themselves, which are all in fp32.
MaybeViolation fault_of_values(SavedTensor const& tensor, oracle::Model const& model, int parameter,
                               TensorKind kind) {
  ParameterSpec const& spec = model.spec(parameter);
  std::vector<float> const values = put_together(*tensor.values, spec.shape);
  auto const found = oracle::first_difference(model.tensor(parameter, kind), values);
  if (!found) return std::nullopt;
  return Violation{.law = Law::checkpoint_roundtrip,
                   .breach = Breach::saved_otherwise,
                   .subject = Tensor{.parameter = spec.name, .kind = kind},
                   .index = found->index,
                   .expected = Number(found->expected),
                   .actual = Number(found->actual)};
}

/// A load in the types of the save reads the numbers as they are stored, where these are not fp32:
/// then nobody but others reads their values and says how they were stored.
MaybeViolation fault_of_tensor(SavedFiles const& saved, oracle::Model const& model, int parameter,
                               TensorKind kind) {
  ParameterSpec const& spec = model.spec(parameter);
  auto const format = oracle::stored_format(spec.formats, kind);
  if (!format) return std::nullopt;
  SavedTensor const tensor = saved.tensor(spec.name, kind);
  std::string const name = tensor_name(spec.name, kind);
  if (tensor.values == nullptr) return other_files(name + " is not there");
  if (kind == TensorKind::parameter && spec.formats.recipe) {
    if (auto fault = fault_of_codes(saved, model, parameter)) return fault;
    return fault_of_values(tensor, model, parameter, kind);
  }
  bool const narrow = *format != NumberFormat::fp32;
  if (narrow != (tensor.raw != nullptr))
    return other_files(name + (narrow ? "/raw is not there" : "/raw is there beside all of it"));
  bool const scaled = !model.scales(parameter, kind).empty();
  if (scaled != (tensor.scale != nullptr))
    return other_files(name + (scaled ? "/scale is not there" : "/scale is there without need"));
  if (!narrow) return std::nullopt;
  if (tensor.values->front().format != NumberFormat::fp32 || tensor.format() != *format)
    return other_files(name + " has other types than fp32 and its own");
  return fault_of_values(tensor, model, parameter, kind);
}

/// Numbers of an array: how many elements of a parameter one of its codes has.
std::int64_t elements_in_a_code(ParameterSpec const& spec, std::string_view end, TensorKind kind) {
  bool const half = spec.formats.recipe == Recipe::nvfp4 && kind == TensorKind::parameter;
  return half && end == "/raw" ? 2 : 1;
}

/// Who has written the tensor, or a part of it, and in which boxes.
MaybeViolation fault_of_writers(SavedFiles const& saved, SavingWorld const& world,
                                ParameterSpec const& spec, int parameter, TensorKind kind) {
  auto const count = std::max<std::int64_t>(1, std::ssize(spec.parts));
  for (std::int64_t k = 0; k < count; ++k) {
    std::string name = spec.name;
    if (!spec.parts.empty()) name += "." + spec.parts[static_cast<std::size_t>(k)];
    for (char const* const end : {"", "/raw"}) {
      auto const* const boxes = saved.written(name, kind, end);
      if (boxes == nullptr) continue;
      std::int64_t const each = elements_in_a_code(spec, end, kind);
      std::vector<std::int64_t> shape = spec.shape;
      shape.front() /= count;
      shape.back() /= each;
      if (auto fault = fault_of_boxes({.key = name + end,
                                       .boxes = *boxes,
                                       .shape = shape,
                                       .first = k * (spec.numel() / count),
                                       .elements_each = each},
                                      world, parameter, kind))
        return other_files(tensor_name(spec.name, kind) + ": " + *fault);
    }
  }
  return std::nullopt;
}

MaybeViolation fault_of_boxes_of_all(SavedFiles const& saved, oracle::Model const& model,
                                     SavingWorld const& world) {
  for (int p = 0; p < model.parameter_count(); ++p) {
    ParameterSpec const& spec = model.spec(p);
    if (spec.parts.empty() == saved.in_parts.contains(spec.name))
      return other_files(spec.name + " is saved " +
                         (spec.parts.empty() ? "in parts" : "as a whole"));
    if (spec.numel() == 0) continue;
    for (TensorKind const kind : stepped_kinds)
      if (auto fault = fault_of_writers(saved, world, spec, p, kind)) return fault;
  }
  return std::nullopt;
}

MaybeViolation fault_of_tensors(SavedFiles const& saved, oracle::Model const& model) {
  for (int p = 0; p < model.parameter_count(); ++p)
    for (TensorKind const kind : stepped_kinds)
      if (auto fault = fault_of_tensor(saved, model, p, kind)) return fault;
  return std::nullopt;
}

using Mistake = std::optional<std::string>;

Mistake fault_of_count(std::string_view what, std::int64_t found, std::int64_t expected) {
  if (found == expected) return std::nullopt;
  return fmt::format("the manifest has {} for the {}, expected {}", found, what, expected);
}

Mistake fault_of_parameter(SavedFiles const& saved, Reference const& reference, int parameter) {
  ParameterSpec const& spec = reference.model().spec(parameter);
  auto const counts = reference.model().counts(parameter);
  std::string const& group = reference.group_names().at(static_cast<std::size_t>(spec.group));
  if (saved.group_of.at(spec.name) != group)
    return fmt::format("the manifest has {} in the group `{}`, expected `{}`", spec.name,
                       saved.group_of.at(spec.name), group);
  auto const cut = saved.cut.find(spec.name);
  if ((cut == saved.cut.end() ? std::vector<std::string>() : cut->second) != spec.parts)
    return fmt::format("the manifest has other parts of {}", spec.name);
  if (auto fault = fault_of_count(fmt::format("step of the group that has {}", spec.name),
                                  saved.group_steps.at(spec.name), counts.of_group))
    return fault;
  return fault_of_count("steps of " + spec.name, saved.steps.at(spec.name), counts.of_parameter);
}

/// The first thing that is wrong, or nothing. REQUIRES: files with a manifest.
///
/// Errors: std::exception where it lacks what it has to say.
std::optional<std::string> fault_of_manifest(SavedFiles const& saved, Reference const& reference) {
  auto const& model = reference.model();
  for (int g = 0; g < model.group_count(); ++g) {
    std::string const& name = reference.group_names().at(static_cast<std::size_t>(g));
    auto const group = saved.groups.find(name);
    if (group == saved.groups.end() || group->second != model.group(g))
      return fmt::format("the manifest has other settings of the group `{}`", name);
  }
  for (int p = 0; p < model.parameter_count(); ++p)
    if (auto fault = fault_of_parameter(saved, reference, p)) return fault;
  if (saved.max_norm != model.scaling().max_norm) return "the manifest has another norm";
  if (saved.scaler != model.scaler()) return "the manifest has another loss scale";
  return std::nullopt;
}

}  // namespace

std::optional<Violation> fault_of_saved(std::span<StoredFile const> files,
                                        Reference const& reference, SavingWorld const& world) {
  if (auto fault = fault_of_list(files, world.mesh.rank_count())) return fault;
  try {
    SavedFiles const saved = read_saved_files(files, names_of(reference.model()));
    if (auto fault = fault_of_manifest(saved, reference)) return other_files(*fault);
    if (auto fault = fault_of_steps(saved, reference.model())) return fault;
    if (auto fault = fault_of_tensors(saved, reference.model())) return fault;
    return fault_of_boxes_of_all(saved, reference.model(), world);
  } catch (std::exception const& error) {
    return other_files(error.what());
  }
}

}  // namespace adamant::scenarios
