// The trace that `run` writes with --trace. What is in it is scenarios/report/trace's part.
#pragma once

#include <optional>

#include "scenarios/program/arguments.h"
#include "scenarios/report/output_file.h"
#include "scenarios/report/status.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

class TraceOutput {
 public:
  /// Without --trace nothing happens. Errors: CannotWrite.
  explicit TraceOutput(Arguments const& arguments);

  /// Writes the trace of the one scenario that was run. Where there is none the file stays as it
  /// was and a message says why: that is bad input where the engine has no simulated time.
  ///
  /// Errors: CannotWrite.
  Status write(RunResult const& result);

 private:
  std::optional<OutputFile> file_;
};

}  // namespace adamant::scenarios
