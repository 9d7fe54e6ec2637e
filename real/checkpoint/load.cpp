#include "real/checkpoint/load.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/conversion.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/saved_numbers.h"
#include "real/checkpoint/transfer.h"
#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"
#include "real/scale/saved_scaling.h"

namespace adamant::real {

namespace {

using KeyMap = std::map<std::string, std::string>;

/// Main weights may be absent.
std::vector<std::string> wanted_keys(CheckpointState const& state) {
  std::vector<std::string> keys;
  for (StateTensor const& tensor : state.tensors)
    if (tensor.kind != TensorKind::main) keys.push_back(tensor.shard.key);
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
  for (auto const& [wanted, saved] : matched)
    for (std::string const& key : {saved, raw_key(saved), scale_key(saved)}) unused.erase(key);
  return {unused.begin(), unused.end()};
}

/// Adds the main weights that are saved to what was matched: they lie beside the steps.
void match_main_weights(KeyMap& matched, CheckpointState const& state,
                        Checkpoint const& checkpoint) {
  std::string const what = "step";
  for (ParameterStep const& step : state.steps) {
    std::string saved = matched.at(state_key(step.parameter, what));
    saved.replace(saved.size() - what.size(), what.size(), "main");
    if (checkpoint.tensors.contains(saved)) matched[state_key(step.parameter, "main")] = saved;
  }
}

void judge_unused(Checkpoint& checkpoint, std::vector<std::string> const& unused) {
  if (unused.empty()) return;
  if (checkpoint.manifest)
    refuse_incompatible("tensor ", unused.front(), " is saved, but there is none of it here");
  checkpoint.notes.push_back(concat(std::to_string(unused.size()),
                                    " saved tensors are not loaded, the first is ",
                                    unused.front()));
}

void expect_same_shape(SavedTensor const& saved, ShardDescription const& shard) {
  if (saved.shape != shard.global_shape)
    refuse_incompatible("tensor ", saved.key, ": size mismatch: saved ", text_of_shape(saved.shape),
                        ", current ", text_of_shape(shard.global_shape));
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

// ---- what becomes of each tensor ----

/// A tensor of the engine and what it is made of.
struct Source {
  StateTensor const* tensor = nullptr;
  SavedNumbers saved = {};
  bool converts = false;   // from values; otherwise raw is taken as it is
  bool keeps_all = false;  // every value has to be one that the engine's type has
  float amax = 0;          // of values that are converted and get a scale
  float scale = 1;

  bool measured() const { return converts && tensor->scaled(); }
  bool looked_at() const { return measured() || keeps_all; }
};

/// What the files have of one parameter and a load may do to it.
struct SavedParameter {
  SavedNumbers parameter;
  std::optional<SavedNumbers> main = {};
  MayRound may_round = {};
  bool keeps_main = false;  // the engine has one, too

  /// What the optimizer worked on.
  SavedNumbers const& weight() const { return main ? *main : parameter; }
};

/// A parameter beside a main weight is taken as it was; without one it is the weight.
Source source_of_parameter(SavedParameter const& saved, StateTensor const& tensor) {
  bool const same = saved.parameter.format == tensor.shard.format;
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
          .converts = !same,
          .keeps_all = !same && !saved.may_round.main && !tensor.upper};
}

Source source_of_moment(SavedNumbers const& saved, bool may_round, StateTensor const& tensor) {
  bool const same = saved.format == tensor.shard.format;
  return {.tensor = &tensor, .saved = saved, .converts = !same, .keeps_all = !same && !may_round};
}

std::string hexadecimal(float value) {
  std::array<char, 32> text = {};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%a", static_cast<double>(value)));
  return text.data();
}

/// REQUIRES: the values of this rank's shard.
void expect_all_kept(Source const& source, std::span<float const> values) {
  std::size_t const first = first_rounded(*source.tensor, values, source.scale);
  if (first == values.size()) return;
  refuse_incompatible("tensor ", source.tensor->shard.key, ": saved as ",
                      dtype_of(source.saved.format), ", current ",
                      dtype_of(source.tensor->shard.format), ": ", hexadecimal(values[first]),
                      " would be rounded, and the load does not say that it may");
}

// ---- one rank's part ----

class Loading {
 public:
  Loading(CheckpointPlace const& place, CheckpointState const& state, LoadOptions const& options)
      : place_(place), state_(state), options_(options) {}

