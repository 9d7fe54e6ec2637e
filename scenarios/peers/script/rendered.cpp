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

/// Waits until it has ended well.
void make(std::string const& command) {
  PeerProcess maker(command + " && echo made");
  try {
    maker.read_line(PeerProcess::Deadline(peer_bounds().hello));
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
  make(fmt::format("{}{} -o {}", line, shell_quoted(session.string()),
                   shell_quoted(script.string())));
  Rendered made{.text = read_whole(script), .numbers = {}};
  if (std::filesystem::exists(numbers)) made.numbers = read_whole(numbers);
  return made;
}

}  // namespace adamant::scenarios::script
