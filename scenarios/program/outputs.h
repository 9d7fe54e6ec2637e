// The files that a command was asked for: opened before any work, so that an impossible place is
// known at once, and written whole at the end.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "scenarios/language/json_text.h"
#include "scenarios/program/arguments.h"
#include "scenarios/report/output_file.h"
#include "scenarios/report/status.h"
#include "scenarios/report/text.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

class Outputs {
 public:
  /// Errors: CannotWrite.
  explicit Outputs(Arguments const& arguments);

  /// Errors: CannotWrite.
  void commit(StrictJson const& document, std::span<Reported const> results = {});

 private:
  std::string_view command_;
  std::optional<OutputFile> json_;
  std::optional<OutputFile> junit_;
};

/// The document of a command that ends where it is interrupted: it says whether it was.
StrictJson with_interrupt(StrictJson document);

/// The array `results` of a document, each with its line to paste where it failed.
StrictJson to_json(std::span<Reported const> results);

/// How results look on this standard output.
Style style_of(Arguments const& arguments);
/// What shows a failure, at its file where it has one; empty where GitHub Actions does not read
/// what is printed.
std::string annotated(Reported const& reported);
/// describe() and annotated().
std::string told(Reported const& reported, Style const& style);
/// Is somebody watching the standard error?
bool wants_progress(Arguments const& arguments);

/// Prints text for people and flushes, so that output and messages come in order. It goes to the
/// standard output, or to the standard error where a document takes that.
void print(Arguments const& arguments, std::string_view text);
/// One message on the standard error, as a terminal may be given it.
void complain(std::string_view message);

/// The path that `write` wrote to; nothing where it could not, which is said and makes the status
/// worse. What was found is worth more than its file: who wrote it goes on and tells it.
template <typename Write>
std::filesystem::path told_if_unwritten(Status& status, Write write) {
  try {
    return write();
  } catch (CannotWrite const& error) {
    complain(error.what());
    status = worse(status, Status::bad_input);
    return {};
  }
}

/// The trace that `run` writes with --trace. What is in it is scenarios/report/trace's part.
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
  std::filesystem::path path_;
  std::optional<OutputFile> file_;
};

}  // namespace adamant::scenarios
