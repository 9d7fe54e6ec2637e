// What a step or a load would leave if it went by something else than it should: the number of
// another step, no decay, older settings, zeros. Each is a whole model, made by the arithmetic that
// says what is right. Who compares is not known here, nor whether any of it has happened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/layout/layout.h"
#include "oracle/model/model.h"
#include "oracle/types.h"

namespace adamant::oracle {

struct Supposition {
  std::string with;  // "the step would leave with ..."; empty: it does nothing
  Model left;
};

/// Watches a model, and supposes.
class Suppositions {
 public:
  // ---- what operation number `entry` is about to do to it ----
  void step_follows(Model const& before) { before_ = before; }
  void load_follows(Model const& before, int entry);
  void settings_change(Model const& before, int entry);
  void save_follows(Model const& before, int entry);

  /// What the step that followed last found; null: none has.
  Model const* before_step() const { return before_ ? &*before_ : nullptr; }

  // Nothing where none followed.
  /// The step that followed last: none at all; with bias corrections of the step before and after
  /// it; no weight decay, or that of the other mode; the lr or all settings of earlier; those of
  /// the first group, which has no name; moments of zeros; scales that each rank makes of what it
  /// holds itself. No two of them have the same settings, and none has the right ones.
  std::vector<Supposition> of_step(Layout const& layout) const;

  /// The load that followed last and should leave `right`: with what was there before; with moments
  /// of zeros, where there were others; with moments of the parameter at the same place from the
  /// other end; with what any save had.
  std::vector<Supposition> of_load(Model const& right) const;

 private:
  /// The settings of all groups, and when they were in force.
  struct Settings {
    std::string when;
    std::vector<AdamConfig> groups;
  };

  std::optional<Model> before_;
  std::vector<Settings> settings_;  // the newest first
  std::vector<Supposition> saved_;
};

}  // namespace adamant::oracle
