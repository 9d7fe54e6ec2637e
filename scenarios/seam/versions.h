// What an engine outside the process says of its versions, for whoever has to tell later what a
// result came from. Engines in the process have the version of the program.
#pragma once

#include <string>
#include <string_view>

namespace adamant::scenarios {

/// "python 3.11.2, torch 2.13.0"; empty where the engine says nothing, or is in this process.
///
/// Errors: MachineLacks, where an engine that has to be asked is not there.
std::string versions_of(std::string_view engine);

}  // namespace adamant::scenarios
