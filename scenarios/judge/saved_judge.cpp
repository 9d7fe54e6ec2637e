#include "scenarios/judge/saved_judge.h"

#include <exception>
#include <set>
#include <string>
#include <utility>

#include "scenarios/judge/saved_files.h"

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
  auto const* const boxes = saved.find("optim.state.", name + ".step");
  if (boxes == nullptr || boxes->size() != 1 || boxes->front().values.size() != 1)
    return other_files(name + ".step is not there once");
  float const expected = static_cast<float>(model.step_count(parameter));
  float const actual = boxes->front().values.front();
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

}  // namespace

std::optional<Violation> fault_of_saved(std::span<StoredFile const> files,
                                        Reference const& reference, int rank_count) {
  if (auto fault = fault_of_list(files, rank_count)) return fault;
  try {
    return fault_of_steps(read_saved_files(files), reference.model());
  } catch (std::exception const& error) {
    return other_files(error.what());
  }
}

}  // namespace adamant::scenarios
