// What an engine outside the process answers, taken apart: how each rank fared, what it holds, what
// a checkpoint's format lost. Anything that is not as the protocol says is an error that names the
// field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/client/client.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// How one rank fared.
struct RankOutcome {
  enum class Kind { ok, error, died, timed_out };
  Kind kind = Kind::ok;
  Ending ending = Ending::none;  // until it is known
  std::string text = "";         // of an error
  std::string type = "";         // likewise
  std::string status = "";       // of a process that ended; see Call
  Thrown thrown = {};            // of an error
};

/// One rank's word on one parameter.
struct ReportedShard {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> shape;
  std::int64_t steps = 0;
  bool has_gradient = false;
};

/// One rank's answer to `state`, without the numbers.
struct ReportedState {
  std::string file;
  std::vector<ReportedShard> shards;  // by parameter
  std::vector<AdamConfig> groups;
  RankScaling scaling;
};

namespace replies {

/// A group's settings as they were, for what a reply leaves out.
struct NamedGroup {
  std::string name;
  AdamConfig config;
};

/// What `hello` offers, apart from types that its arithmetic leaves nobody to judge.
///
/// Errors: PeerError.
Capabilities capabilities_of(PeerReply const& hello);

/// The versions that `hello` gives, by name: "python 3.11.2, torch 2.13.0".
///
/// Errors: PeerError.
std::string versions_of(PeerReply const& hello);

/// The arithmetic of a world: what `open` says, else what hello said.
///
/// Errors: PeerError where that is another than `te`, and `to_the_bit`.
Arithmetic arithmetic_of(PeerReply const& open, Arithmetic usual, bool to_the_bit = false);

/// An engine's offers without what its arithmetic leaves nobody to judge.
std::vector<PrecisionOffer> judged(std::vector<PrecisionOffer> offers, Arithmetic arithmetic);

/// Has it types that only arithmetic `te` judges: with scales, or split into two tensors?
bool needs_bits(Precision const& precision);

/// How every rank fared, in their order. Where the launcher itself failed, all did.
///
/// Errors: PeerError where there are not `count` of them.
std::vector<RankOutcome> outcomes_of(PeerReply const& reply, int count);

/// What each rank holds now. `before` has everything that a reply leaves out: mode and bias
/// correction of groups.
///
/// Errors: PeerError.
std::vector<ReportedState> states_of(PeerReply const& reply,
                                     std::vector<ParameterSpec> const& parameters,
                                     std::vector<NamedGroup> const& before, int count);

/// The text that stands under a key; "" where there is none.
std::string text_in(nlohmann::json const& object, char const* key);

/// What stands under a key that may be left out.
///
/// Errors: PeerError where that is neither true nor false.
bool flag_of(PeerReply const& reply, std::string_view key);

/// "not_carried" of a reply to save or load.
std::vector<std::string> not_carried_of(PeerReply const& reply);

}  // namespace replies

}  // namespace adamant::scenarios
