#include "scenarios/peers/script/length.h"

#include <fmt/format.h>

#include "scenarios/peers/script/no_script.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios {

std::string of_readable_length(std::string script) {
  if (python::line_count(script) <= script_lines_max) return script;
  throw NoScript(fmt::format(
      "a script of it has {} lines, and {} are what people read; minimise the scenario first "
      "(adamant minimize --script)",
      python::line_count(script), script_lines_max));
}

}  // namespace adamant::scenarios
