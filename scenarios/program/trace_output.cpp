#include "scenarios/program/trace_output.h"

#include <fmt/format.h>

#include "scenarios/program/outputs.h"
#include "scenarios/report/trace/chrome.h"
#include "scenarios/report/trace/marks.h"

namespace adamant::scenarios {

TraceOutput::TraceOutput(Arguments const& arguments) {
  if (arguments.trace) file_.emplace(*arguments.trace);
}

Status TraceOutput::write(RunResult const& result) {
  if (!file_) return Status::met;
  if (!result.timeline.empty()) {
    file_->commit(to_chrome_trace(result));
    return Status::met;
  }
  if (has_simulated_time(result.engine)) {
    complain("--trace: nothing is written: nothing was run, or not in the same way again");
    return Status::met;
  }
  complain(
      fmt::format("--trace: nothing is written: engine {} has no simulated time; "
                  "sim and sim-unchecked have",
                  result.engine));
  return Status::bad_input;
}

}  // namespace adamant::scenarios
