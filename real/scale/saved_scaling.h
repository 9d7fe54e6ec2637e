// Loss scaler and norm as a checkpoint keeps them: among the numbers of its manifest, where a
// number that is missing stands for a setting that is none.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "oracle/types.h"

namespace adamant::real {

struct SavedScaling {
  LossScale loss_scale = {};
  float scale = 1;  // where it has come to
  int growth_tracker = 0;
  int hysteresis = 0;
  std::optional<float> max_norm = {};

  friend bool operator==(SavedScaling const&, SavedScaling const&) = default;
};

std::map<std::string, double> numbers_of(SavedScaling const& scaling);

/// Errors: CheckpointError (damaged) where a number cannot be what it should be, or a scale that
///         moves has no progress; `where` begins the message.
SavedScaling scaling_of(std::map<std::string, double> const& numbers,
                        std::string const& where = "numbers");

}  // namespace adamant::real
