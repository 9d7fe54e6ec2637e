// What a doctor asks of an engine that no scenario can: lines that are no requests, requests at the
// wrong time, the form of every reply and of every file, and what is left of it afterwards.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/doctor/probe.h"
#include "scenarios/model/capabilities.h"

namespace adamant::scenarios {

/// The engine that is looked at.
struct Patient {
  std::string engine;   // as --engine names it
  std::string command;  // that starts it
  Capabilities offered;
};

struct TransportProbe {
  std::string name;
  bool offered = true;
  /// Errors: ProbeFailed, PeerError.
  std::function<void(Patient const&)> look;
};

std::vector<TransportProbe> transport_probes(Capabilities const& offered);

/// Runs one of them, on a process of its own.
Probe run_probe(TransportProbe const& probe, Patient const& patient);

}  // namespace adamant::scenarios
