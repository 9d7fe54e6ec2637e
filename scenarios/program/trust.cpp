#include "scenarios/program/trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/plain_text.h"

namespace adamant::scenarios {

std::string distrust(Arguments const& arguments, std::filesystem::path const& file,
                     Scenario const& scenario) {
  std::string const& engine = scenario.engine.name;
  bool const runs = is_command(engine) && arguments.engine.value_or(engine) == engine;
  if (!runs || (!arguments.dry_run && (arguments.trust || arguments.engine))) return "";
  return fmt::format("{}:{}: engine.name: the file names the command `{}`, and {}", file.string(),
                     std::max(scenario.lines["engine"].value, 1), engine.substr(exec_prefix.size()),
                     arguments.dry_run ? "--dry-run runs none"
                                       : "it does not run: --engine " + shell_quoted(engine) +
                                             " runs it, or --trust what any file names");
}

}  // namespace adamant::scenarios
