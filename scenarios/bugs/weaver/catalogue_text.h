// The catalogue of bugs as a C++ source, from which scenarios/bugs/catalogue.h is answered. Of the
// mistakes of the harness it is catalogue_of_harness().
#pragma once

#include <string>
#include <vector>

#include "scenarios/bugs/weaver/bug_file.h"

namespace adamant::bugs {

std::string catalogue_text(std::vector<BugFile> const& bugs);

}  // namespace adamant::bugs
