#include "scenarios/peers/doctor/transport_probes.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "scenarios/peers/client/process.h"
#include "scenarios/peers/doctor/small_world.h"
#include "scenarios/peers/doctor/talk.h"
#include "scenarios/peers/doctor/traces.h"

namespace adamant::scenarios {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds end_max{2};
constexpr std::chrono::milliseconds nap{10};

/// It has understood what was wrong, and goes on.
void expect_alive(Talk& talk) {
  talk.ask_ok("close");
}

void other_version(Visit& visit) {
  Talk talk(visit.patient().command);
  expect_protocol_error(talk.ask("hello", {{"version", 0}}), "a hello of version 0");
}

void line_that_is_none(Visit& visit, std::string const& line) {
  Talk& talk = visit.talk();
  Json const reply = talk.say(line);
  expect_protocol_error(reply, fmt::format("the line `{}`", line));
  if (!reply.contains("id") || !reply["id"].is_null())
    throw ProbeFailed(fmt::format("the line `{}`: expected the id null, found {}", line,
                                  reply.value("id", Json("none")).dump()));
  expect_alive(talk);
}

void unknown_request(Visit& visit) {
  Talk& talk = visit.talk();
  Json const reply = talk.say(R"({"id": 77, "request": "dance"})");
  expect_protocol_error(reply, "the request `dance`");
  if (reply.value("id", Json()) != 77)
    throw ProbeFailed("the request `dance`: expected its id 77, found " +
                      reply.value("id", Json()).dump());
  expect_alive(talk);
}

void requests_without_a_world(Visit& visit) {
  Talk& talk = visit.talk();
  expect_protocol_error(talk.ask("step"), "a step without a world");
  expect_protocol_error(talk.ask("zero_grad", {{"set_to_none", true}}),
                        "a zero_grad without a world");
  SmallWorld world(visit.patient());
  talk.ask_ok("open", world.open());
  talk.ask_ok("close");
  expect_protocol_error(talk.ask("step"), "a step after close");
  expect_alive(talk);
}

void missing_field(Visit& visit) {
  Talk& talk = visit.talk();
  SmallWorld world(visit.patient());
  Json open = world.open();
  open.erase("params");
  expect_protocol_error(talk.ask("open", open), "an open without `params`");
  talk.ask_ok("open", world.open());
  talk.ask_ok("state", world.state());
}

void every_reply(Visit& visit) {
  Talk& talk = visit.talk();
  SmallWorld world(visit.patient());
  world.check_layout(talk.ask_ok("open", world.open()));
  world.check_state(talk.ask_ok("state", world.state()));
  talk.ask_ok("backward", world.backward());
  if (visit.patient().offered.clip) talk.ask_ok("clip");
  talk.ask_ok("step");
  world.check_state(talk.ask_ok("state", world.state()));
  talk.ask_ok("zero_grad", {{"set_to_none", true}});
  for (Json const& change : world.changes()) talk.ask_ok("set", change);
  world.check_state(talk.ask_ok("state", world.state()));
  if (visit.patient().offered.save &&
      talk.ask_ok("save", world.directory()).value("unfinished", false))
    talk.ask_ok("finish");
  if (visit.patient().offered.save && visit.patient().offered.load)
    talk.ask_ok("load", world.directory());
  talk.ask_ok("close");
}

void second_open(Visit& visit) {
  Talk& talk = visit.talk();
  SmallWorld world(visit.patient());
  for (int i = 0; i < 2; ++i) talk.ask_ok("open", world.open());
  world.check_state(talk.ask_ok("state", world.state()));
}

void file_that_is_not_there(Visit& visit) {
  Talk& talk = visit.talk();
  SmallWorld world(visit.patient());
  Json open = world.open();
  open["initial"] = "/nonexistent/initial.safetensors";
  Json const reply = talk.ask("open", open);
  if (reply["outcome"] != "error")
    throw ProbeFailed("an open with a file that is not there: expected outcome error, found " +
                      excerpt(reply.dump()));
  talk.ask_ok("open", world.open());
}

void crash(Visit& visit) {
  Talk& talk = visit.talk();
  SmallWorld world(visit.patient());
  talk.ask_ok("open", world.open());
  Json save = world.directory();
  save["crash"] = {{"rank", 0}, {"operation", 0}};
  Json const reply = talk.ask("save", save);
  if (reply["outcome"] != "died" || reply.value("ranks", Json::array()).empty() ||
      reply["ranks"][0]["outcome"] != "died")
    throw ProbeFailed("a save with a crash of rank 0: expected outcome died of it, found " +
                      excerpt(reply.dump()));
  expect_protocol_error(talk.ask("step"), "a step after a crash");
  talk.ask_ok("open", world.open());
  world.check_state(talk.ask_ok("state", world.state()));
}

void expect_none_left(RunTrace const& trace, char const* after) {
  auto const deadline = Clock::now() + end_max;
  while (!trace.processes().empty() && Clock::now() < deadline) std::this_thread::sleep_for(nap);
  auto const left = trace.processes();
  if (!left.empty())
    throw ProbeFailed(fmt::format("{}: expected no process after {} s, found {} of them ({})",
                                  after, end_max.count(), left.size(), left.front()));
}

void end_of_input(Visit& visit) {
  RunTrace const trace;
  Talk talk(visit.patient().command);
  talk.hello();
  SmallWorld world(visit.patient());
  talk.ask_ok("open", world.open());
  if (!talk.process().ends_after_input(end_max))
    throw ProbeFailed(fmt::format("its input ended: expected its end within {} s, found it alive",
                                  end_max.count()));
  expect_none_left(trace, "its input ended");
}

void killed(Visit& visit) {
  RunTrace const trace;
  Talk talk(visit.patient().command);
  talk.hello();
  SmallWorld world(visit.patient());
  talk.ask_ok("open", world.open());
  trace.kill_launcher();
  talk.process().ends_after_input({});  // where that was but a shell around it
  expect_none_left(trace, "the launcher was killed");
}

}  // namespace

