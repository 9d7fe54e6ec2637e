// adamant_weave ROOT OUT BUGFILE... puts the bugs into copies of the files of ROOT/real that they
// change, and writes the catalogue; adamant_weave --check ROOT BUGFILE... only looks what is wrong.
#include <iostream>
#include <span>
#include <string>

#include "scenarios/bugs/weaver/project.h"

int main(int argc, char** argv) {
  using namespace adamant::bugs;
  std::span<char* const> const arguments(argv, static_cast<std::size_t>(argc));
  if (argc < 4) {
    std::cerr << "usage: adamant_weave ROOT OUT BUGFILE...\n"
                 "       adamant_weave --check ROOT BUGFILE...\n";
    return 2;
  }
  Project project;
  bool const check = std::string(arguments[1]) == "--check";
  project.root = arguments[check ? 2 : 1];
  if (!check) project.out = arguments[2];
  project.bug_files.assign(arguments.begin() + 3, arguments.end());
  try {
    return exit_status(weave_project(project));
  } catch (std::filesystem::filesystem_error const& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
