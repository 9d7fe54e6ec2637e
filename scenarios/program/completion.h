// What a command line has, read off its own description, so that nothing can be forgotten.
#pragma once

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace adamant::scenarios {

/// The long options of one command, such as "--json".
std::vector<std::string> option_names(CLI::App const& command);

}  // namespace adamant::scenarios