Talk& Visit::talk() {
  if (talk_) {
    expect_alive(*talk_);
    return *talk_;
  }
  talk_ = std::make_unique<Talk>(patient_.command);
  talk_->hello();
  return *talk_;
}

std::vector<TransportProbe> transport_probes(Capabilities const& offered) {
  std::vector<TransportProbe> probes{{.name = "another version is refused", .look = other_version}};
  for (char const* const line : {"nonsense", "[1, 2]", "{}", R"({"request": "step"})"})
    probes.push_back({.name = fmt::format("the line {} is an error, and it goes on", line),
                      .look = [line](Visit& visit) { line_that_is_none(visit, line); }});
  for (TransportProbe probe : std::initializer_list<TransportProbe>{
           {.name = "an unknown request is an error, and it goes on", .look = unknown_request},
           {.name = "requests without a world are errors", .look = requests_without_a_world},
           {.name = "a missing field is an error, and it goes on", .look = missing_field},
           {.name = "a missing file is an error, and it goes on", .look = file_that_is_not_there},
           {.name = "replies and files have their form", .look = every_reply},
           {.name = "a second open replaces the first world", .look = second_open},
           {.name = "a crash leaves the launcher alive",
           .offered = offered.can_crash,
           .look = crash},
           {.name = "nothing is left when its input ends", .look = end_of_input},
           {.name = "nothing is left when it is killed", .look = killed}})
    probes.push_back(std::move(probe));
  return probes;
}

Probe run_probe(TransportProbe const& probe, Visit& visit) {
  if (!probe.offered) return {.name = probe.name, .outcome = Probe::Outcome::not_offered};
  try {
    probe.look(visit);
    return {.name = probe.name};
  } catch (ProbeFailed const& failed) {
    visit.end_talk();
    return {.name = probe.name, .outcome = Probe::Outcome::failed, .text = failed.what()};
  } catch (PeerError const& error) {
    visit.end_talk();
    return {.name = probe.name, .outcome = Probe::Outcome::failed, .text = error.what()};
  } catch (Json::exception const& error) {  // of a reply that no schema was asked about
    visit.end_talk();
    return {.name = probe.name, .outcome = Probe::Outcome::failed, .text = error.what()};
  }
}

}  // namespace adamant::scenarios
