#include "real/checkpoint/loaded_progress.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/transfer.h"
#include "real/scale/saved_scaling.h"

namespace adamant::real {

namespace {

void expect_same_parameters(SavedGroup const& saved, SavedGroup const& own) {
  std::set<std::string> const theirs(saved.parameters.begin(), saved.parameters.end());
  std::set<std::string> const ours(own.parameters.begin(), own.parameters.end());
  for (std::string const& name : theirs)
    if (!ours.contains(name))
      refuse_incompatible("group ", own.name, ": parameter ", name, " is in it as saved, not here");
  for (std::string const& name : ours)
    if (!theirs.contains(name))
      refuse_incompatible("group ", own.name, ": parameter ", name, " is in it here, not as saved");
}

/// The saved group that an own one is restored from.
SavedGroup const& find_group(Progress const& saved, SavedGroup const& own) {
  auto const found = std::find_if(saved.groups.begin(), saved.groups.end(),
                                  [&](SavedGroup const& group) { return group.name == own.name; });
  if (found == saved.groups.end()) refuse_incompatible("group ", own.name, " is not saved");
  expect_same_parameters(*found, own);
  return *found;
}

bool is_one_number(SavedTensor const& tensor) {
  return tensor.boxes.size() == 1 && tensor.boxes.front().numel() == 1;
}

std::string text_of_step(double step) {
  bool const counts = step >= 0 && step <= 0x1p53;
  return counts ? std::to_string(static_cast<std::int64_t>(step)) : std::to_string(step);
}

/// The steps of a parameter that is saved under these names, all of which have the same.
template <typename Read>
auto step_of_parts(std::string const& parameter, std::vector<std::string> const& names,
                   Read const& read) {
  auto const step = read(names.front());
  for (std::string const& name : names)
    if (read(name) != step)
      refuse_incompatible("parameter ", parameter, ": its part ", names.front(), " was stepped ",
                          text_of_step(static_cast<double>(step)), " times, ", name, " ",
                          text_of_step(static_cast<double>(read(name))),
                          ": parts of a parameter share their steps");
  return step;
}

/// Steps are the manifest's. The files' own are read for their checksums alone, and held to each
/// other: damage is damage wherever it is.
void verify_steps(Checkpoint const& checkpoint, KeyMap const& matched,
                  CheckpointState const& state) {
  VerifiedNumbers numbers(checkpoint, checkpoint.manifest->piece_bytes);
  std::map<std::string, float> steps;  // by key
  for (auto const& [wanted, saved] : matched) {
    if (!wanted.ends_with(".step") || wanted.starts_with(model_key(""))) continue;
    SavedTensor const& step = checkpoint.tensors.at(saved);
    if (step.dtype != dtype_of(NumberFormat::fp32) || !is_one_number(step))
      refuse_damaged("tensor ", saved, ": is ", step.dtype, " ", text_of_shape(step.shape),
                     ", expected one F32");
    steps[wanted] = numbers.at(step.boxes.front());
  }
  for (ParameterStep const& parameter : state.steps) {
    if (steps.contains(state_key(parameter.parameter, "step"))) continue;
    std::vector<std::string> names;
    for (std::string const& part : parts_to_find(checkpoint, parameter))
      names.push_back(name_of_part(parameter.parameter, part));
    step_of_parts(parameter.parameter, names,
                  [&](std::string const& name) { return steps.at(state_key(name, "step")); });
  }
}

Progress progress_of(Checkpoint const& checkpoint, Progress const& current) {
  Progress const& saved = checkpoint.manifest->progress;
  if (saved.groups.size() != current.groups.size())
    refuse_incompatible(std::to_string(saved.groups.size()), " groups are saved, there are ",
                        std::to_string(current.groups.size()), " here");
  std::string const where = concat(join_path(checkpoint.directory, manifest_name), ": numbers");
  static_cast<void>(scaling_of(saved.numbers, where));  // refused while nothing has changed
  Progress progress = saved;
  for (std::size_t g = 0; g < current.groups.size(); ++g) {
    progress.groups[g] = find_group(saved, current.groups[g]);
    progress.groups[g].name = current.groups[g].name;
    progress.groups[g].parameters = current.groups[g].parameters;
  }
  return progress;
}

/// One number out of a file, whatever its type.
std::int64_t read_step(Checkpoint const& checkpoint, SavedTensor const& tensor) {
  std::array<std::byte, 8> bytes = {};
  std::optional<std::uint64_t> const size = bytes_of_dtype(tensor.dtype);
  bool const known = tensor.dtype == "F32" || tensor.dtype == "F64" || tensor.dtype == "I64";
  if (!known || !is_one_number(tensor))
    refuse_incompatible("tensor ", tensor.key, ": is ", tensor.dtype, " ",
                        text_of_shape(tensor.shape), ", expected one F32, F64 or I64");
  SavedBox const box = tensor.boxes.front();
  checkpoint.files[static_cast<std::size_t>(box.file)].content->read(
      box.begin, std::span(bytes).first(static_cast<std::size_t>(*size)));
  double value = 0;
  if (tensor.dtype == "F32") {
    float narrow = 0;
    std::memcpy(&narrow, bytes.data(), sizeof narrow);
    value = static_cast<double>(narrow);
  } else if (tensor.dtype == "F64") {
    std::memcpy(&value, bytes.data(), sizeof value);
  } else {
    std::int64_t whole = 0;
    std::memcpy(&whole, bytes.data(), sizeof whole);
    value = static_cast<double>(whole);
  }
  if (!(value >= 0 && value <= 0x1p53) ||
      value != static_cast<double>(static_cast<std::int64_t>(value)))
    refuse_damaged("tensor ", tensor.key, ": is ", std::to_string(value), ", expected a count");
  return static_cast<std::int64_t>(value);
}

/// Of a parameter as a whole, or of all of its parts.
std::int64_t read_step_of(Checkpoint const& checkpoint, KeyMap const& matched,
                          ParameterStep const& parameter) {
  auto const read = [&](std::string const& name) {
    return read_step(checkpoint, checkpoint.tensors.at(matched.at(state_key(name, "step"))));
  };
  if (matched.contains(state_key(parameter.parameter, "step"))) return read(parameter.parameter);
  return step_of_parts(parameter.parameter, names_in_keys(parameter), read);
}

/// Without a manifest: settings stay, steps are those of the files.
Progress progress_of_files(Checkpoint const& checkpoint, KeyMap const& matched,
                           CheckpointState const& state) {
  Progress progress = state.progress;
  for (ParameterStep const& step : state.steps)
    progress.parameter_steps[step.parameter] = read_step_of(checkpoint, matched, step);
  for (SavedGroup& group : progress.groups) {
    for (std::size_t p = 0; p < group.parameters.size(); ++p) {
      std::int64_t const step = progress.parameter_steps.at(group.parameters[p]);
      if (p > 0 && step != group.step && state.counter == StepCounter::group)
        refuse_incompatible("group ", group.name, ": ", group.parameters[0], " was stepped ",
                            std::to_string(group.step), " times, ", group.parameters[p], " ",
                            std::to_string(step), ": needs one counter per parameter");
      group.step = p == 0 ? step : std::max(group.step, step);
    }
  }
  return progress;
}

}  // namespace

Progress loaded_progress(Checkpoint const& checkpoint, KeyMap const& matched,
                         CheckpointState const& state) {
  if (!checkpoint.manifest) return progress_of_files(checkpoint, matched, state);
  verify_steps(checkpoint, matched, state);
  return progress_of(checkpoint, state.progress);
}

}  // namespace adamant::real