  /// Opens, checks and plans; changes nothing. Returns a letter for every source of raw numbers
  /// with a scale: can this rank take them?
  std::string prepare() {
    checkpoint_ = open_checkpoint(place_.storage, place_.directory);
    matched_ = match_keys(wanted_keys(state_), saved_keys(checkpoint_));
    match_main_weights(matched_, state_, checkpoint_);
    judge_unused(checkpoint_, unused_keys(checkpoint_, matched_));
    progress_ = checkpoint_.manifest ? progress_of(*checkpoint_.manifest, state_.progress)
                                     : progress_of_files(checkpoint_, matched_, state_);
    find_sources();
    return find_scales();
  }

  /// What is not taken as it was by one rank is converted by all.
  void settle(std::vector<std::string> const& found) {
    std::size_t letter = 0;
    for (Source& source : sources_) {
      if (source.converts || !source.tensor->scaled()) continue;
      for (std::string const& of_rank : found)
        source.converts = source.converts || of_rank[letter] == not_found;
      ++letter;
    }
    plan();
  }

  /// Has look() or look_again() anything to do? The same on all ranks.
  bool looks() const {
    return std::any_of(sources_.begin(), sources_.end(),
                       [](Source const& source) { return source.looked_at(); });
  }
  bool looks_again() const {
    return std::any_of(sources_.begin(), sources_.end(),
                       [](Source const& source) { return source.measured() && source.keeps_all; });
  }

  /// Reads what is converted, for the largest magnitudes, and for what may not be rounded.
  void look() {
    Staging staging = make_staging();
    for (Source& source : sources_) {
      if (!source.looked_at()) continue;
      std::vector<float> const values = read_values(source, staging);
      if (source.measured())
        source.amax = amax_of(values);
      else
        expect_all_kept(source, values);
    }
  }

  /// The scales of whole tensors are those of all ranks' values.
  void agree_on_scales() {
    std::vector<float> amaxes;
    for (Source const& source : sources_)
      if (is_shared(source)) amaxes.push_back(source.amax);
    place_.agreement.take_largest(amaxes);
    std::size_t next = 0;
    for (Source& source : sources_) {
      if (is_shared(source)) source.amax = amaxes[next++];
      if (source.measured()) source.scale = scale_for(source.amax, source.tensor->shard.format);
    }
  }

  /// The same where it takes a scale to know what is rounded.
  void look_again() {
    Staging staging = make_staging();
    for (Source const& source : sources_)
      if (source.measured() && source.keeps_all)
        expect_all_kept(source, read_values(source, staging));
  }

  void read() {
    Staging staging = make_staging();
    read_segments(segments_, staging);
    verify_rest(staging);
    for (Source const& source : sources_) {
      if (source.converts && source.tensor->shard.numel() > 0)
        upload(stored_as(*source.tensor, read_values(source, staging), source.scale),
               source.tensor->shard, place_.stream);
      if (source.tensor->scaled())
        state_.write_scale(source.tensor->parameter, source.tensor->kind, source.scale);
    }
    place_.stream.synchronize();
  }

  Loaded result() && { return {std::move(progress_), std::move(checkpoint_.notes)}; }

 private:
  using Segments = std::vector<std::vector<FileSegment>>;  // by file

  static constexpr char is_found = '+';
  static constexpr char not_found = '-';

  static bool is_shared(Source const& source) {
    return source.measured() && source.tensor->coverage == StateScale::global;
  }

