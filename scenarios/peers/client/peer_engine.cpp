#include "scenarios/peers/client/peer_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include "scenarios/language/engine_names.h"
#include "scenarios/peers/client/peer_run.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/client/scratch.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

using Clients = std::map<std::string, std::unique_ptr<PeerClient>, std::less<>>;

/// Those of this process. A fork leaves the processes to its parent, and starts its own.
Clients& clients_of_this_process() {
  static Clients* clients = nullptr;
  static pid_t owner = 0;
  if (owner != ::getpid()) clients = new Clients;  // the parent's are not ours to end
  owner = ::getpid();
  return *clients;
}

std::unique_ptr<PeerClient> make_client(std::string_view engine) {
  return std::make_unique<PeerClient>(std::string(engine), command_of_peer(engine), peer_bounds());
}

/// $ADAMANT_TORCH, or the environment that .ci/setup --peers makes.
std::string command_of_torch() {
  if (char const* const chosen = std::getenv("ADAMANT_TORCH"); chosen != nullptr && *chosen != 0)
    return chosen;
  std::filesystem::path const python = ADAMANT_PEERS_DIRECTORY "/bin/python";
  if (::access(python.c_str(), X_OK) == 0)
    return fmt::format("exec '{}' -m adamant_torch", python.string());
  throw MachineLacks(fmt::format(
      "engine torch needs PyTorch and its adapter: run `.ci/setup --peers`, which puts them into "
      "{}, or give the command that starts the adapter in ADAMANT_TORCH",
      ADAMANT_PEERS_DIRECTORY));
}

struct Introduction {
  Capabilities capabilities;
  std::string versions;
};

// What was once asked holds for forks as well: it is no process.
Introduction const& introduction_of(std::string_view engine) {
  static std::map<std::string, Introduction, std::less<>> known;
  if (auto const found = known.find(engine); found != known.end()) return found->second;
  expect_room_for_scratch();
  auto const client = make_client(engine);
  try {
    PeerReply const& hello = client->hello();
    Introduction introduction{.capabilities = replies::capabilities_of(hello),
                              .versions = replies::versions_of(hello)};
    return known.emplace(engine, std::move(introduction)).first->second;
  } catch (PeerError const& error) {
    throw MachineLacks(error.what());
  }
}

}  // namespace

PeerEngine::PeerEngine(PeerClient& client)
    : client_(client), capabilities_(replies::capabilities_of(client.hello())) {}

EngineEnd PeerEngine::execute(EngineTask const& task, Observer& observer) {
  try {
    return PeerRun(client_, capabilities_, task, observer).run();
  } catch (...) {
    client_.stop();  // nobody knows what it still does
    throw;
  }
}

bool is_peer(std::string_view engine) {
  return engine == "torch" || engine.starts_with(exec_prefix);
}

std::string command_of_peer(std::string_view engine) {
  if (engine == "torch") return command_of_torch();
  return std::string(engine.substr(exec_prefix.size()));
}

std::unique_ptr<ScenarioEngine> make_peer_engine(std::string_view engine) {
  auto& clients = clients_of_this_process();
  auto found = clients.find(engine);
  if (found == clients.end()) found = clients.emplace(engine, make_client(engine)).first;
  return std::make_unique<PeerEngine>(*found->second);
}

Capabilities const& capabilities_of_peer(std::string_view engine) {
  return introduction_of(engine).capabilities;
}

std::string const& versions_of_peer(std::string_view engine) {
  return introduction_of(engine).versions;
}

}  // namespace adamant::scenarios
