#include "scenarios/program/options.h"

#include <CLI/CLI.hpp>

#include <sstream>
#include <vector>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/engine_names.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

namespace {

/// One that may have several values, each of which is taken by itself.
CLI::Option* add_list(CLI::App& command, Option const& option, Arguments& arguments) {
  auto const take_all = [option, &arguments](std::vector<std::string> const& values) {
    for (std::string const& value : values) option.take(arguments, option.name, value);
  };
  auto* const added =
      command.add_option_function<std::vector<std::string>>(option.name, take_all, option.text);
  added->required(option.times == Times::once || option.times == Times::at_least_once);
  if (option.times == Times::once) added->expected(1)->allow_extra_args(false);
  if (option.times == Times::one_each_time) added->expected(1)->take_all();
  return added;
}

CLI::Option* add_unrestricted(CLI::App& command, Option const& option, Arguments& arguments) {
  if (option.value == nullptr)
    return command.add_flag_callback(
        option.name, [option, &arguments] { option.take(arguments, option.name, ""); },
        option.text);
  if (option.times != Times::at_most_once) return add_list(command, option, arguments);
  auto const take = [option, &arguments](std::string const& value) {
    option.take(arguments, option.name, value);
  };
  return command.add_option_function<std::string>(option.name, take, option.text);
}

}  // namespace

void add_option(CLI::App& command, Option const& option, Arguments& arguments) {
  CLI::Option* const added = add_unrestricted(command, option, arguments);
  if (option.value != nullptr) added->option_text(option.value);
  std::istringstream excluded(option.excludes);
  for (std::string name; excluded >> name;) added->excludes(command.get_option(name));
}

namespace option {

std::uint64_t count_in(std::string const& name, std::string const& value, CountRange range) {
  if (auto const count = parse_count(value, range)) return *count;
  throw CLI::ValidationError(name, "`" + value + "` is not an integer in [" +
                                       std::to_string(range.first) + ", " +
                                       std::to_string(range.last) + "]");
}

std::string const& path_in(std::string const& name, std::string const& value) {
  if (value.empty()) throw CLI::ValidationError(name, "an empty path");
  return value;
}

void check_bug(std::string const& name, std::string const& id) {
  if (bugs::find(id) == nullptr)
    throw CLI::ValidationError(name, "no catalogued bug is called `" + id + "`" +
                                         suggest(id, bugs::ids()) + "; adamant bugs lists them");
}

void bug_id(Arguments& arguments, std::string const& name, std::string const& value) {
  check_bug(name, value);
  arguments.bug = value;
}

void engine_name(Arguments& arguments, std::string const& name, std::string const& value) {
  if (!is_engine_name(value))
    throw CLI::ValidationError(name, "`" + value +
                                         "` is neither an engine's name such as sim or torch nor "
                                         "exec:COMMAND");
  arguments.engine = value;
}

void portion(Arguments& arguments, std::string const& name, std::string const& value) {
  arguments.shard = parse_shard(value);
  if (!arguments.shard)
    throw CLI::ValidationError(name, "`" + value + "` is not I/N with I from 0 to N - 1");
}

void duration(Arguments& arguments, std::string const& name, std::string const& value) {
  arguments.time = parse_duration(value);
  if (!arguments.time)
    throw CLI::ValidationError(name, "`" + value + "` is not a duration such as 60s or 5m");
}

}  // namespace option

}  // namespace adamant::scenarios
