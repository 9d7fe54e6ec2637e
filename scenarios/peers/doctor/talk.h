// A conversation with an engine's process line by line, so that lines can be said which no client
// would send. Every reply is held to the protocol's schema.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/process.h"

namespace adamant::scenarios {

class Talk {
 public:
  using Json = nlohmann::json;

  /// Starts a process of the engine; nothing is said yet.
  explicit Talk(std::string const& command);

  /// Any line, and the object that answers it.
  ///
  /// Errors: PeerError where none comes; ProbeFailed where it is no JSON object.
  Json say(std::string_view line);

  /// A request with these fields, and its reply, which is what the schema says of such a reply.
  ///
  /// Errors: PeerError, ProbeFailed.
  Json ask(std::string_view verb, Json fields = Json::object());

  /// The same, where the outcome has to be ok.
  Json ask_ok(std::string_view verb, Json fields = Json::object());

  /// hello in this program's version; its reply.
  Json hello() { return ask("hello", {{"version", 1}, {"timeout_seconds", bounds_.rank.count()}}); }

  PeerProcess& process() { return process_; }

 private:
  PeerBounds bounds_;
  PeerProcess process_;
  std::int64_t next_id_ = 0;
};

/// Errors: ProbeFailed where `reply` is no error of type `protocol`.
void expect_protocol_error(Talk::Json const& reply, std::string_view after);

}  // namespace adamant::scenarios
