#include "scenarios/peers/script/session_look.h"

#include <fmt/format.h>

#include <string_view>

#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/session_state.h"
#include "scenarios/report/words/words.h"

namespace adamant::scenarios::script {

namespace {

using Json = nlohmann::json;

/// The last request of that name; any where it is empty.
std::size_t last_request(Session const& session, std::string_view verb) {
  for (std::size_t i = session.exchanges.size(); i-- > 0;) {
    Exchange const& exchange = session.exchanges[i];
    if (verb.empty() ? exchange.verb != "close" : exchange.verb == verb) return i;
  }
  throw NoScript("the session has no such request");
}

/// What a rank said that failed, first those that say why.
Json const* failure_in(Json const& reply) {
  for (char const* const outcome : {"error", "died", "timed_out"}) {
    if (reply.contains("ranks") && !reply["ranks"].empty()) {
      for (Json const& rank : reply["ranks"])
        if (rank.value("outcome", "") == outcome) return &rank;
    } else if (reply.value("outcome", "") == outcome) {
      return &reply;
    }
  }
  return nullptr;
}

std::string text_in(Json const& object, char const* key) {
  bool const there = object.is_object() && object.contains(key) && object[key].is_string();
  return there ? object[key].get<std::string>() : "";
}

/// What the same failure has in its reply once more, as Python writes that.
std::vector<std::string> words_of(Json const& failure) {
  std::string const outcome = failure.value("outcome", "");
  std::vector<std::string> words = {fmt::format("'outcome': '{}'", outcome)};
  for (char const* const status : {"signal", "exit_status"})
    if (outcome == "died" && failure.contains(status))
      words.push_back(fmt::format("'{}': {}", status, failure[status].dump()));
  if (outcome != "error" || !failure.contains("error")) return words;
  Json const& error = failure["error"];
  if (std::string const type = text_in(error, "type"); !type.empty())
    words.push_back(fmt::format("'type': '{}'", type));
  auto const said = error_words({.text = "Error: " + text_in(error, "text")});
  if (said.size() > 1) words.push_back(said[1]);
  return words;
}

Look look_of_failure(Session const& session, std::string_view verb) {
  std::size_t const at = last_request(session, verb);
  Exchange const& exchange = session.exchanges[at];
  Look look{.kind = Look::Kind::failure, .at = at, .place = exchange.verb};
  look.expected = "no failure";
  Json const* const failure = exchange.reply ? failure_in(*exchange.reply) : nullptr;
  if (failure == nullptr) throw NoScript("the request that fails is not answered as a failure");
  look.words = words_of(*failure);
  return look;
}

Look look_of_calls(Session const& session, Violation const& violation) {
  switch (violation.breach) {
    case Breach::failed:
    case Breach::no_answer: {
      auto const* const call = about<Call>(violation);
      return look_of_failure(session, call == nullptr ? "" : call->verb);
    }
    case Breach::not_loaded:
      return look_of_failure(session, "load");
    case Breach::damage_unnoticed:
    case Breach::damage_misjudged:
      return {.kind = Look::Kind::no_failure,
              .at = last_request(session, "load"),
              .place = "load",
              .expected = "an error of type damaged_checkpoint"};
    default:
      throw NoScript("no reply of the engine shows it by itself: " + message_of(violation));
  }
}

std::string digests_in(std::string_view kind, Violation const& violation, std::string_view name) {
  auto const [checkpoint, pattern] = files_like(violation);
  return fmt::format("{} = digests({}, {})", name,
                     python::quoted(fmt::format("{}-{}", kind, checkpoint)),
                     python::quoted(pattern));
}

Look look_at_files(Session const& session, Violation const& violation) {
  Look look{.kind = Look::Kind::runs,
            .at = session.exchanges.size() - 1,
            .place = place_of(violation),
            .reads_files = true};
  bool const closes = session.exchanges[*session.second - 1].verb == "close";
  look.kept.push_back({.at = *session.second - (closes ? 2 : 1),
                       .lines = {digests_in("checkpoint", violation, "expected")}});
  look.lines = {digests_in("again", violation, "actual")};
  return look;
}

}  // namespace

Look look_of(Session const& session) {
  if (session.violation) {
    Violation const& violation = *session.violation;
    if (violation.law == Law::determinism_digest)
      return {.kind = Look::Kind::repeated,
              .at = session.exchanges.size() - 1,
              .place = "the same run"};
    if (violation.breach == Breach::other_file_in_run) return look_at_files(session, violation);
    bool const of_state =
        about<Tensor>(violation) != nullptr || about<StepCount>(violation) != nullptr ||
        about<ScalingNumber>(violation) != nullptr || about<GroupSettings>(violation) != nullptr;
    return of_state ? look_at_state(session, violation) : look_of_calls(session, violation);
  }
  Exchange const& last = session.exchanges.back();
  if (!last.reply)
    return {.kind = Look::Kind::no_answer,
            .at = session.exchanges.size() - 1,
            .place = last.verb,
            .expected = "an answer"};
  bool const broke_off = last.verb == "state" && last.reply->value("outcome", "") != "ok";
  return look_of_failure(session, broke_off ? "state" : "load");
}

}  // namespace adamant::scenarios::script
