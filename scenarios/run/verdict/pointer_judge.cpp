#include "scenarios/run/verdict/pointer_judge.h"

#include <iterator>

#include "oracle/formats/formats.h"

namespace adamant::scenarios {

namespace {

bool comes_and_goes(TensorKind kind) {
  return kind == TensorKind::gradient || kind == TensorKind::cast_gradient;
}

}  // namespace

PointerJudge::PointerJudge(std::vector<ParameterSpec> const& parameters, int ranks,
                           std::optional<StateOffloadConfig> const& leaving, Findings& findings)
    : parameters_(parameters), leaving_(leaving), findings_(findings) {
  begin_world(ranks);
}

void PointerJudge::begin_world(int ranks) {
  addresses_.assign(
      static_cast<std::size_t>(ranks) * parameters_.size() * std::size(all_tensor_kinds), nullptr);
}

void PointerJudge::compare(WorldView const& world, Primitive const* operation) {
  auto kept = addresses_.begin();
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      for (TensorKind const kind : all_tensor_kinds) {
        void const*& before = *kept++;
        if (!oracle::stored_format(parameters_[p].formats, kind)) continue;
        void const* const now = world.address(rank, static_cast<int>(p), kind);
        bool const moves = operation != nullptr && may_move(kind, *operation);
        if (before != nullptr && now != before && !moves)
          findings_.add("pointers.stable",
                        {.rank = rank, .tensor = tensor_name(parameters_[p], kind)},
                        {.expected = "the address that it had",
                         .actual = now == nullptr ? "no storage" : "another address",
                         .message = "the tensor moved, although nothing gave it back"});
        before = now;
      }
    }
  }
}

bool PointerJudge::may_move(TensorKind kind, Primitive const& operation) const {
  using Kind = Primitive::Kind;
  if (comes_and_goes(kind))
    return operation.kind == Kind::load ||
           (operation.kind == Kind::zero_grad && operation.set_to_none);
  if (kind == TensorKind::parameter || !leaving_) return false;
  bool const leaves = kind == TensorKind::main ? leaving_->main : leaving_->moments;
  return leaves && (operation.kind == Kind::step || operation.kind == Kind::offload ||
                    operation.kind == Kind::reload);
}

}  // namespace adamant::scenarios
