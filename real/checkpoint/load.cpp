#include "real/checkpoint/load.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/transfer.h"
#include "real/cuda/assert.h"
#include "real/scale/saved_scaling.h"

namespace adamant::real {

namespace {

using KeyMap = std::map<std::string, std::string>;

std::vector<std::string> wanted_keys(CheckpointState const& state) {
  std::vector<std::string> keys;
  for (ShardDescription const& shard : state.tensors) keys.push_back(shard.key);
  for (ParameterStep const& step : state.steps) keys.push_back(state_key(step.parameter, "step"));
  return keys;
}

std::set<std::string> saved_keys(Checkpoint const& checkpoint) {
  std::set<std::string> keys;
  for (auto const& [key, tensor] : checkpoint.tensors) keys.insert(key);
  return keys;
}

/// Saved tensors that nothing here stands for.
std::vector<std::string> unused_keys(Checkpoint const& checkpoint, KeyMap const& matched) {
  std::set<std::string> unused = saved_keys(checkpoint);
  for (auto const& [wanted, saved] : matched) unused.erase(saved);
  return {unused.begin(), unused.end()};
}

void judge_unused(Checkpoint& checkpoint, std::vector<std::string> const& unused) {
  if (unused.empty()) return;
  if (checkpoint.manifest)
    refuse_incompatible("tensor ", unused.front(), " is saved, but there is none of it here");
  checkpoint.notes.push_back(concat(std::to_string(unused.size()),
                                    " saved tensors are not loaded, the first is ",
                                    unused.front()));
}

void expect_same_tensor(SavedTensor const& saved, ShardDescription const& shard) {
  if (saved.shape != shard.global_shape)
    refuse_incompatible("tensor ", saved.key, ": size mismatch: saved ", text_of_shape(saved.shape),
                        ", current ", text_of_shape(shard.global_shape));
  if (saved.dtype != dtype_of(shard.format))
    refuse_incompatible("tensor ", saved.key, ": saved as ", saved.dtype, ", current ",
                        dtype_of(shard.format));
}

// ---- groups and steps ----

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

Progress progress_of(Manifest const& manifest, Progress const& current) {
  Progress const& saved = manifest.progress;
  if (saved.groups.size() != current.groups.size())
    refuse_incompatible(std::to_string(saved.groups.size()), " groups are saved, there are ",
                        std::to_string(current.groups.size()), " here");
  static_cast<void>(scaling_of(saved.numbers));  // refused while nothing has changed
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
  bool const one = tensor.boxes.size() == 1 && tensor.boxes.front().numel() == 1;
  if (!known || !one)
    refuse_incompatible("tensor ", tensor.key, ": is ", tensor.dtype, " ",
                        text_of_shape(tensor.shape), ", expected one F32, F64 or I64");
  SavedBox const& box = tensor.boxes.front();
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

/// Without a manifest: settings stay, steps are those of the files.
Progress progress_of_files(Checkpoint const& checkpoint, KeyMap const& matched,
                           CheckpointState const& state) {
  Progress progress = state.progress;
  for (ParameterStep const& step : state.steps) {
    std::string const& key = matched.at(state_key(step.parameter, "step"));
    progress.parameter_steps[step.parameter] = read_step(checkpoint, checkpoint.tensors.at(key));
  }
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

// ---- one rank's part ----

class Loading {
 public:
  Loading(CheckpointPlace const& place, CheckpointState const& state)
      : place_(place), state_(state) {}

  /// Opens, checks and plans; changes nothing.
  void prepare() {
    checkpoint_ = open_checkpoint(place_.storage, place_.directory);
    matched_ = match_keys(wanted_keys(state_), saved_keys(checkpoint_));
    judge_unused(checkpoint_, unused_keys(checkpoint_, matched_));
    progress_ = checkpoint_.manifest ? progress_of(*checkpoint_.manifest, state_.progress)
                                     : progress_of_files(checkpoint_, matched_, state_);
    plan();
  }

  void read() {
    std::size_t const piece_bytes =
        checkpoint_.manifest ? checkpoint_.manifest->piece_bytes : place_.piece_bytes;
    std::uint64_t largest = 0;
    for (OpenFile const& file : checkpoint_.files)
      largest = std::max(largest, file.content->size());
    Staging staging(place_.ledger, slot_bytes(largest, piece_bytes), place_.stream);
    for (std::size_t f = 0; f < checkpoint_.files.size(); ++f) {
      OpenFile const& file = checkpoint_.files[f];
      read_pieces(file, join_path(checkpoint_.directory, file.name), segments_[f], piece_bytes,
                  staging);
    }
    place_.stream.synchronize();
  }

  Loaded result() && { return {std::move(progress_), std::move(checkpoint_.notes)}; }

 private:
  void plan() {
    segments_.resize(checkpoint_.files.size());
    for (ShardDescription const& shard : state_.tensors) {
      SavedTensor const& saved = checkpoint_.tensors.at(matched_.at(shard.key));
      expect_same_tensor(saved, shard);
      std::vector<ReadRange> ranges;
      plan_reads(saved, shard, ranges);
      for (ReadRange const& range : ranges)
        append_segments(shard, range.to, range.bytes, range.begin,
                        segments_[static_cast<std::size_t>(range.file)]);
    }
    for (std::vector<FileSegment>& segments : segments_)
      std::sort(segments.begin(), segments.end(),
                [](FileSegment const& a, FileSegment const& b) { return a.begin < b.begin; });
  }

  CheckpointPlace const& place_;
  CheckpointState const& state_;
  Checkpoint checkpoint_;
  KeyMap matched_;
  Progress progress_;
  std::vector<std::vector<FileSegment>> segments_;  // by file, by place in it
};

}  // namespace

Loaded load_checkpoint(CheckpointPlace const& place, CheckpointState const& state,
                       std::function<void()> const& replacing) {
  Loading loading(place, state);
  place.agreement.together([&] {
    loading.prepare();
    return std::string();
  });
  replacing();
  place.agreement.together([&] {
    loading.read();
    return std::string();
  });
  return std::move(loading).result();
}

}  // namespace adamant::real
