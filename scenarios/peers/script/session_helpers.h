// The functions of a session's script: what does not depend on the scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/types.h"
#include "scenarios/peers/script/imports.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// Which of them a session needs; ask() it always does.
struct Helpers {
  std::int64_t seconds = 60;                 // in which a reply has to come
  std::vector<std::string> quiet = {};       // requests behind which no state is asked for
  bool looks = false;                        // ask() does so behind others
  std::optional<NumberFormat> element = {};  // element(state, rank, key, index) of this type
  bool missing_is_0 = false;                 // likewise where there is no such tensor
  bool header = false;                       // header(state, rank)
  bool flip = false;                         // flip(path, at)
  bool digests = false;                      // digests(directory, pattern)
  std::vector<std::string> found = {};       // found(state): steps, and these parts of parameters
  bool all = false;                          // shown(verb, state): all that the ranks hold
};

/// A number of a file that a rank shows, in expressions.
struct PlaceInFile {
  std::string rank = "rank";
  std::string key = "key";
  std::string index = "index";
  NumberFormat type = NumberFormat::fp32;
};

/// Lines after which it stands behind `before`, such as "actual = ", with `after` behind it.
/// `state` is the reply.
std::vector<std::string> reading(PlaceInFile const& place, std::string_view before,
                                 std::string_view after);

/// `ask(verb, *wanted, **fields)` and these, with what they import.
void write_helpers(Helpers const& helpers, python::Code& code, python::Imports& imports);

}  // namespace adamant::scenarios::script
