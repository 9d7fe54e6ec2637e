#include "scenarios/peers/script/kinds.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "scenarios/language/plain_text.h"
#include "scenarios/language/regular_file.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/peers/client/scratch.h"
#include "scenarios/peers/script/session_document.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

namespace {

std::string session_of(Scenario const& scenario, RunResult const& result,
                       Violation const* violation) {
  if (!is_peer(scenario.engine.name))
    throw NoScript(fmt::format(
        "the engine is {}; scripts show engines outside the process (--engine torch, or exec:)",
        scenario.engine.name));
  if (violation == nullptr && result.outcome == Outcome::refused && !result.failed_at)
    throw NoScript(fmt::format("the scenario was refused before anything ran ({}): {}",
                               result.reason, result.message));
  return script::document_of(script::record_session(scenario, result, violation));
}

constexpr std::uint64_t made_bytes_max = std::uint64_t{3} << 30;

/// Waits until it has ended well. What it printed last.
std::string make(std::string const& command) {
  PeerProcess maker(command + " && echo made");
  PeerProcess::Deadline const deadline(peer_bounds().hello);
  try {
    std::string words = "a script of the engine's own side";
    for (std::string line; (line = maker.read_line(deadline)) != "made";) words = line;
    return words;
  } catch (PeerError const& error) {
    std::string const said(last_lines(maker.last_words(), 1));
    throw NoScript(said.empty() ? error.what() : said);
  }
}

/// What `command`, word by word, makes of a document. What such a script says is not known here.
///
/// Errors: NoScript with what it says where it makes none, or does not end in time.
WrittenScript rendered(std::vector<std::string> const& command, std::string const& document) {
  ScratchRoom const room("script");
  auto const session = room.path() / "x.session.json";
  auto const script = room.path() / "x.py";
  auto const numbers = room.path() / "x.numbers.pt";
  std::ofstream(session) << document;
  std::string line;
  for (std::string const& word : command) line += shell_quoted(word) + " ";
  std::string words = make(fmt::format("{}{} -o {}", line, shell_quoted(session.string()),
                                       shell_quoted(script.string())));
  return {.text = read_regular_file(script, made_bytes_max).value_or(""),
          .words = std::move(words),
          .numbers = read_regular_file(numbers, made_bytes_max)};
}

}  // namespace

WrittenScript write_any_script(Scenario const& scenario, RunResult const& result,
                               Violation const* violation, LiesInFolder lies_in_folder) {
  std::string document = session_of(scenario, result, violation);
  try {
    auto const& command = capabilities_of_peer(scenario.engine.name).script;
    if (command.empty()) throw NoScript("the engine names nothing that makes a script of it");
    auto made = rendered(command, document);
    if (made.numbers && lies_in_folder == LiesInFolder::no)
      throw NoScript("its numbers are too many for a script that lies in no folder");
    return made;
  } catch (NoScript const& reason) {
    return {.kind = ScriptKind::session,
            .text = std::move(document),
            .words = "a recorded session of the engine's protocol",
            .why_session = reason.what()};
  }
}

}  // namespace adamant::scenarios
