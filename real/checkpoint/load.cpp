#include "real/checkpoint/load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/conversion.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/loaded_progress.h"
#include "real/checkpoint/matched_keys.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/reading.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/saved_numbers.h"
#include "real/checkpoint/saved_recipe.h"
#include "real/checkpoint/sources.h"
#include "real/cuda/state_numbers.h"
#include "real/quantise/trial.h"

namespace adamant::real {

namespace {

void expect_same_shape(SavedTensor const& saved, ShardDescription const& shard) {
  if (saved.shape != shard.global_shape)
    refuse_incompatible("tensor ", saved.key, ": size mismatch: saved ", text_of_shape(saved.shape),
                        ", current ", text_of_shape(shard.global_shape));
}

// ---- one rank's part ----

class Loading {
 public:
  Loading(CheckpointPlace const& place, CheckpointState const& state, LoadOptions const& options)
      : place_(place), state_(state), options_(options) {}

  /// Reads this rank's share of the headers, and tells what they say.
  void open(Message& told) {
    opening_.emplace(place_.storage, place_.directory);
    opening_->read_headers(static_cast<std::size_t>(place_.where.rank),
                           static_cast<std::size_t>(place_.where.world_size), told);
  }

  /// Checks and plans; changes nothing. Tells of every source of raw numbers with a scale, whether
  /// this rank can take them: 1 or 0.
  void prepare(std::vector<Message> headers, Message& told) {
    checkpoint_ = std::move(*opening_).finish(std::move(headers));
    writers_ = writers_of(checkpoint_);
    matched_ = match_saved(checkpoint_, state_);
    progress_ = loaded_progress(checkpoint_, matched_.keys, state_);
    find_sources();
    check_copies();
    read_quantised_scales();
    find_scales(told);
  }

  /// What is not taken as it was by one rank is converted by all.
  void settle(std::vector<Message> of_ranks) {
    for (Source& source : sources_) {
      if (source.converts || !source.tensor->scaled()) continue;
      for (Message& of_rank : of_ranks)
        if (of_rank.take_number() == 0) source.converts = true;
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
                       [](Source const& source) { return source.looked_at_again(); });
  }

  /// Reads what is converted, for the largest magnitudes, and for what may not be rounded.
  void look() {
    Staging staging = reader_.make_staging();
    for (Source& source : sources_) {
      if (!source.looked_at()) continue;
      std::vector<float> const values = read_values(source, staging);
      if (source.measured())
        source.amax = amax_of(values);
      else if (source.tensor->quantised)
        source.maxima =
            maxima_of(source.tensor->quantised->shape, source.tensor->shard.ranges.front(), values);
      else
        expect_all_kept(source, values);
    }
  }

  /// The scales of whole tensors are those of all ranks' values.
  void agree_on_scales() {
    std::vector<float> amaxes;
    for (Source const& source : sources_) {
      if (is_shared(source)) amaxes.push_back(source.amax);
      amaxes.insert(amaxes.end(), source.maxima.begin(), source.maxima.end());
    }
    place_.agreement.take_largest(amaxes);
    auto next = amaxes.begin();
    for (Source& source : sources_) {
      if (is_shared(source)) source.amax = *next++;
      for (float& maximum : source.maxima) maximum = *next++;
      if (source.measured()) source.scale = scale_for(source.amax, source.tensor->shard.format);
    }
  }

  /// The same where it takes a scale to know what is rounded.
  void look_again() {
    Staging staging = reader_.make_staging();
    for (Source const& source : sources_)
      if (source.looked_at_again()) expect_all_kept(source, read_values(source, staging));
  }

  void read() {
    Staging staging = reader_.make_staging();
    reader_.read(segments_, staging);
    verify_rest(staging);
    for (Source const& source : sources_) {
      if (source.tensor->quantised) {
        take_quantised(source);
        continue;
      }
      if (source.converts && source.tensor->shard.numel() > 0)
        upload(stored_as(*source.tensor, read_values(source, staging), source.scale),
               source.tensor->shard, place_.stream);
      if (source.tensor->scaled())
        state_.write_scale(source.tensor->parameter, source.tensor->kind, source.scale);
    }
    place_.stream.synchronize();
  }

  Loaded result() && {
    return {std::move(progress_), std::move(checkpoint_.notes), std::move(quantise_)};
  }

