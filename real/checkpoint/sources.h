// What becomes of each tensor of the engine in a load: which saved numbers it is made of, and
// whether they are taken as they are.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "real/checkpoint/saved_numbers.h"
#include "real/checkpoint/state.h"
#include "real/engine.h"

namespace adamant::real {

/// A tensor of the engine and what it is made of.
struct Source {
  StateTensor const* tensor = nullptr;
  SavedNumbers saved = {};
  bool converts = false;   // from values; otherwise raw is taken as it is
  bool keeps_all = false;  // every value has to be one that the engine's type has
  float amax = 0;          // of values that are converted and get a scale
  float scale = 1;
  std::vector<float> maxima = {};  // of blocks, where values are quantised that have to be kept

  bool measured() const { return converts && tensor->scaled(); }
  bool looked_at() const { return measured() || keeps_all; }
  /// Does it take all ranks' values to know whether one is rounded?
  bool looked_at_again() const { return keeps_all && (measured() || tensor->quantised); }
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

Source source_of_parameter(SavedParameter const& saved, StateTensor const& tensor);
Source source_of_main(SavedParameter const& saved, StateTensor const& tensor);
Source source_of_moment(SavedNumbers const& saved, bool may_round, StateTensor const& tensor);

/// REQUIRES: the values of this rank's shard. Errors: CheckpointError where one would be rounded.
void expect_all_kept(Source const& source, std::span<float const> values);

}  // namespace adamant::real
