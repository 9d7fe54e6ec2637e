// What was said between this program and an engine outside of it, kept so that somebody else can
// say it again.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/client/tensor_file.h"

namespace adamant::scenarios {

/// One request, and what came of it.
struct Exchange {
  std::string verb;
  nlohmann::json fields;                // without id and verb
  std::vector<TensorFile> files;        // that the request names, as they were then
  std::optional<nlohmann::json> reply;  // nothing: no reply to this request came
};

using Conversation = std::vector<Exchange>;

/// The tensor files that a request hands over: initial values, or gradients rank by rank.
///
/// Errors: PeerError where one cannot be read.
std::vector<TensorFile> files_of(nlohmann::json const& fields);

}  // namespace adamant::scenarios
