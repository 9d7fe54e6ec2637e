#include "scenarios/judge/saved_judge.h"

#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "scenarios/judge/quantised.h"
#include "scenarios/judge/saved_files.h"
#include "scenarios/judge/saved_quantised.h"

namespace adamant::scenarios {

namespace {

using Fault = std::optional<Violation>;

Fault other_files(std::string text) {
  return Violation{
      .law = Law::checkpoint_roundtrip, .breach = Breach::other_files, .text = std::move(text)};
}

Fault fault_of_list(std::span<StoredFile const> files, int rank_count) {
  std::set<std::string> names;
  for (StoredFile const& file : files) names.insert(file.name);
  if (!names.erase("adamant.json")) return other_files("there is no manifest");
  for (std::string const& name : names)
    if (!name.ends_with(".safetensors")) return other_files(name + " is no part of a checkpoint");
  if (std::ssize(names) == rank_count) return std::nullopt;
  return other_files(std::to_string(names.size()) + " files of " + std::to_string(rank_count) +
                     " ranks");
}

Fault fault_of_step(SavedFiles const& saved, oracle::Model const& model, int parameter) {
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

Fault fault_of_steps(SavedFiles const& saved, oracle::Model const& model) {
  for (int p = 0; p < model.parameter_count(); ++p)
    if (auto fault = fault_of_step(saved, model, p)) return fault;
  return std::nullopt;
}

std::string_view part_of(Breach breach) {
  constexpr std::string_view parts[] = {"value", "scale", "code", "amax", "history", "next scale"};
  return parts[static_cast<std::size_t>(breach)];
}

/// What a quantised parameter is read from.
Fault fault_of_codes(SavedFiles const& saved, oracle::Model const& model, int parameter) {
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
                   .text = std::string(part_of(difference->breach))};
}

/// The numbers themselves, which are all in fp32.
Fault fault_of_values(SavedTensor const& tensor, oracle::Model const& model, int parameter,
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
Fault fault_of_tensor(SavedFiles const& saved, oracle::Model const& model, int parameter,
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

Fault fault_of_tensors(SavedFiles const& saved, oracle::Model const& model) {
  for (int p = 0; p < model.parameter_count(); ++p)
    for (TensorKind const kind :
         {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq})
      if (auto fault = fault_of_tensor(saved, model, p, kind)) return fault;
  return std::nullopt;
}

}  // namespace

std::optional<Violation> fault_of_saved(std::span<StoredFile const> files,
                                        Reference const& reference, int rank_count) {
  if (auto fault = fault_of_list(files, rank_count)) return fault;
  try {
    SavedFiles const saved = read_saved_files(files, names_of(reference.model()));
    if (auto fault = fault_of_steps(saved, reference.model())) return fault;
    return fault_of_tensors(saved, reference.model());
  } catch (std::exception const& error) {
    return other_files(error.what());
  }
}

}  // namespace adamant::scenarios
