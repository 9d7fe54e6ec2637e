#include "scenarios/judge/saved_judge.h"

#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
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

class ContentCheck {
 public:
  ContentCheck(SavedFiles const& saved, oracle::Model const& model)
      : saved_(saved), model_(model) {}

  Fault first_fault() const {
    for (int p = 0; p < model_.parameter_count(); ++p) {
      for (TensorKind const kind :
           {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq}) {
        if (!oracle::stored_format(model_.spec(p).formats, kind)) continue;
        if (auto fault = fault_of_tensor(p, kind)) return fault;
      }
      if (auto fault = fault_of_step(p)) return fault;
    }
    return std::nullopt;
  }

 private:
  Fault fault_of_tensor(int parameter, TensorKind kind) const {
    std::span<float const> const expected = model_.tensor(parameter, kind);
    ParameterSpec const& spec = model_.spec(parameter);
    bool const weight = kind == TensorKind::parameter;
    std::string const key = weight ? spec.name : spec.name + "." + std::string(name_of(kind));
    auto const* const boxes = saved_.find(weight ? "model." : "optim.state.", key);
    if (boxes == nullptr) return expected.empty() ? Fault() : other_files(key + " is missing");
    auto const found = oracle::first_difference(expected, put_together(*boxes, spec.shape));
    if (!found) return std::nullopt;
    return Violation{.law = Law::checkpoint_roundtrip,
                     .breach = Breach::saved_otherwise,
                     .subject = Tensor{.parameter = spec.name, .kind = kind},
                     .index = found->index,
                     .expected = Number(found->expected),
                     .actual = Number(found->actual),
                     .ulp = found->ulps};
  }

  Fault fault_of_step(int parameter) const {
    std::string const& name = model_.spec(parameter).name;
    auto const* const boxes = saved_.find("optim.state.", name + ".step");
    if (boxes == nullptr || boxes->size() != 1 || boxes->front().values.size() != 1)
      return other_files(name + ".step is not there once");
    float const expected = static_cast<float>(model_.step_count(parameter));
    float const actual = boxes->front().values.front();
    if (actual == expected) return std::nullopt;
    return Violation{.law = Law::checkpoint_roundtrip,
                     .breach = Breach::saved_otherwise,
                     .subject = StepCount{.parameter = name},
                     .expected = Number(expected),
                     .actual = Number(actual)};
  }

  SavedFiles const& saved_;
  oracle::Model const& model_;
};

}  // namespace

std::optional<Violation> fault_of_saved(std::span<StoredFile const> files,
                                        Reference const& reference, int rank_count) {
  if (auto fault = fault_of_list(files, rank_count)) return fault;
  try {
    return ContentCheck(read_saved_files(files), reference.model()).first_fault();
  } catch (std::exception const& error) {
    return other_files(error.what());
  }
}

}  // namespace adamant::scenarios
