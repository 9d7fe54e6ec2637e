#include "scenarios/runner/two_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "oracle/compare/first_difference.h"
#include "scenarios/judge/findings.h"
#include "scenarios/language/yaml/write_value.h"

namespace adamant::scenarios {

namespace {

constexpr TensorKind compared_kinds[] = {TensorKind::parameter, TensorKind::main,
                                         TensorKind::exp_avg, TensorKind::exp_avg_sq};

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
  return a.size() == b.size() && !oracle::first_difference(a, b);
}

/// What of a run no checkpoint of this format holds, and differs from what was there before it.
std::string lost(std::vector<std::string> const& not_carried, Moment const& before,
                 Moment const& after) {
  for (std::string const& what : not_carried) {
    bool const scaler = before.scaling.loss_scale == after.scaling.loss_scale &&
                        before.scaling.growth_tracker == after.scaling.growth_tracker &&
                        before.scaling.hysteresis == after.scaling.hysteresis;
    bool const kept = what == "groups"   ? before.groups == after.groups
                      : what == "steps"  ? before.step_counts == after.step_counts
                      : what == "scaler" ? scaler
                      : what == "clip"   ? before.scaling.max_norm == after.scaling.max_norm
                                         : true;
    if (!kept) return what;
  }
  return {};
}

bool ends_in_any(std::string_view name, std::vector<std::string> const& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string const& ending) { return name.ends_with(ending); });
}

}  // namespace

// ---- the first run ------------------------------------------------------------------------------

Recording::Recording(Scenario const& scenario)
    : scenario_(scenario), parameters_(parameter_specs(scenario)) {
  auto const further = further_runs(scenario);
  takes_files_ = std::any_of(further.begin(), further.end(), [](FurtherRun const& run) {
    return run.promise == Promise::repeated;
  });
}

void Recording::after(Primitive const& operation, WorldView const& world) {
  Moment const* const before = moments_.empty() ? nullptr : &moments_.back();
  moments_.push_back(moment(operation, world, before));
}

Moment::Whole Recording::whole(WorldView const& world, int parameter, TensorKind kind) const {
  std::vector<float> numbers(
      static_cast<std::size_t>(parameters_[static_cast<std::size_t>(parameter)].numel()));
  std::vector<float> room;
  for (int rank = 0; rank < world.holder_count(kind); ++rank) {
    Shard const shard = world.shard(rank, parameter, kind);
    auto const values = values_of(shard, room);
    if (values.empty() && numel_of(shard.ranges) > 0) return nullptr;
    auto next = values.begin();
    for (ElementRange const& range : shard.ranges) {
      auto const count = static_cast<std::ptrdiff_t>(range.end - range.begin);
      std::copy_n(next, count, numbers.begin() + static_cast<std::ptrdiff_t>(range.begin));
      next += count;
    }
  }
  return std::make_shared<std::vector<float> const>(std::move(numbers));
}

Moment Recording::moment(Primitive const& operation, WorldView const& world,
                         Moment const* before) const {
  Moment now;
  now.scaling = world.scaling(0);
  for (int p = 0; p < static_cast<int>(parameters_.size()); ++p) {
    for (TensorKind const kind : compared_kinds) {
      auto made = whole(world, p, kind);
      auto const& earlier = before == nullptr ? nullptr : before->wholes[now.wholes.size()];
      bool const as_before = made != nullptr && earlier != nullptr && same_bits(*made, *earlier);
      now.wholes.push_back(as_before ? earlier : std::move(made));
    }
    now.step_counts.push_back(world.step_count(0, p));
  }
  for (int g = 0; g <= static_cast<int>(scenario_.groups.size()); ++g)
    now.groups.push_back(world.group(0, g));
  if (auto const* save = operation.as<Save>(); save != nullptr && takes_files_)
    now.files = world.file_digests(save->checkpoint);
  if (!is<resolved::Load>(operation.what)) return now;
  now.into_new_world = sets_anew(operation);
  now.not_carried = world.not_carried();
  return now;
}

// ---- the second one -----------------------------------------------------------------------------

HeldTo::HeldTo(Recording const& recording, FurtherRun const& run,
               std::vector<std::string> same_files)
    : recording_(recording), run_(run), same_files_(std::move(same_files)) {}

