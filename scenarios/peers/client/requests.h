// The requests that have more to say than their name: the world and the model of an `open`, what a
// `set` changes. Files are named, not written.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios::requests {

using Json = nlohmann::json;

/// What a world is opened for.
struct OpenedWorld {
  Scenario const& setting;   // as the loads before have left it
  Scenario const& scenario;  // whose settings of the optimizer every world begins with
  Clip clip;                 // but for the norm, which is the one in force
  std::span<ParameterSpec const> parameters;
  std::vector<std::pair<std::string, std::string>> options;
  bool anew = false;  // a new job, in which a load follows
  std::filesystem::path initial;
};

/// Of group number 0, for parameters that name none, it is empty.
std::string name_of_group(std::span<Group const> groups, std::size_t number);

Json open(OpenedWorld const& world);

Json set(resolved::Set const& set);

}  // namespace adamant::scenarios::requests