 private:
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
    SavedParameter saved{.parameter = find_saved(tensors.front())};
    StateTensor main = tensors.front();
    main.kind = TensorKind::main;
    main.shard.key = key_of(state_.steps[parameter].parameter, TensorKind::main);
    if (matched_.keys.contains(main.shard.key)) saved.main = find_saved(main);
    if (!options_.may_round.empty()) saved.may_round = options_.may_round[parameter];
    saved.keeps_main = tensors.back().kind == TensorKind::main;
    for (StateTensor const& tensor : tensors) sources_.push_back(source_of(saved, tensor));
  }

  Source source_of(SavedParameter const& saved, StateTensor const& tensor) {
    if (tensor.kind == TensorKind::parameter) return source_of_parameter(saved, tensor);
    if (tensor.kind == TensorKind::main) return source_of_main(saved, tensor);
    bool const first = tensor.kind == TensorKind::exp_avg;
    return source_of_moment(find_saved(tensor),
                            first ? saved.may_round.exp_avg : saved.may_round.exp_avg_sq, tensor);
  }

  /// What is saved under a tensor's key.
  SavedNumbers find_saved(StateTensor const& tensor) {
    ParameterStep const& parameter = state_.steps[static_cast<std::size_t>(tensor.parameter)];
    bool const whole_scales = tensor.quantised && tensor.quantised->shape.whole_scales != 0;
    SavedNumbers saved = find_numbers(checkpoint_, writers_, matched_.keys.at(tensor.shard.key),
                                      tensor.kind, whole_scales);
    saved.other_form = matched_.joined.contains(parameter.parameter) != !parameter.parts.empty();
    expect_same_shape(*saved.values, tensor.shard);
    saved_.emplace_back(saved, tensor.shard);
    return saved;
  }

  /// What is the whole parameter's stands under each of its parts.
  void check_copies() const {
    for (Copy const& copy : matched_.copies) {
      Staging staging = reader_.make_staging();
      ElementRange const all = {.begin = 0, .end = copy.of.numel()};
      ShardDescription const room = {.key = "",
                                     .format = format_of_dtype(copy.of.dtype).value(),
                                     .global_shape = copy.of.shape,
                                     .ranges = {&all, 1}};
      if (reader_.read_bytes(copy.is, room, staging) != reader_.read_bytes(copy.of, room, staging))
        refuse_incompatible("tensor ", copy.is.key, ": is not the same as ", copy.of.key,
                            ": parts of a parameter share it");
    }
  }

  /// And looks at them, also where they are not taken: a parameter is damaged or it is not.
  void read_quantised_scales() {
    for (auto const& [numbers, shard] : saved_) {
      if (!numbers.recipe) continue;
      Staging staging = reader_.make_staging();
      scales_[numbers.values] = read_scales(
          *numbers.recipe, shard.ranges.front(),
          [&](SavedTensor const& saved, ShardDescription const& room) {
            return reader_.read_bytes(saved, room, staging);
          },
          checkpoint_);
    }
  }

  void take_quantised(Source const& source) {
    int const parameter = source.tensor->parameter;
    if (source.converts)
      quantise_.push_back(parameter);
    else
      state_.write_scales(parameter, scales_.at(source.saved.values));
  }

  void find_scales(Message& told) {
    VerifiedNumbers numbers(checkpoint_, reader_.piece_bytes());
    for (Source const& source : sources_)
      if (source.saved.scale != nullptr) check_scales(*source.saved.scale, numbers);
    for (Source& source : sources_) {
      if (source.converts || !source.tensor->scaled()) continue;
      ShardDescription const& shard = source.tensor->shard;
      ElementRange const whole = {.begin = 0, .end = source.saved.values->numel()};
      bool const global = source.tensor->coverage == StateScale::global;
      SharedScale const shared =
          shared_scale(source.saved, writers_, global ? std::span(&whole, 1) : shard.ranges);
      if (shared.number) source.scale = numbers.at(*shared.number);
      told.add_number(shared.found ? 1 : 0);
    }
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
      if (source.saved.recipe) {
        plan_codes(source);
        continue;
      }
      ShardDescription const& shard = source.tensor->shard;
      SavedTensor const& saved = *source.saved.raw;
      std::vector<ReadRange> ranges;
      plan_reads(saved, shard, ranges);
      add_segments(ranges, shard, segments_);
    }
    sort(segments_);
  }