  void find_sources() {
    for (std::size_t begin = 0; begin < state_.tensors.size();) {
      std::size_t end = begin;
      while (end < state_.tensors.size() &&
             state_.tensors[end].parameter == state_.tensors[begin].parameter)
        ++end;
      find_sources_of(std::span(state_.tensors).subspan(begin, end - begin));
      begin = end;
    }
  }

  /// REQUIRES: all tensors of one parameter, itself first.
  void find_sources_of(std::span<StateTensor const> tensors) {
    auto const parameter = static_cast<std::size_t>(tensors.front().parameter);
    SavedParameter saved{.parameter = find_saved(tensors.front().shard, TensorKind::parameter)};
    auto const main = matched_.find(state_key(state_.steps[parameter].parameter, "main"));
    if (main != matched_.end()) {
      ShardDescription shard = tensors.front().shard;
      shard.key = main->first;
      saved.main = find_saved(shard, TensorKind::main);
    }
    if (!options_.may_round.empty()) saved.may_round = options_.may_round[parameter];
    saved.keeps_main = tensors.back().kind == TensorKind::main;
    for (StateTensor const& tensor : tensors) sources_.push_back(source_of(saved, tensor));
  }

  Source source_of(SavedParameter const& saved, StateTensor const& tensor) {
    if (tensor.kind == TensorKind::parameter) return source_of_parameter(saved, tensor);
    if (tensor.kind == TensorKind::main) return source_of_main(saved, tensor);
    bool const first = tensor.kind == TensorKind::exp_avg;
    return source_of_moment(find_saved(tensor.shard, tensor.kind),
                            first ? saved.may_round.exp_avg : saved.may_round.exp_avg_sq, tensor);
  }

  SavedNumbers find_saved(ShardDescription const& shard, TensorKind kind) {
    SavedNumbers const saved = find_numbers(checkpoint_, matched_.at(shard.key), kind);
    expect_same_shape(*saved.values, shard);
    saved_.emplace_back(saved, shard);
    return saved;
  }

  std::string find_scales() {
    VerifiedNumbers numbers(checkpoint_, piece_bytes());
    for (Source const& source : sources_)
      if (source.saved.scale != nullptr) check_scales(*source.saved.scale, numbers);
    std::string found;
    for (Source& source : sources_) {
      if (source.converts || !source.tensor->scaled()) continue;
      ShardDescription const& shard = source.tensor->shard;
      ElementRange const whole = {.begin = 0, .end = source.saved.values->numel()};
      bool const global = source.tensor->coverage == StateScale::global;
      SharedScale const shared =
          shared_scale(source.saved, global ? std::span(&whole, 1) : shard.ranges);
      if (shared.number != nullptr) source.scale = numbers.at(*shared.number);
      found.push_back(shared.found ? is_found : not_found);
    }
    return found;
  }

  /// Each rank looks at its share of the numbers.
  void check_scales(SavedTensor const& scale, VerifiedNumbers& numbers) const {
    auto const ranks = static_cast<std::size_t>(place_.where.world_size);
    for (auto b = static_cast<std::size_t>(place_.where.rank); b < scale.boxes.size(); b += ranks) {
      if (scale.boxes[b].numel() == 0) continue;
      float const number = numbers.at(scale.boxes[b]);
      if (!(number > 0) || !std::isfinite(number))
        refuse_damaged("tensor ", scale.key, ": is ", hexadecimal(number),
                       ", expected a finite number above 0");
    }
  }

  void plan() {
    segments_.resize(checkpoint_.files.size());
    for (Source const& source : sources_) {
      if (source.converts) continue;
      ShardDescription const& shard = source.tensor->shard;
      SavedTensor const& saved = *source.saved.raw;
      std::vector<ReadRange> ranges;
      plan_reads(saved, shard, ranges);
      add_segments(ranges, shard, segments_);
    }
    sort(segments_);
  }

  static void add_segments(std::vector<ReadRange> const& ranges, ShardDescription const& shard,
                           Segments& segments) {
    for (ReadRange const& range : ranges)
      append_segments(shard, range.to, range.bytes, range.begin,
                      segments[static_cast<std::size_t>(range.file)]);
  }