void HeldTo::after(Primitive const& operation, WorldView const& world) {
  if (differs_ || !gave_up_.empty()) return;
  entry_ = run_.original(operation.entry);
  if (run_.has_inserted(operation.entry)) return after_inserted(operation, world);
  if (next_ == recording_.moments().size()) return;
  Moment const& expected = recording_.moments()[next_++];
  Moment actual = recording_.moment(operation, world, &expected);
  // What is not in a file stays as it was, in a new world as at the beginning.
  bool const as_recorded = actual.into_new_world == expected.into_new_world &&
                           actual.not_carried == expected.not_carried;
  if (!as_recorded) {
    give_up_on(lost(actual.not_carried, expected, actual));
    give_up_on(lost(expected.not_carried, expected, actual));
    if (!gave_up_.empty()) return;
  }
  compare(expected, actual);
  if (auto const* save = operation.as<Save>(); save != nullptr && run_.promise == Promise::repeated)
    compare_files(save->checkpoint, expected, actual);
  differs_ = !violations_.empty();
  last_ = std::move(actual);
}

// Before the first operation nothing has changed that a checkpoint could lose.
void HeldTo::after_inserted(Primitive const& operation, WorldView const& world) {
  if (!is<resolved::Load>(operation.what) || next_ == 0) return;
  Moment const now = recording_.moment(operation, world, &last_);
  give_up_on(lost(world.not_carried(), last_, now));
}

void HeldTo::give_up_on(std::string const& what) {
  if (!what.empty())
    gave_up_ = fmt::format(
        "with {}: what comes after a load is not compared, since a format does not carry {}",
        text_of(recording_.scenario(), run_), what);
}

void HeldTo::compare(Moment const& expected, Moment const& actual) {
  compare_values(expected, actual);
  compare_settings(expected, actual);
}

void HeldTo::compare_values(Moment const& expected, Moment const& actual) {
  for (std::size_t i = 0; i < expected.wholes.size(); ++i) {
    auto const& parameter = recording_.parameters()[i / std::size(compared_kinds)];
    Tensor const tensor{.parameter = parameter.name,
                        .kind = compared_kinds[i % std::size(compared_kinds)]};
    auto const& a = expected.wholes[i];
    auto const& b = actual.wholes[i];
    if (a == b || a == nullptr || b == nullptr) continue;
    auto const found = oracle::first_difference(*a, *b);
    if (!found) continue;
    std::vector<ElementRange> elements;
    oracle::append_differences(*a, *b, 0, elements);
    add({.subject = tensor,
         .index = found->index,
         .elements = wrong_elements(std::move(elements), {.spec = parameter}),
         .expected = Number(found->expected),
         .actual = Number(found->actual),
         .ulp = found->ulps});
  }
}

void HeldTo::compare_settings(Moment const& expected, Moment const& actual) {
  for (std::size_t p = 0; p < expected.step_counts.size(); ++p)
    if (expected.step_counts[p] != actual.step_counts[p])
      add({.subject = StepCount{recording_.parameters()[p].name},
           .expected = Count{expected.step_counts[p]},
           .actual = Count{actual.step_counts[p]}});
  for (std::size_t g = 0; g < expected.groups.size(); ++g)
    if (expected.groups[g] != actual.groups[g])
      add({.subject = GroupSettings{static_cast<int>(g)},
           .expected = expected.groups[g],
           .actual = actual.groups[g]});
  if (expected.scaling.loss_scale != actual.scaling.loss_scale)
    add({.subject = ScalingNumber::loss_scale,
         .expected = Number(expected.scaling.loss_scale),
         .actual = Number(actual.scaling.loss_scale)});
}

void HeldTo::compare_files(std::string const& checkpoint, Moment const& expected,
                           Moment const& actual) {
  for (auto const& [name, digest] : expected.files) {
    auto const other = actual.files.find(name);
    bool const same = other != actual.files.end() && other->second == digest;
    if (!same && ends_in_any(name, same_files_))
      add({.breach = Breach::other_file_in_run, .text = fmt::format("{}/{}", checkpoint, name)});
  }
}

void HeldTo::add(Violation violation) {
  violation.law = law_of(run_.promise);
  if (violation.breach == Breach::other_value) violation.breach = Breach::other_in_run;
  violation.operation = entry_;
  violation.run = text_of(recording_.scenario(), run_);
  if (!full(violations_, violation.law)) violations_.push_back(std::move(violation));
}

std::string text_of(Scenario const& scenario, FurtherRun const& run) {
  if (run.promise == Promise::worlds)
    return "worlds: " + write_value(kinds::Worlds{}, {scenario.other_worlds[run.number]});
  return "again: " + write_map(scenario.again[run.number]);
}

}  // namespace adamant::scenarios
