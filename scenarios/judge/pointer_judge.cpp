#include "scenarios/judge/pointer_judge.h"

#include <algorithm>
#include <iterator>

#include "oracle/formats/formats.h"

namespace adamant::scenarios {

namespace {

bool comes_and_goes(TensorKind kind) {
  return kind == TensorKind::gradient || kind == TensorKind::cast_gradient;
}

}  // namespace

PointerJudge::PointerJudge(std::vector<ParameterSpec> const& parameters, int ranks,
                           std::optional<StateOffloadConfig> const& leaving,
                           oracle::Residence residence, RunFindings& findings)
    : findings_(findings), residence_(residence) {
  begin_world(ranks, parameters, leaving);
}

void PointerJudge::begin_world(int ranks, std::vector<ParameterSpec> const& parameters,
                               std::optional<StateOffloadConfig> const& leaving) {
  parameters_ = parameters;
  leaving_ = leaving;
  storages_.assign(
      static_cast<std::size_t>(ranks) * parameters_.size() * std::size(all_tensor_kinds),
      Storage{});
}

bool PointerJudge::stays(TensorKind kind) const {
  if (kind == TensorKind::cast_gradient) return residence_.keep_cast_grad;
  return kind == TensorKind::gradient && residence_.capturable;
}

void PointerJudge::compare(WorldView const& world, Primitive const* operation) {
  if (!world.shown().addresses) return;
  auto next = storages_.begin();
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      for (TensorKind const kind : all_tensor_kinds) {
        Storage& storage = *next++;
        if (!oracle::stored_format(parameters_[p].formats, kind)) continue;
        void const* const now = world.address(rank, static_cast<int>(p), kind);
        bool const may_go = operation != nullptr && may_move(kind, *operation);
        bool const moved = now != nullptr && storage.home != nullptr && now != storage.home;
        bool const lost = now == nullptr && storage.now != nullptr;
        bool const may_be_elsewhere = may_go || storage.now == nullptr;
        if ((lost && !may_go) || (moved && (stays(kind) || !may_be_elsewhere)))
          findings_.add({.law = Law::pointers_stable,
                         .breach = Breach::moved,
                         .rank = rank,
                         .subject = Tensor{.parameter = parameters_[p].name, .kind = kind},
                         .actual = Presence{now != nullptr}});
        storage.now = now;
        if (now != nullptr) storage.home = now;
      }
    }
  }
}

bool PointerJudge::may_move(TensorKind kind, Primitive const& operation) const {
  bool const gradient = comes_and_goes(kind);
  bool const state = !gradient && kind != TensorKind::parameter && leaving_ &&
                     (kind == TensorKind::main ? leaving_->main : leaving_->moments);
  return match(
      operation.what, [&](resolved::Load const&) { return gradient; },
      [&](ZeroGrad const& zero_grad) { return gradient && zero_grad.set_to_none; },
      [&](resolved::Replay const& replay) {
        // No state of a captured step leaves: an engine that offloads captures none.
        return gradient && std::ranges::any_of(replay.body, [](Recorded const& each) {
                 auto const* const zero_grad = std::get_if<ZeroGrad>(&each);
                 return zero_grad != nullptr && zero_grad->set_to_none;
               });
      },
      [&](OneOf<Step, OffloadStates, ReloadStates> auto const&) { return state; },
      [](OneOf<resolved::Backward, resolved::Set> auto const&) { return false; },
      [](LeavesMemory auto const&) { return false; });
}

}  // namespace adamant::scenarios
