// A run's timeline in the formats that others' programs open: a row each.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// In the Trace Event Format, which ui.perfetto.dev and chrome://tracing open: a
/// process for every rank, a thread for its host, each of its streams and copy engines, flows for
/// what comes after what, instants where a law was broken.
///
/// Source: "Trace Event Format" (Google, 2016), JSON object format; phases X, M, s, f and i.
///
/// REQUIRES: the result has a timeline.
std::string to_chrome_trace(RunResult const& result);

struct TraceFormat {
  std::string_view ending;  // of files that are written in it
  std::string (*write)(RunResult const& result);
};

/// Files with other endings are written as by the first.
inline constexpr TraceFormat trace_formats[] = {{".json", to_chrome_trace}};

inline std::string to_trace(std::filesystem::path const& file, RunResult const& result) {
  auto const* const format =
      std::ranges::find(trace_formats, file.extension().string(), &TraceFormat::ending);
  return (format == std::end(trace_formats) ? trace_formats[0] : *format).write(result);
}

}  // namespace adamant::scenarios
