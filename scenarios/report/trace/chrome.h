// A run's timeline in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open: a
// process for every rank, a thread for its host, each of its streams and copy engines, flows for
// what comes after what, instants where a law was broken.
//
// Source: "Trace Event Format" (Google, 2016), JSON object format; phases X, M, s, f and i.
#pragma once

#include <string>

#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// REQUIRES: the result has a timeline.
std::string to_chrome_trace(RunResult const& result);

}  // namespace adamant::scenarios