  static void sort(Segments& segments) {
    for (std::vector<FileSegment>& of_file : segments)
      std::sort(of_file.begin(), of_file.end(),
                [](FileSegment const& a, FileSegment const& b) { return a.begin < b.begin; });
  }

  /// Numbers that stand in the files twice are taken from one of the places. The other is read for
  /// its checksums alone: damage is damage wherever it is.
  void verify_rest(Staging& staging) const {
    if (!checkpoint_.manifest) return;
    std::set<SavedTensor const*> known;
    for (Source const& source : sources_) {
      if (source.converts || source.looked_at()) known.insert(source.saved.values);
      if (!source.converts) known.insert(source.saved.raw);
    }
    for (auto const& [numbers, shard] : saved_) {
      ShardDescription of_values = shard;
      of_values.format = numbers.values_format;
      if (known.insert(numbers.values).second)
        static_cast<void>(read_bytes(*numbers.values, of_values, staging));
      ShardDescription of_raw = shard;
      of_raw.format = numbers.format;
      if (numbers.raw != nullptr && known.insert(numbers.raw).second)
        static_cast<void>(read_bytes(*numbers.raw, of_raw, staging));
    }
  }

  /// The values of this rank's shard, in host memory.
  std::vector<float> read_values(Source const& source, Staging& staging) const {
    ShardDescription room = source.tensor->shard;
    room.format = source.saved.values_format;
    return decoded(read_bytes(*source.saved.values, room, staging), room.format);
  }

  /// This rank's part of a tensor as a file has it, in host memory. `room` says which part.
  std::vector<std::byte> read_bytes(SavedTensor const& saved, ShardDescription room,
                                    Staging& staging) const {
    std::vector<std::byte> bytes(room.bytes());
    room.data = bytes.data();
    room.on_host = true;
    room.tail = nullptr;
    room.tail_numel = 0;
    std::vector<ReadRange> ranges;
    plan_reads(saved, room, ranges);
    Segments segments(checkpoint_.files.size());
    add_segments(ranges, room, segments);
    sort(segments);
    read_segments(segments, staging);
    return bytes;
  }

  void read_segments(Segments const& segments, Staging& staging) const {
    for (std::size_t f = 0; f < segments.size(); ++f) {
      OpenFile const& file = checkpoint_.files[f];
      read_pieces(file, join_path(checkpoint_.directory, file.name), segments[f], piece_bytes(),
                  staging);
    }
  }

  std::size_t piece_bytes() const {
    return checkpoint_.manifest ? checkpoint_.manifest->piece_bytes : place_.piece_bytes;
  }

  Staging make_staging() const {
    std::uint64_t largest = 0;
    for (OpenFile const& file : checkpoint_.files)
      largest = std::max(largest, file.content->size());
    return {place_.ledger, slot_bytes(largest, piece_bytes()), place_.stream};
  }

  CheckpointPlace const& place_;
  CheckpointState const& state_;
  LoadOptions const& options_;
  Checkpoint checkpoint_;
  KeyMap matched_;
  Progress progress_;
  std::vector<Source> sources_;  // one for each of the engine's tensors
  std::vector<std::pair<SavedNumbers, ShardDescription>> saved_;  // what is found, taken or not
  Segments segments_;  // of what is not converted, by place in the file
};

}  // namespace

Loaded load_checkpoint(CheckpointPlace const& place, CheckpointState const& state,
                       LoadOptions const& options, std::function<void()> const& replacing) {
  Loading loading(place, state, options);
  auto const together = [&](auto part) {
    return place.agreement.together([&] {
      part();
      return std::string();
    });
  };
  loading.settle(place.agreement.together([&] { return loading.prepare(); }));
  if (loading.looks()) together([&] { loading.look(); });
  loading.agree_on_scales();
  if (loading.looks_again()) together([&] { loading.look_again(); });
  replacing();
  together([&] { loading.read(); });
  return std::move(loading).result();
}

}  // namespace adamant::real
