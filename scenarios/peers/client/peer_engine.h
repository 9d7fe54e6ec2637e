// Engines in other processes: adapters by name, and any program that speaks the protocol
// (scenarios/engine.schema.json).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "scenarios/language/engine_names.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// The process of an engine did not start in time: this machine is busy.
class StartsLate : public MachineLacks {
 public:
  using MachineLacks::MachineLacks;
};

class PeerEngine final : public ScenarioEngine {
 public:
  /// REQUIRES: the client outlives it.
  explicit PeerEngine(PeerClient& client);

  std::string_view name() const override { return client_.name(); }
  Capabilities capabilities() const override { return capabilities_; }
  /// Errors: PeerError where the engine does not keep to the protocol; MachineLacks where its
  /// adapter does not fit what is installed.
  EngineEnd execute(EngineTask const& task, Observer& observer) override;

 private:
  PeerClient& client_;
  Capabilities capabilities_;
};

/// The command that starts it; of `torch`, $ADAMANT_TORCH before what is installed.
///
/// Errors: MachineLacks where an adapter of that name is not installed, with what to do.
std::string command_of_peer(std::string_view engine);

/// The engine of that name, whose process lives as long as this one and serves one scenario after
/// the other. REQUIRES: is_peer(engine).
///
/// Errors: MachineLacks; PeerError.
std::unique_ptr<ScenarioEngine> make_peer_engine(std::string_view engine);

/// What the engine of that name offers. It is asked once, of a process that is gone when this
/// returns, so that workers may be forked. REQUIRES: is_peer(engine).
///
/// Errors: OutputError where the files of its runs have no place;
///         MachineLacks where it cannot be started or does not speak the protocol.
Capabilities const& capabilities_of_peer(std::string_view engine);
/// What the same answer says of its versions.
std::string const& versions_of_peer(std::string_view engine);

}  // namespace adamant::scenarios
