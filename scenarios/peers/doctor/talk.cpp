#include "scenarios/peers/doctor/talk.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/language/json_text.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/doctor/json_schema.h"
#include "scenarios/peers/doctor/probe.h"

namespace adamant::scenarios {

namespace {

/// A reply may differ from the schema in very many places at once.
constexpr std::size_t mismatches_shown = 4;

std::string text_of(std::vector<Mismatch> const& mismatches) {
  std::string text;
  for (std::size_t i = 0; i < std::min(mismatches.size(), mismatches_shown); ++i) {
    Mismatch const& one = mismatches[i];
    text += fmt::format("{}{}: expected {}, found {}", text.empty() ? "" : "; ",
                        one.where.empty() ? "the reply" : one.where, one.expected, one.found);
  }
  if (mismatches.size() > mismatches_shown)
    text += fmt::format("; and {} more", mismatches.size() - mismatches_shown);
  return text;
}

}  // namespace

Talk::Talk(std::string const& command) : bounds_(peer_bounds()), process_(command) {}

Talk::Json Talk::say(std::string_view line) {
  // The first answer may have to wait for imports.
  PeerProcess::Deadline const deadline(next_id_ <= 1 ? bounds_.hello : bounds_.reply);
  process_.write_line(line, deadline);
  std::string const answer = process_.read_line(deadline);
  if (is_nested_too_deep(answer))
    throw ProbeFailed(fmt::format("the answer is {}", nested_too_deep));
  Json reply = parse_json<Json>(answer, /*may_throw=*/false);
  if (auto const number = reply.is_object() ? "" : bare_number_in(answer); !number.empty())
    throw ProbeFailed("the answer has " + number);
  if (!reply.is_object())
    throw ProbeFailed(fmt::format("expected a JSON object in answer to `{}`, found `{}`",
                                  excerpt(line), excerpt(answer)));
  return reply;
}

Talk::Json Talk::ask(std::string_view verb, Json fields) {
  fields["id"] = next_id_++;
  fields["request"] = verb;
  Json reply = say(fields.dump());
  auto const mismatches = engine_schema().mismatches(reply, fmt::format("{}_reply", verb));
  if (!mismatches.empty()) throw ProbeFailed(fmt::format("{}: {}", verb, text_of(mismatches)));
  if (reply["id"] != fields["id"])
    throw ProbeFailed(fmt::format("{}: expected the id {} of the request, found {}", verb,
                                  fields["id"].dump(), reply["id"].dump()));
  return reply;
}

Talk::Json Talk::ask_ok(std::string_view verb, Json fields) {
  Json reply = ask(verb, std::move(fields));
  if (reply["outcome"] != "ok")
    throw ProbeFailed(
        fmt::format("{}: expected outcome ok, found {}", verb, excerpt(reply.dump())));
  return reply;
}

void expect_protocol_error(Talk::Json const& reply, std::string_view after) {
  auto const error = reply.value("error", Talk::Json());
  bool const is_one = reply.value("outcome", Talk::Json()) == "error" && error.is_object() &&
                      error.value("type", Talk::Json()) == "protocol";
  if (!is_one)
    throw ProbeFailed(fmt::format("{}: expected an error of type `protocol`, found {}", after,
                                  excerpt(reply.dump())));
}

}  // namespace adamant::scenarios
