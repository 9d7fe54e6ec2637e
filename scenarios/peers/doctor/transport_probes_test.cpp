// Each probe finds the engine that fails it, and finds nothing in one that does not.
#include "scenarios/peers/doctor/transport_probes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/doctor/talk.h"
#include "scenarios/peers/doctor/testing/engines.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;

class TransportProbes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_python()) GTEST_SKIP() << no_python;
    set_peer_bounds({.hello = 5s, .rank = 2s, .reply = 2s});  // nobody waits for silence
  }
  void TearDown() override { set_peer_bounds({}); }
};

/// What all of these engines say that they offer.
Capabilities const& offered_by_all() {
  static Capabilities const offered =
      replies::capabilities_of({.json = Talk(stub_command()).hello(), .where = "hello"});
  return offered;
}

Patient patient_of(std::string const& command) {
  return {.engine = "exec:" + command, .command = command, .offered = offered_by_all()};
}

/// The names of the probes that fail, each with its text.
std::string found_in(std::string const& command, std::string const& only = "") {
  Visit visit(patient_of(command));
  std::string text;
  for (TransportProbe const& probe : transport_probes(visit.patient().offered)) {
    if (probe.name.find(only) == std::string::npos) continue;
    Probe const result = run_probe(probe, visit);
    if (result.outcome == Probe::Outcome::failed) text += result.name + ": " + result.text + "\n";
  }
  return text;
}

TEST_F(TransportProbes, FindNothingInTheStub) {
  EXPECT_EQ(found_in(stub_command()), "");
}

TEST_F(TransportProbes, AreNotOfferedToWhoCannotCrash) {
  Visit visit(patient_of(stub_command()));
  auto const probes = transport_probes(visit.patient().offered);
  auto const crash = std::find_if(probes.begin(), probes.end(), [](TransportProbe const& probe) {
    return probe.name == "a crash leaves the launcher alive";
  });
  ASSERT_NE(crash, probes.end());
  EXPECT_EQ(run_probe(*crash, visit).outcome, Probe::Outcome::not_offered);
}

TEST_F(TransportProbes, FindThatACrashIsNone) {
  Patient patient = patient_of(stub_command());
  patient.offered.can_crash = true;
  Visit visit(patient);
  for (TransportProbe const& probe : transport_probes(patient.offered)) {
    if (probe.name != "a crash leaves the launcher alive") continue;
    std::string const text = run_probe(probe, visit).text;
    EXPECT_EQ(text.rfind("a save with a crash of rank 0: expected outcome died of it, found", 0),
              0U)
        << text;
  }
}

/// What is wrong with an engine, the probe that has to find it, and a part of what it says.
struct Case {
  char const* how;
  char const* probe;
  char const* text;
};

std::ostream& operator<<(std::ostream& out, Case const& at) {
  return out << at.how;
}

class HostileEngine : public TransportProbes, public ::testing::WithParamInterface<Case> {};

TEST_P(HostileEngine, IsFound) {
  auto const& [how, probe, text] = GetParam();
  std::string const found = found_in(hostile_command(how), probe);
  EXPECT_NE(found.find(text), std::string::npos) << found;
}

constexpr char const* form = "replies and files have their form";

INSTANTIATE_TEST_SUITE_P(
    All, HostileEngine,
    ::testing::Values(
        Case{"nonsense close", "an unknown request", "expected a JSON object in answer to"},
        Case{"no_object open", form, "found `[1, 2]`"},
        Case{"half_a_line open", form, "half a line"},
        Case{"half_a_line_and_out open", form, "then it ended with exit status 0"},
        Case{"never step", form, "did not answer within 2 s (--peer-timeout)"},
        Case{"exits open", form, "exit status 3"}, Case{"killed open", form, "signal 9"},
        Case{"wrong_id step", form, "step: expected the id 4 of the request, found 77"},
        Case{"no_outcome step", form, "step: the reply: expected the field `outcome`"},
        Case{"fewer_ranks state", form, "a layout: expected 2 ranks, found 1"},
        Case{"other_rows state", form, "expected row"},
        Case{"other_rows open", form, "expected row"},
        Case{"one_died open", form, "open: expected outcome ok, found"},
        Case{"no_file state", form, "state-rank-0.safetensors"},
        Case{"lying_header state", form, "state-rank-0.safetensors"},
        Case{"lying_offsets state", form, "state-rank-0.safetensors"},
        Case{"lying_shape state", form, "shape"},
        Case{"falls_silent_on_nonsense any", "the line nonsense",
             "did not answer within 5 s (--peer-timeout)"},
        Case{"odd_outcome_on_nonsense any", "the line nonsense",
             "expected an error of type `protocol`, found {"},
        Case{"odd_outcome_on_nonsense any", "the line [1, 2]", "`protocol`, found {"},
        Case{"odd_outcome_on_nonsense any", "the line {}", "`protocol`, found {"},
        Case{"odd_outcome_on_nonsense any", "the line {\"request\"", "`protocol`, found {"},
        Case{"numbered_nonsense any", "the line nonsense", "expected the id null, found 0"},
        Case{"any_version hello", "another version", "a hello of version 0: expected an error"},
        Case{"anything dance", "an unknown request", "the request `dance`: expected an error"},
        Case{"any_step step", "requests without a world", "a step without a world: expected"},
        Case{"any_later_step step", "requests without a world", "a step after close: expected"},
        Case{"anything zero_grad", "requests without a world", "a zero_grad without a world"},
        Case{"leaves_child open", "when its input ends", "input ended: expected no process"},
        Case{"any_open open", "a missing field", "an open without `params`: expected"},
        Case{"any_open open", "a missing file", "not there: expected outcome error"},
        Case{"one_world open", "a second open", "there is one already"},
        Case{"stays open", "when it is killed", "expected no process after 2 s"},
        Case{"vast_rows state", form, "expected an integer, found 9223372036854775808"},
        Case{"deep open", form, "the answer is nested deeper than 64 lists and objects"},
        Case{"stays open", "when its input ends", "expected its end within 2 s"}));

}  // namespace
}  // namespace adamant::scenarios
