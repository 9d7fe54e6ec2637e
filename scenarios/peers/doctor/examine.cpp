#include "scenarios/peers/doctor/examine.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/client/scratch.h"
#include "scenarios/peers/doctor/scenario_probes.h"
#include "scenarios/peers/doctor/talk.h"
#include "scenarios/peers/doctor/transport_probes.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

constexpr char const* hello_name = "hello says what it offers";

class Examination {
 public:
  Examination(std::string engine, ProbeReader const& read)
      : patient_{.engine = std::move(engine), .command = {}, .offered = {}}, read_(read) {}

  std::vector<Probe> run() {
    patient_.command = command_of_peer(patient_.engine);
    expect_room_for_scratch();
    if (!take_hello()) return std::move(probes_);
    look_at_transport();
    for (ProbePlan const& plan : plans_for(patient_.offered))
      if (!interrupted()) add(run_plan(plan, patient_.offered, patient_.engine));
    return std::move(probes_);
  }

 private:
  void look_at_transport() {
    Visit visit(patient_);
    for (TransportProbe const& probe : transport_probes(patient_.offered))
      if (!interrupted()) add(run_probe(probe, visit));
  }

  void add(Probe probe) {
    if (interrupted()) return;  // what it says then is that it was
    read_(probe);
    probes_.push_back(std::move(probe));
  }

  /// False where there is nothing to go on from.
  bool take_hello() {
    try {
      Talk talk(patient_.command);
      auto const hello = first_reply(talk);
      if (hello.value("outcome", "") != "ok")
        throw ProbeFailed("hello: expected outcome ok, found " + excerpt(hello.dump()));
      patient_.offered = replies::capabilities_of({.json = hello, .where = "hello"});
      add({.name = hello_name});
      return true;
    } catch (ProbeFailed const& failed) {
      add({.name = hello_name, .outcome = Probe::Outcome::failed, .text = failed.what()});
    } catch (PeerError const& error) {
      add({.name = hello_name, .outcome = Probe::Outcome::failed, .text = error.what()});
    }
    return false;
  }

  Talk::Json first_reply(Talk& talk) const {
    try {
      return talk.hello();
    } catch (PeerError const& error) {
      std::string const words = talk.process().last_words();
      throw MachineLacks(fmt::format("engine {} cannot be started: {}{}{}", patient_.engine,
                                     error.what(), words.empty() ? "" : "; it wrote: ", words));
    }
  }

  Patient patient_;
  ProbeReader const& read_;
  std::vector<Probe> probes_;
};

}  // namespace

std::string_view name_of(Probe::Outcome outcome) {
  constexpr std::string_view names[] = {"ok", "failed", "not offered"};
  return names[static_cast<int>(outcome)];
}

std::vector<Probe> examine_engine(std::string const& engine, ProbeReader const& read) {
  return Examination(engine, read).run();
}

}  // namespace adamant::scenarios
