#include "real/checkpoint/matched_keys.h"

#include <functional>
#include <set>
#include <span>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/quantised_tensors.h"

namespace adamant::real {

namespace {

/// A key, and those of parts that may be in its place.
WantedKey wanted_key(std::string const& parameter, std::span<std::string const> parts,
                     std::function<std::string(std::string const&)> const& key) {
  WantedKey wanted{.key = key(parameter)};
  for (std::string const& part : parts) wanted.parts.push_back(key(name_of_part(parameter, part)));
  return wanted;
}

/// Main weights may be absent.
std::vector<WantedKey> wanted_keys(CheckpointState const& state,
                                   std::vector<std::vector<std::string>> const& parts) {
  std::vector<WantedKey> wanted;
  for (StateTensor const& tensor : state.tensors) {
    auto const p = static_cast<std::size_t>(tensor.parameter);
    if (tensor.kind == TensorKind::main) continue;
    wanted.push_back(wanted_key(state.steps[p].parameter, parts[p], [&](std::string const& name) {
      return key_of(name, tensor.kind);
    }));
  }
  for (std::size_t p = 0; p < state.steps.size(); ++p)
    wanted.push_back(wanted_key(state.steps[p].parameter, parts[p],
                                [](std::string const& name) { return state_key(name, "step"); }));
  return wanted;
}

std::set<std::string> saved_keys(Checkpoint const& checkpoint) {
  std::set<std::string> keys;
  for (auto const& [key, tensor] : checkpoint.tensors) keys.insert(key);
  return keys;
}

/// May a tensor under such a key have this beside it? Steps are numbers, stored as they are.
bool may_have(std::string const& wanted, Beside what) {
  if (wanted.starts_with(model_key(""))) return true;
  return !wanted.ends_with(".step") && (what == Beside::raw || what == Beside::scale);
}

/// Saved tensors that nothing here stands for.
std::vector<std::string> unused_keys(Checkpoint const& checkpoint, KeyMap const& matched) {
  std::set<std::string> unused = saved_keys(checkpoint);
  for (auto const& [wanted, saved] : matched) {
    unused.erase(saved);
    for (Beside const what : all_beside)
      if (may_have(wanted, what)) unused.erase(beside_key(saved, what));
  }
  return {unused.begin(), unused.end()};
}

/// Adds the main weights that are saved to what was matched: they lie beside the steps.
void match_main_weights(KeyMap& matched, CheckpointState const& state,
                        Checkpoint const& checkpoint) {
  std::string const what = "step";
  for (ParameterStep const& step : state.steps) {
    auto const of_whole = matched.find(state_key(step.parameter, what));
    if (of_whole == matched.end()) continue;  // of one in parts they are known
    std::string saved = of_whole->second;
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

/// In parts are all tensors of a parameter, or none.
void expect_one_form(KeyMap const& matched, CheckpointState const& state,
                     std::vector<std::vector<std::string>> const& parts) {
  for (StateTensor const& tensor : state.tensors) {
    if (tensor.kind == TensorKind::main) continue;
    auto const p = static_cast<std::size_t>(tensor.parameter);
    std::string const& name = state.steps[p].parameter;
    bool const whole = matched.contains(key_of(name, tensor.kind));
    if (whole != matched.contains(state_key(name, "step")))
      refuse_incompatible(
          "parameter ", name, ": ",
          matched.at(key_of(whole ? name : name_of_part(name, parts[p].front()), tensor.kind)),
          " is saved ", whole ? "as a whole" : "in parts",
          ", its steps are not: expected all of it in one form");
  }
}

}  // namespace

Matched match_saved(Checkpoint& checkpoint, CheckpointState const& state) {
  std::vector<std::vector<std::string>> parts;
  for (ParameterStep const& step : state.steps) parts.push_back(parts_to_find(checkpoint, step));
  Matched matched{.keys = match_keys(wanted_keys(state, parts), saved_keys(checkpoint))};
  expect_one_form(matched.keys, state, parts);
  for (std::size_t p = 0; p < state.steps.size(); ++p) {
    std::string const& name = state.steps[p].parameter;
    if (matched.keys.contains(state_key(name, "step"))) continue;
    matched.joined.insert(name);
    for (Copy& copy : join_parts(checkpoint, matched.keys, name, parts[p]))
      matched.copies.push_back(std::move(copy));
  }
  match_main_weights(matched.keys, state, checkpoint);
  judge_unused(checkpoint, unused_keys(checkpoint, matched.keys));
  return matched;
}

}  // namespace adamant::real
