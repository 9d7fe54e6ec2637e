#include "scenarios/peers/script/rendered.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "scenarios/language/plain_text.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/peers/client/scratch.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios::script {

namespace {

std::string read_whole(std::filesystem::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

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

}  // namespace

Rendered rendered(std::vector<std::string> const& command, std::string const& document) {
  ScratchRoom const room("script");
  auto const session = room.path() / "x.session.json";
  auto const script = room.path() / "x.py";
  auto const numbers = room.path() / "x.numbers.pt";
  std::ofstream(session) << document;
  std::string line;
  for (std::string const& word : command) line += shell_quoted(word) + " ";
  std::string words = make(fmt::format("{}{} -o {}", line, shell_quoted(session.string()),
                                       shell_quoted(script.string())));
  Rendered made{.text = read_whole(script), .words = std::move(words), .numbers = {}};
  if (std::filesystem::exists(numbers)) made.numbers = read_whole(numbers);
  return made;
}

}  // namespace adamant::scenarios::script
