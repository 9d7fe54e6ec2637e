// Writes what is made of the tables into the directory that is named, `adamant_schema scenarios`:
// schema.json and KEYS.md whole, and its parts of engine.schema.json. Tests hold the files to them.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "scenarios/language/schema/engine_parts.h"
#include "scenarios/language/schema/schema.h"
#include "scenarios/language/yaml/help.h"

namespace {

namespace fs = std::filesystem;
using namespace adamant::scenarios;

std::string text_in(fs::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  if (text.str().empty()) throw std::runtime_error(path.string() + ": cannot be read");
  return text.str();
}

void write(fs::path const& path, std::string const& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

void write_schemas(fs::path const& directory) {
  fs::path const engine = directory / "engine.schema.json";
  write(engine, text_of(with_engine_parts(OrderedJson::parse(text_in(engine)))));
  write(directory / "schema.json", text_of(scenario_schema()));
  write(directory / "KEYS.md", key_page());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: adamant_schema DIRECTORY\n";
    return 2;
  }
  try {
    write_schemas(argv[1]);
  } catch (std::exception const& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
  return 0;
}
