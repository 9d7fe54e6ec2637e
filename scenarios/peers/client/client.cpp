#include "scenarios/peers/client/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/language/json_text.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t excerpt_bytes = 120;
constexpr int protocol_version = 1;

PeerBounds bounds_here;

}  // namespace

std::string excerpt(std::string_view text) {
  if (text.size() <= excerpt_bytes) return std::string(text);
  return fmt::format("{}… ({} bytes)", text.substr(0, excerpt_bytes), text.size());
}

nlohmann::json reply_in(std::string_view line, std::int64_t id) {
  using Json = nlohmann::json;
  if (is_nested_too_deep(line)) throw PeerError(fmt::format("its answer is {}", nested_too_deep));
  Json reply = parse_json<Json>(line, /*may_throw=*/false);
  if (auto const number = reply.is_object() ? "" : bare_number_in(line); !number.empty())
    throw PeerError("its answer has " + number);
  if (!reply.is_object())
    throw PeerError(fmt::format("its answer is no JSON object: `{}`", excerpt(line)));
  if (reply.value("id", Json()) != id)
    throw PeerError(
        fmt::format("its answer has id {}; expected {}", reply.value("id", Json()).dump(), id));
  if (!reply.contains("outcome") || !reply["outcome"].is_string())
    throw PeerError(fmt::format("its answer has no outcome: `{}`", excerpt(line)));
  return reply;
}

PeerBounds PeerBounds::of(std::chrono::seconds longest) {
  return {.hello = longest,
          .rank = std::max(std::chrono::seconds(1), longest * 3 / 5),
          .reply = longest};
}

void set_peer_bounds(PeerBounds bounds) {
  bounds_here = bounds;
}

PeerBounds const& peer_bounds() {
  return bounds_here;
}

PeerClient::PeerClient(std::string name, std::string command, PeerBounds bounds)
    : name_(std::move(name)), command_(std::move(command)), bounds_(bounds) {}

PeerReply PeerClient::request(std::string_view verb, Json fields) {
  hello();
  return converse(verb, std::move(fields), bounds_.reply);
}

PeerReply const& PeerClient::hello() {
  if (process_) return hello_;
  process_ = std::make_unique<PeerProcess>(command_);
  id_ = -1;
  hello_ =
      converse("hello", {{"version", protocol_version}, {"timeout_seconds", bounds_.rank.count()}},
               bounds_.hello);
  Json const& said = hello_.json;
  if (said.value("outcome", "") != "ok") give_up("hello", "it says " + excerpt(said.dump()));
  if (said.value("version", Json()) != protocol_version)
    give_up("hello", fmt::format("it speaks version {} of the protocol; this program speaks {}",
                                 said.value("version", Json()).dump(), protocol_version));
  return hello_;
}

PeerReply PeerClient::converse(std::string_view verb, Json fields, std::chrono::seconds bound) {
  if (recorded_ != nullptr)
    recorded_->push_back(
        {.verb = std::string(verb), .fields = fields, .files = files_of(fields), .reply = {}});
  PeerProcess::Deadline const deadline(bound);
  fields["id"] = ++id_;
  fields["request"] = verb;
  try {
    process_->write_line(fields.dump(), deadline);
    PeerReply reply{.json = reply_in(process_->read_line(deadline), id_),
                    .where = fmt::format("engine {}: reply {} ({})", name_, id_, verb)};
    if (recorded_ != nullptr) {
      recorded_->back().reply = reply.json;
      recorded_->back().types = types_in(reply.json);
    }
    return reply;
  } catch (PeerLate const& error) {
    give_up(verb, error.what(), verb == "hello");
  } catch (PeerError const& error) {
    give_up(verb, error.what());
  }
}

void PeerClient::give_up(std::string_view verb, std::string const& what, bool starts_late) {
  std::string message = fmt::format("engine {}: request {} ({}): {}", name_, id_, verb, what);
  if (process_) {
    std::string const words = process_->last_words();
    bool const several = words.find('\n') != std::string::npos;
    if (!words.empty()) message += fmt::format("; it wrote:{}{}", several ? '\n' : ' ', words);
  }
  process_.reset();
  if (starts_late) throw PeerLate(message);
  throw PeerError(message);
}

}  // namespace adamant::scenarios
