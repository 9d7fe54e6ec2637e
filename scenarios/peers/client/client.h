// One engine outside the process, as a conversation: requests are numbered, replies belong to them,
// and what does not is an error that names the request. It starts the engine's process when it is
// needed, and anew after it broke. The protocol is scenarios/engine.schema.json.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "scenarios/peers/client/process.h"
#include "scenarios/peers/client/recording.h"

namespace adamant::scenarios {

/// How long may be waited for whom.
struct PeerBounds {
  std::chrono::seconds hello{60};  // imports of a large framework
  std::chrono::seconds rank{15};   // the engine's own bound of each wait for a rank
  std::chrono::seconds reply{25};

  /// Those where nothing is waited for longer than `longest`: that a rank is late has to be
  /// answered in time, so it gets three fifths.
  static PeerBounds of(std::chrono::seconds longest);
};

/// The bounds of all engines that this process starts from now on, as those that it forks do.
void set_peer_bounds(PeerBounds bounds);
PeerBounds const& peer_bounds();

/// A reply, and what it is a reply to, for messages: "engine torch: reply 3 (state)".
struct PeerReply {
  nlohmann::json json;
  std::string where;
};

class PeerClient {
 public:
  using Json = nlohmann::json;

  /// `name` is the engine as messages call it, `command` what starts it.
  PeerClient(std::string name, std::string command, PeerBounds bounds = {});

  /// Sends a request with these fields (an object) and returns its reply.
  ///
  /// Errors: PeerError, after which the process is gone: it did not answer in time, ended, or sent
  ///         what is no reply to this request; PeerLate where the process had to be started, and
  ///         did not say hello in time. std::system_error where no process can be made.
  PeerReply request(std::string_view verb, Json fields = Json::object());

  /// The reply to hello, of the process that runs now; it is started if none does.
  PeerReply const& hello();

  /// Keeps every request from now on, with its reply, as long as the client lives.
  void record(Conversation& into) { recorded_ = &into; }

  /// Ends the process; the next request starts another one.
  void stop() { process_.reset(); }

  std::string const& name() const { return name_; }
  PeerBounds const& bounds() const { return bounds_; }
  /// null between stop() and the next request.
  PeerProcess* process() { return process_.get(); }

 private:
  PeerReply converse(std::string_view verb, Json fields, std::chrono::seconds bound);
  [[noreturn]] void give_up(std::string_view verb, std::string const& what,
                            bool starts_late = false);

  std::string name_;
  std::string command_;
  PeerBounds bounds_;
  std::unique_ptr<PeerProcess> process_;
  std::int64_t id_ = -1;  // of the last request
  PeerReply hello_;
  Conversation* recorded_ = nullptr;
};

/// What a line says to the request of this number.
///
/// Errors: PeerError where it is no reply to it.
nlohmann::json reply_in(std::string_view line, std::int64_t id);

/// In a line that is no JSON: a number that Python's json.dumps writes bare, with its place and
/// what to write. Empty where there is none, or where more is wrong.
std::string bare_number_in(std::string_view line);

/// A value of a reply in words for messages: its text, cut where it is long.
std::string excerpt(std::string_view text);

}  // namespace adamant::scenarios
