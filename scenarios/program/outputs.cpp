#include "scenarios/program/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "scenarios/language/plain_text.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/report/json.h"
#include "scenarios/report/junit.h"
#include "scenarios/report/trace/formats.h"
#include "scenarios/report/trace/marks.h"

namespace adamant::scenarios {

namespace {

std::FILE* text_stream(Arguments const& arguments) {
  for (Output const& output : outputs_of(arguments))
    if (is_standard_output(output.path)) return stderr;
  return stdout;
}

}  // namespace

Outputs::Outputs(Arguments const& arguments) : command_(arguments.command->name) {
  if (arguments.json) json_.emplace(*arguments.json);
  if (arguments.junit) junit_.emplace(*arguments.junit);
}

void Outputs::commit(StrictJson const& document, std::span<Reported const> results) {
  if (json_) json_->commit(to_text(document));
  if (junit_) junit_->commit(to_junit(command_, results));
}

StrictJson with_interrupt(StrictJson document) {
  if (interrupted()) document["interrupted"] = true;
  return document;
}

StrictJson to_json(std::span<Reported const> results) {
  auto array = StrictJson::array();
  for (Reported const& reported : results) {
    array.push_back(to_json(reported.result));
    if (!reported.minimized) array.back()["minimized"] = false;
    if (!reported.result.met) array.back()["replay"] = reported.replay;
  }
  return array;
}

Style style_of(Arguments const& arguments) {
  return {.verbosity = arguments.verbosity,
          .colored = wants_color(arguments.color, ::isatty(::fileno(text_stream(arguments))) == 1)};
}

namespace {

/// Does GitHub Actions read what is printed?
bool wants_annotations() {
  char const* const said = std::getenv("GITHUB_ACTIONS");
  return said != nullptr && std::string_view(said) == "true";
}

}  // namespace

std::string annotated(Reported const& reported) {
  return !reported.result.met && wants_annotations() ? annotation(reported) : "";
}

std::string told(Reported const& reported, Style const& style) {
  return describe(reported, style) + annotated(reported);
}

bool wants_progress(Arguments const& arguments) {
  return arguments.verbosity != Verbosity::quiet && ::isatty(STDERR_FILENO) == 1;
}

void print(Arguments const& arguments, std::string_view text) {
  std::FILE* const stream = text_stream(arguments);
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

void complain(std::string_view message) {
  std::fputs((printable_lines(message) + "\n").c_str(), stderr);
}

TraceOutput::TraceOutput(Arguments const& arguments) : path_(arguments.trace.value_or("")) {
  if (arguments.trace) file_.emplace(path_);
}

Status TraceOutput::write(RunResult const& result) {
  if (!file_) return Status::met;
  if (!result.timeline.empty()) {
    file_->commit(to_trace(path_, result));
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
