// Scripts by which shells complete commands and options, made of the command line's own
// description, so that none can be forgotten.
#pragma once

#include <CLI/App.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adamant::scenarios {

inline constexpr std::string_view completed_shells[] = {"bash", "zsh", "fish"};

/// The long options of one command, such as "--json".
std::vector<std::string> option_names(CLI::App const& command);

/// What a user puts where the shell looks for it. REQUIRES: one of completed_shells.
std::string completion_of(CLI::App const& app, std::string_view shell);

}  // namespace adamant::scenarios
