// A world of two ranks (or one, where no more are offered) as requests: its files are written here,
// and what a `state` answers is held to what was opened.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "scenarios/language/scenario.h"
#include "scenarios/peers/client/scratch.h"
#include "scenarios/peers/doctor/transport_probes.h"

namespace adamant::scenarios {

class SmallWorld {
 public:
  using Json = nlohmann::json;

  explicit SmallWorld(Patient const& patient);

  // ---- fields of requests ----
  Json open();
  Json backward();
  Json state() const;
  /// Of save and load.
  Json directory() const;
  /// One `set` per setting that may be changed.
  std::vector<Json> changes() const;

  /// Holds a reply to open or state to this world: a shard per parameter, in their order, which
  /// together are the whole.
  ///
  /// Errors: ProbeFailed.
  void check_layout(Json const& reply) const;

  /// The same of a state, and its files: the tensors that belong to the shards, in their shapes.
  ///
  /// Errors: ProbeFailed, PeerError for a file that cannot be read.
  void check_state(Json const& reply) const;

 private:
  void check_rows(Json const& reply, std::size_t parameter) const;
  void check_file(Json const& rank) const;

  Patient const& patient_;
  Scenario scenario_;
  std::vector<ParameterSpec> parameters_;
  ScratchRoom room_;
};

}  // namespace adamant::scenarios
