// Initial values and gradients of a script as text that nobody reads, where they would fill it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// INITIAL and GRADIENTS, by name, made of compressed numbers. False, and nothing is written, where
/// they are not all of the same tensors.
bool write_compressed(Draft& draft,
                      std::vector<std::pair<std::string, python::Literal>> const& named);

}  // namespace adamant::scenarios::script
