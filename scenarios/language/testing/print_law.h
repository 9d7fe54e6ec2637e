// Laws in the failures of tests, by their ids instead of their numbers.
#pragma once

#include <ostream>

#include "scenarios/language/laws.h"

namespace adamant::scenarios {

inline void PrintTo(Law law, std::ostream* out) {
  *out << id_of(law);
}

}  // namespace adamant::scenarios
