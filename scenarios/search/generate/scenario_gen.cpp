#include <rapidcheck/Random.h>
#include <rapidcheck/gen/Create.h>
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/shrinkable/Create.h>

#include <algorithm>
#include <utility>

#include "scenarios/search/generate/generate.h"
#include "scenarios/search/minimize/passes.h"

namespace adamant::scenarios {

rc::Gen<Scenario> scenario_gen(GenerateOptions options) {
  return [options](rc::Random const& random, int size) {
    GenerateOptions sized = options;
    sized.size = std::min({size, options.size, 100});
    rc::Random stream = random;
    Scenario scenario = generate_scenario(stream.next(), 0, sized);
    return rc::shrinkable::shrinkRecur(std::move(scenario), [options](Scenario const& value) {
      return rc::seq::fromContainer(simpler(value, options.capabilities));
    });
  };
}

}  // namespace adamant::scenarios
