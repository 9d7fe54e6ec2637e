// What was said between this program and an engine outside of it, kept so that somebody else can
// say it again.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/client/tensor_file.h"

namespace adamant::scenarios {

/// The type of each tensor in a file.
using TensorTypes = std::map<std::string, NumberFormat>;

/// One request, and what came of it.
struct Exchange {
  std::string verb;
  nlohmann::json fields;                // without id and verb
  std::vector<TensorFile> files;        // that the request names, as they were then
  std::optional<nlohmann::json> reply;  // nothing: no reply to this request came
  std::vector<TensorTypes> types = {};  // of the file of each rank, where the reply names them
};

using Conversation = std::vector<Exchange>;

/// The tensor files that a request hands over: initial values, or gradients rank by rank.
///
/// Errors: PeerError where one cannot be read.
std::vector<TensorFile> files_of(nlohmann::json const& fields);

/// What is in the files that a reply names, rank by rank; of one that cannot be read nothing.
std::vector<TensorTypes> types_in(nlohmann::json const& reply);

}  // namespace adamant::scenarios
