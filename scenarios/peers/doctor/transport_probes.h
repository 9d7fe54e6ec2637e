// What a doctor asks of an engine that no scenario can: lines that are no requests, requests at the
// wrong time, the form of every reply and of every file, and what is left of it afterwards.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/doctor/probe.h"
#include "scenarios/peers/doctor/talk.h"
#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {

/// The engine that is looked at.
struct Patient {
  std::string engine;   // as --engine names it
  std::string command;  // that starts it
  Capabilities offered;
};

/// One probe after another on one process, because its imports may take longer than all of them.
class Visit {
 public:
  explicit Visit(Patient patient) : patient_(std::move(patient)) {}

  Patient const& patient() const { return patient_; }
  /// A process that has said hello and has no world open.
  ///
  /// Errors: ProbeFailed, PeerError.
  Talk& talk();
  /// Nothing is certain any more: the next talk() is with another process.
  void end_talk() { talk_.reset(); }

 private:
  Patient patient_;
  std::unique_ptr<Talk> talk_;
};

struct TransportProbe {
  std::string name;
  bool offered = true;
  /// Errors: ProbeFailed, PeerError.
  std::function<void(Visit&)> look;
};

std::vector<TransportProbe> transport_probes(Capabilities const& offered);

Probe run_probe(TransportProbe const& probe, Visit& visit);

}  // namespace adamant::scenarios
