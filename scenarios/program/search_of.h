// What a call of `fuzz` searches: the engine, and what is known of it.
#pragma once

#include <cstdint>

#include "scenarios/program/arguments.h"
#include "scenarios/search/case_search.h"

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

}  // namespace adamant::scenarios
