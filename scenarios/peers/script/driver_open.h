// A world as the arguments of `Driver.open` (adamant_torch/driving.py), which has defaults for most
// of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

struct OpenArgument {
  std::string name;
  python::Literal value;
  bool usual = false;  // it has this value where it is left out
};

/// All arguments but the initial values, the same ones of each world. `order` is that of the
/// parameters among the initial values, `offered` the options of hello.
///
/// Errors: NoScript where the request says what Driver cannot.
std::vector<OpenArgument> open_arguments(nlohmann::json const& request,
                                         std::vector<std::string> const& order,
                                         nlohmann::json const& offered);

/// As Python writes it.
python::Literal literal_of_json(nlohmann::json const& value);

}  // namespace adamant::scenarios::script
