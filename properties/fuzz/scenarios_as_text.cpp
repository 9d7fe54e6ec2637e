#include <algorithm>
#include <cctype>
#include <string>

#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"

namespace adamant::properties {

namespace {

constexpr std::string_view name = "f.yaml";

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Does each line of a refusal begin with file and line?
void expect_places(std::string const& refusal) {
  for (std::size_t begin = 0; begin < refusal.size();) {
    std::string_view const line = std::string_view(refusal).substr(begin);
    bool const has_place = line.starts_with(name) && line.size() > name.size() + 1 &&
                           line[name.size()] == ':' && is_digit(line[name.size() + 1]);
    require(has_place, "a refusal names no place: " + refusal);
    begin += std::min(line.find('\n'), line.size() - 1) + 1;
  }
}

}  // namespace

bool read_yaml(Bytes text) try {
  auto const scenario = scenarios::load_scenario_text(text_of(text), name);
  std::string const written = scenarios::write_scenario(scenario);
  try {
    auto const again = scenarios::load_scenario_text(written, name);
    require(again == scenario, "a scenario that is written and read is another: " + written);
    require(scenarios::write_scenario(again) == written, "it has two forms: " + written);
  } catch (scenarios::LoadError const& error) {
    require(false, "what is written is refused: " + written + error.what());
  }
  return true;
} catch (scenarios::LoadError const& error) {
  expect_places(error.what());
  return false;
}

}  // namespace adamant::properties
