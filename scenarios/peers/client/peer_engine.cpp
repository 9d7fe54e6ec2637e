#include "scenarios/peers/client/peer_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/peers/client/peer_run.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/client/scratch.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

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

/// Every python3 in PATH as a shell finds them, then those of environments. An adapter's further
/// engines, as megatron_hybrid and torch_fsdp1, are where the adapter is.
std::vector<fs::path> pythons_for(std::string adapter) {
  std::vector<fs::path> found;
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    found.push_back(fs::path(folder) / "python3");
  for (std::size_t end = adapter.size(); end != std::string::npos; end = adapter.rfind('_')) {
    adapter.resize(end);
    std::string const environment = adapter == "torch" ? "peers" : "peers-" + adapter;
    found.push_back(fmt::format(ADAMANT_SOURCE_DIRECTORY "/build/{}/bin/python", environment));
  }
  return found;
}

/// Prints whether an adapter is there with what its engine needs: one distribution brings all
/// adapters, and has an extra for each. Nothing is imported, which may take seconds. The current
/// directory does not count: sources of an adapter are there without what it needs.
constexpr char const* adapter_probe = R"(
import importlib.metadata as m, importlib.util as u, re, sys
def needs(adapter):
    own = re.compile(r"([\w.-]+).* extra == .%s.$" % adapter.replace("_", "-"))
    found = [each[1] for each in map(own.match, m.requires("adamant-peers") or []) if each]
    return found or (needs(adapter.rpartition("_")[0]) if "_" in adapter else [])
sys.path[:] = filter(None, sys.path)
has = u.find_spec("adamant_" + sys.argv[1]) is not None
try:
    for need in needs(sys.argv[1]) if has else []:
        m.version(need)
except m.PackageNotFoundError as lack:
    has = lack.name == "adamant-peers"
print(has)
)";

bool has_adapter(fs::path const& python, std::string const& adapter) {
  if (::access(python.c_str(), X_OK) != 0) return false;
  try {
    PeerProcess asked(fmt::format("exec {} -c {} {}", shell_quoted(python.string()),
                                  shell_quoted(adapter_probe), shell_quoted(adapter)));
    return asked.read_line(PeerProcess::Deadline(peer_bounds().hello)) == "True";
  } catch (PeerError const&) {  // it is no Python that runs
    return false;
  }
}

std::string command_of_adapter(std::string const& name) {
  std::string adapter = name;
  std::replace(adapter.begin(), adapter.end(), '-', '_');
  std::string const module = "adamant_" + adapter;
  for (fs::path const& python : pythons_for(adapter))
    if (has_adapter(python, adapter))
      return fmt::format("exec {} -m {}", shell_quoted(python.string()), module);
  throw MachineLacks(fmt::format(
      "engine `{0}`{1}: no python3 in PATH has its adapter, the module {2}, and what that needs; "
      "in {3} `.ci/setup --peers {0}` installs it, or says which there are",
      name, suggest(name, engine_names), module, ADAMANT_SOURCE_DIRECTORY));
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

/// Whose process starts late says nothing of itself: it is this machine that is busy.
PeerReply const& hello_of(PeerClient& client) {
  try {
    return client.hello();
  } catch (PeerLate const& error) {
    throw StartsLate(error.what());
  }
}

}  // namespace

PeerEngine::PeerEngine(PeerClient& client)
    : client_(client), capabilities_(replies::capabilities_of(hello_of(client))) {}

EngineEnd PeerEngine::execute(EngineTask const& task, Observer& observer) {
  hello_of(client_);
  try {
    return PeerRun(client_, capabilities_, task, observer).run();
  } catch (AdapterFailed const& error) {
    client_.stop();
    throw MachineLacks(fmt::format("{}{}{}", error.what(), capabilities_.notes.empty() ? "" : "; ",
                                   fmt::join(capabilities_.notes, "; ")));
  } catch (...) {
    client_.stop();  // nobody knows what it still does
    throw;
  }
}

std::string command_of_peer(std::string_view engine) {
  if (is_command(engine)) return std::string(engine.substr(exec_prefix.size()));
  char const* const chosen = engine == "torch" ? std::getenv("ADAMANT_TORCH") : nullptr;
  if (chosen != nullptr && *chosen != 0) return chosen;
  static std::map<std::string, std::string, std::less<>> found;
  if (!found.contains(engine)) found.emplace(engine, command_of_adapter(std::string(engine)));
  return found.find(engine)->second;
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
