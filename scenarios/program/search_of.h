// What a call of `fuzz` searches: the engine, and what is known of it; and what it has found and
// not minimised yet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"
#include "scenarios/search/case_search.h"
#include "scenarios/search/failures.h"

namespace adamant::scenarios {

/// An engine to search. What is known of it comes from the engine itself and from --known, whose
/// defects take the place of others with their names.
struct Searchable {
  SearchEngine engine;
  KnownHere known;
};

/// Asks the engine what it can, and runs the scenarios of what is known of it.
///
/// Errors: CannotWrite where an output would replace what is read; MachineLacks; LoadError for a
/// file of known defects, also where --known names options
///         that the engine has not.
Searchable searchable_of(Arguments const& arguments);

CaseSearch search_of(Arguments const& arguments, Searchable const& searchable, std::uint64_t seed);

/// Shards of a search need one seed, and write beside each other.
///
/// Errors: EndOfProgram.
void check_shard(Arguments& arguments);

/// What was found and not minimised yet: told at once, and kept in files, so that whatever ends the
/// search loses nothing.
class Unfinished {
 public:
  explicit Unfinished(Arguments const& arguments);

  /// Says on the standard error that the case failed, and where files are wanted writes it into the
  /// folder `unfinished` among them. Where they cannot be written that is said once, and bad input.
  Status add(Failure const& failure, Scenario const& scenario);

  /// All is minimised and written: takes its files away.
  void end();

 private:
  std::filesystem::path written(Failure const& failure, Scenario const& scenario);

  bool quiet_;
  std::filesystem::path folder_;  // empty: no files
  std::vector<std::filesystem::path> files_;
};

}  // namespace adamant::scenarios
