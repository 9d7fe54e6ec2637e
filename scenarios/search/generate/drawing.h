// The draws of one scenario, as its options allow: which features it may have, and how large things
// get.
#pragma once

#include "scenarios/language/scenario.h"
#include "scenarios/search/generate/draws.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/generate/offers.h"

namespace adamant::scenarios {

class Drawing : public Draws {
 public:
  Drawing(std::uint64_t seed, std::uint64_t index, GenerateOptions const& options)
      : Draws(seed, index), options_(options), off_(options.off | lacking(options.capabilities)) {}

  GenerateOptions const& options() const { return options_; }
  Capabilities const& able() const { return options_.capabilities; }
  bool allowed(Feature feature) const { return !has(off_, feature); }
  /// A feature that is on in `percent` of the full-size scenarios, rarer in small ones.
  bool feature(Feature which, int percent) {
    bool const drawn = chance(percent * (20 + options_.size) / 120);
    return drawn && allowed(which);
  }
  /// `maximum` at full size, `minimum` at size 0.
  std::int64_t scaled(std::int64_t minimum, std::int64_t maximum) const {
    return minimum + (maximum - minimum) * options_.size / 100;
  }

 private:
  GenerateOptions const& options_;
  FeatureSet off_;
};

/// At most one thing, and only where it is known how the run ends then.
void draw_fault(Drawing& draws, Scenario& scenario);

}  // namespace adamant::scenarios