  /// What every rank has of its own rows.
  void plan_codes(Source const& source) {
    for (SavedRecipe::Tensor const& tensor : source.saved.recipe->tensors) {
      if (tensor.is.elements == 0) continue;
      ElementRange const part = tensor.is.part_of(source.tensor->shard.ranges.front());
      ShardDescription const shard =
          describe_part(tensor.is, part, data_of(*source.tensor->quantised, tensor.is.what));
      std::vector<ReadRange> ranges;
      plan_reads(*tensor.saved, shard, ranges);
      add_segments(ranges, shard, segments_);
    }
  }

  /// Numbers that stand in the files twice are taken from one of the places. The other is read for
  /// its checksums alone: damage is damage wherever it is.
  void verify_rest(Staging& staging) const {
    if (!checkpoint_.manifest) return;
    std::set<SavedTensor const*> known;
    for (Source const& source : sources_) {
      bool const read = source.converts && !source.tensor->quantised;
      if (read || source.looked_at()) known.insert(source.saved.values);
      if (!source.converts) known.insert(source.saved.raw);
      if (!source.converts && source.saved.recipe)
        for (SavedRecipe::Tensor const& tensor : source.saved.recipe->tensors)
          known.insert(tensor.saved);
    }
    for (auto const& [numbers, shard] : saved_) {
      ShardDescription of_values = shard;
      of_values.format = numbers.values_format;
      if (known.insert(numbers.values).second)
        static_cast<void>(reader_.read_bytes(*numbers.values, of_values, staging));
      ShardDescription of_raw = shard;
      of_raw.format = numbers.format;
      if (numbers.recipe) verify_codes(*numbers.recipe, shard, known, staging);
      if (numbers.raw != nullptr && known.insert(numbers.raw).second)
        static_cast<void>(reader_.read_bytes(*numbers.raw, of_raw, staging));
    }
  }

  /// Scales were read before.
  void verify_codes(SavedRecipe const& recipe, ShardDescription const& shard,
                    std::set<SavedTensor const*>& known, Staging& staging) const {
    SavedRecipe::Tensor const& raw = recipe.tensors.front();
    if (!known.insert(raw.saved).second) return;
    ElementRange const part = raw.is.part_of(shard.ranges.front());
    static_cast<void>(
        reader_.read_bytes(*raw.saved, describe_part(raw.is, part, nullptr), staging));
  }

  /// The values of this rank's shard, in host memory.
  std::vector<float> read_values(Source const& source, Staging& staging) const {
    ShardDescription room = source.tensor->shard;
    room.format = source.saved.values_format;
    return decoded(reader_.read_bytes(*source.saved.values, room, staging), room.format);
  }

  CheckpointPlace const& place_;
  CheckpointState const& state_;
  LoadOptions const& options_;
  std::optional<CheckpointOpening> opening_;
  Checkpoint checkpoint_;
  CheckpointReader reader_{place_, checkpoint_};
  std::vector<int> writers_;  // of its files
  Matched matched_;
  Progress progress_;
  std::vector<Source> sources_;  // one for each of the engine's tensors
  std::vector<std::pair<SavedNumbers, ShardDescription>> saved_;  // what is found, taken or not
  std::map<SavedTensor const*, QuantisedScales> scales_;          // by the values that they are of
  std::vector<int> quantise_;  // parameters that are quantised anew
  Segments segments_;          // of what is not converted, by place in the file
};

}  // namespace

Loaded load_checkpoint(CheckpointPlace const& place, CheckpointState const& state,
                       LoadOptions const& options, std::function<void()> const& replacing) {
  Loading loading(place, state, options);
  Agreement& ranks = place.agreement;
  auto headers = ranks.together([&](Message& told) { loading.open(told); });
  loading.settle(ranks.together([&](Message& told) { loading.prepare(std::move(headers), told); }));
  if (loading.looks()) ranks.together([&](Message&) { loading.look(); });
  loading.agree_on_scales();
  if (loading.looks_again()) ranks.together([&](Message&) { loading.look_again(); });
  replacing();
  ranks.together([&](Message&) { loading.read(); });
  return std::move(loading).result();
}

}  // namespace adamant::real
