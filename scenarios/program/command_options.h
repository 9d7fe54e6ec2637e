// The options of one command, each kind declared once: what several commands have is the same in
// all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "scenarios/program/arguments.h"
#include "scenarios/program/parse.h"

namespace CLI {
class App;
}

namespace adamant::scenarios {

/// Of the cases of a search, and whatever else JSON has to name exactly.
inline constexpr std::uint64_t cases_max = std::uint64_t{1} << 53U;

/// Adds options to a command. What a user gives them goes into `arguments`, which outlives the
/// parsing. Values that cannot be are CLI::ValidationError then.
class CommandOptions {
 public:
  CommandOptions(CLI::App& command, Arguments& arguments)
      : command_(command), arguments_(arguments) {}

  // ---- of any meaning ----
  void add_count(std::string const& name, CountRange range, char const* text,
                 std::function<void(std::uint64_t)> const& take) const;
  void add_path(std::string const& name, std::optional<std::filesystem::path>& target,
                char const* text) const;

  // ---- of one meaning ----
  void add_seed() const;
  void add_common() const;  // --seed, --jobs and add_outputs()
  void add_outputs() const;
  void add_engine() const;  // --bug and --peer-timeout with it
  void add_examined_engine() const;
  void add_bug_to_show() const;
  void add_selection() const;
  void add_shard() const;
  void add_strict() const;
  void add_trust() const;
  void add_known() const;
  /// After those that it excludes: whose files come from an execution.
  void add_dry_run() const;
  void add_schedules(char const* text) const;
  void add_script() const;
  void add_html() const;
  /// How much is searched: --cases and --for.
  void add_extent(char const* cases, char const* time) const;
  /// What every search has behind its own.
  void add_end_of_search() const;

 private:
  void add_peer_timeout() const;
  void add_time(char const* text) const;

  CLI::App& command_;
  Arguments& arguments_;
};

/// Errors: CLI::ValidationError at `where`, if no catalogued bug has this id.
void check_bug(std::string const& where, std::string const& id);

}  // namespace adamant::scenarios
