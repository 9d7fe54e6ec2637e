// One scenario on an engine in another process: its operations as requests, one world after the
// other, with what goes wrong on purpose in between. What the answers mean for the laws is the
// observer's part.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/peer_files.h"
#include "scenarios/peers/client/peer_world.h"
#include "scenarios/peers/client/scratch.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class PeerRun {
 public:
  /// REQUIRES: all that is referred to outlives it.
  PeerRun(PeerClient& client, Capabilities const& capabilities, EngineTask const& task,
          Observer& observer);

  /// Errors: PeerError; what the observer throws.
  EngineEnd run();

 private:
  using Json = PeerClient::Json;

  void execute_program();
  /// One operation that is no load, and the look at what it led to.
  void execute(Primitive const& operation);
  void backward(resolved::Backward const& backward, int entry);
  void save(Primitive const& operation, std::string const& checkpoint);
  /// Waits for a save that the engine has not finished. False where it failed.
  bool finish_save();
  void load(Primitive const& operation, resolved::Load const& load);
  /// `load` is what the world is opened for at that entry, or null for the first.
  bool open(resolved::Load const* load, int entry);
  /// The norm that a load brought.
  void put_in_force();
  /// Sends a request about all ranks. Null where one of them failed: then the world is gone and the
  /// run is over.
  std::optional<PeerReply> ask(std::string_view verb, Json fields, int entry);
  void fail(std::string_view verb, std::vector<RankOutcome> const& outcomes, int entry);
  void refuse(Primitive const& load, std::vector<RankOutcome> const& outcomes, bool holds);
  void crash(Primitive const& save, bool returned);
  std::optional<OverflowElement> overflow_in_this(resolved::Backward const& backward) const;
  /// The rank whose shard holds an element, where an overflow is to strike a shard and not a sum.
  std::optional<int> owner_of(std::optional<OverflowElement> const& overflow) const;
  /// Has the observer look at what an operation led to.
  void show(Primitive const& operation);
  void fold();

  PeerClient& client_;
  Capabilities const& capabilities_;
  EngineTask const& task_;
  Observer& observer_;
  ScratchRoom room_;
  PeerFiles files_;
  std::vector<ParameterSpec> parameters_;  // of this world, in the order of the scenario
  Scenario setting_ = {};
  std::unique_ptr<PeerWorld> world_;  // null after a crash, or a failure
  ProgramWalk walk_;
  bool overflowed_ = false;  // a backward since the last zero_grad
  bool go_on_ = true;
  EngineEnd end_;
};

/// The format of a rank's gradients before they are reduced.
NumberFormat unreduced_format(Formats const& formats, GradientType type);

}  // namespace adamant::scenarios
