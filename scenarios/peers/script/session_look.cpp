#include "scenarios/peers/script/session_look.h"

#include <string>
#include <string_view>

#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/script/session_state.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios::script {

namespace {

using Reply = nlohmann::json;

/// The last request of that name; any where it is empty.
std::size_t last_request(Session const& session, std::string_view verb) {
  for (std::size_t i = session.exchanges.size(); i-- > 0;) {
    Exchange const& exchange = session.exchanges[i];
    if (verb.empty() ? exchange.verb != "close" : exchange.verb == verb) return i;
  }
  throw NoScript("the session has no such request");
}

/// What a rank said that failed, first those that say why.
Reply const* failure_in(Reply const& reply) {
  for (char const* const outcome : {"error", "died", "timed_out"}) {
    if (reply.contains("ranks") && !reply["ranks"].empty()) {
      for (Reply const& rank : reply["ranks"])
        if (rank.value("outcome", "") == outcome) return &rank;
    } else if (reply.value("outcome", "") == outcome) {
      return &reply;
    }
  }
  return nullptr;
}

/// What the same failure says once more.
Json what_stays(Reply const& failure) {
  std::string const outcome = failure.value("outcome", "");
  Json like{{"outcome", outcome}};
  for (char const* const status : {"signal", "exit_status"})
    if (outcome == "died" && failure.contains(status)) like[status] = failure[status];
  if (outcome != "error" || !failure.contains("error")) return like;
  for (char const* const what : {"type", "cause"})
    if (std::string const said = replies::text_in(failure["error"], what); !said.empty())
      like[what] = said;
  return like;
}

Json look_of_failure(Session const& session, std::string_view verb) {
  std::size_t const at = last_request(session, verb);
  Exchange const& exchange = session.exchanges[at];
  auto const* const failure = exchange.reply ? failure_in(*exchange.reply) : nullptr;
  if (failure == nullptr) throw NoScript("the request that fails is not answered as a failure");
  return {{"kind", "failure"},
          {"request", at},
          {"place", exchange.verb},
          {"expected", "no failure"},
          {"like", what_stays(*failure)}};
}

Json look_of_calls(Session const& session, Violation const& violation) {
  Breach const breach = violation.breach;
  if (breach == Breach::failed || breach == Breach::no_answer) {
    auto const* const call = about<Call>(violation);
    return look_of_failure(session, call == nullptr ? "" : call->verb);
  }
  if (breach == Breach::not_loaded) return look_of_failure(session, "load");
  if (breach == Breach::damage_unnoticed || breach == Breach::damage_misjudged)
    return {{"kind", "no_failure"},
            {"request", last_request(session, "load")},
            {"place", "load"},
            {"expected", "an error of type damaged_checkpoint"}};
  throw NoScript("no reply of the engine shows it by itself: " + message_of(violation));
}

Json look_at_files(Session const& session, Violation const& violation) {
  auto const [checkpoint, pattern] = files_like(violation);
  bool const closes = session.exchanges[*session.second - 1].verb == "close";
  std::size_t const first = *session.second - (closes ? 2 : 1);
  std::size_t const last = session.exchanges.size() - 1;
  auto const side = [&pattern = pattern](std::size_t after, std::string const& name) {
    return Json{
        {"after", after}, {"look", "files"}, {"checkpoint", "$RUN/" + name}, {"pattern", pattern}};
  };
  return {{"kind", "runs"},
          {"request", last},
          {"place", place_of(violation)},
          {"sides",
           {{"expected", side(first, checkpoint)}, {"actual", side(last, "again-" + checkpoint)}}}};
}

}  // namespace

Json look_of(Session const& session) {
  std::size_t const last = session.exchanges.size() - 1;
  if (session.violation) {
    Violation const& violation = *session.violation;
    if (violation.law == Law::determinism_digest)
      return {{"kind", "repeated"}, {"request", last}, {"place", "the same run"}};
    if (violation.breach == Breach::other_file_in_run) return look_at_files(session, violation);
    bool const of_state =
        about<Tensor>(violation) != nullptr || about<StepCount>(violation) != nullptr ||
        about<ScalingNumber>(violation) != nullptr || about<GroupSettings>(violation) != nullptr;
    return of_state ? look_at_state(session, violation) : look_of_calls(session, violation);
  }
  Exchange const& exchange = session.exchanges.back();
  if (!exchange.reply)
    return {{"kind", "no_answer"},
            {"request", last},
            {"place", exchange.verb},
            {"expected", "an answer"}};
  bool const broke_off = exchange.verb == "state" && exchange.reply->value("outcome", "") != "ok";
  return look_of_failure(session, broke_off ? "state" : "load");
}

}  // namespace adamant::scenarios::script
