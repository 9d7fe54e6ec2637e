#include "real/checkpoint/matched_keys.h"

#include <set>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/quantised_tensors.h"

namespace adamant::real {

namespace {

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

}  // namespace

KeyMap match_saved(Checkpoint& checkpoint, CheckpointState const& state) {
  KeyMap matched = match_keys(wanted_keys(state), saved_keys(checkpoint));
  match_main_weights(matched, state, checkpoint);
  judge_unused(checkpoint, unused_keys(checkpoint, matched));
  return matched;
}

}  // namespace adamant::real
