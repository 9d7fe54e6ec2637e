// What a command reads, none of which may be replaced by what it writes. Files are told by what
// they are and not by how they are spelled: a link, "./x" or the standard input are what is behind
// them. It knows how options are called.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "scenarios/program/arguments.h"
#include "scenarios/program/read_scenarios.h"

namespace adamant::scenarios {

class Inputs {
 public:
  /// What the command line names.
  explicit Inputs(Arguments const& arguments);

  /// A file, or a directory with all that is in it. What is not there is no input, but in which
  /// directories it would be is known.
  void add(std::filesystem::path const& path);
  /// The file, what its engine is started by, and the checkpoints that it loads.
  void add(ScenarioFile const& file);

  /// Errors: CannotWrite where an option names one of these as an output.
  void refuse_as_outputs(Arguments const& arguments) const;
  /// Errors: CannotWrite where one of these is in a directory that a dump would replace.
  void refuse_in_dump(std::filesystem::path const& directory) const;

 private:
  void add_engine(std::string_view engine);

  using Identity = std::pair<dev_t, ino_t>;
  std::map<Identity, std::filesystem::path> read_;
  std::map<Identity, std::filesystem::path> around_;  // directories, and what is in each
};

}  // namespace adamant::scenarios
