#include "scenarios/program/argument_checks.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "scenarios/report/output_file.h"

namespace adamant::scenarios {

namespace {

[[noreturn]] void refuse(std::string const& what) {
  throw EndOfProgram{.status = 2, .text = what + "\n"};
}

/// Where an output ends up, links followed as far as they lead somewhere.
std::filesystem::path place_of(std::filesystem::path const& path) {
  if (is_standard_output(path)) return "-";
  std::error_code impossible;  // then writing will say so
  auto const place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), impossible);
  return impossible ? path : place;
}

/// No two files that are written may be one.
void refuse_equal_outputs(Arguments const& arguments) {
  std::vector<Output> const outputs = outputs_of(arguments);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = i + 1; j < outputs.size(); ++j)
      if (place_of(outputs[i].path) == place_of(outputs[j].path))
        refuse(std::string(outputs[i].what) + " and " + std::string(outputs[j].what) +
               ": both would be written to " + outputs[j].path.string());
}

/// Shards of a search write beside each other.
void check_shard(Arguments& arguments) {
  if (arguments.command == Command::run) return;
  if (!arguments.seed && !arguments.campaign)
    refuse("--shard: needs --seed or --campaign, or the shards would search different cases");
  if (arguments.mutants) refuse("--shard: mutants are not shared out; leave it out");
  if (!arguments.out) return;
  *arguments.out /=
      std::to_string(arguments.shard->index) + "-of-" + std::to_string(arguments.shard->count);
}

}  // namespace

void check_together(Arguments& arguments) {
  refuse_equal_outputs(arguments);
  if (arguments.html && arguments.mutants) refuse("--html: mutants have no page; leave it out");
  if (arguments.shard) check_shard(arguments);
}

}  // namespace adamant::scenarios
