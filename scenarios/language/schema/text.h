// Schemas as the text of a file: short parts on one line, so that people can read them.
#pragma once

#include <string>

#include "scenarios/language/schema/schema.h"

namespace adamant::scenarios {

/// `json` over lines of at most 120 characters, where its texts are short enough, from column
/// `indent` on; `before` and `behind` stand in its first and last line.
std::string text_of(OrderedJson const& json, std::size_t indent = 0, std::string const& before = "",
                    std::string const& behind = "");

/// `text`, a JSON document, with `json` in the place of what a JSON pointer names; as it was where
/// that is the same already.
///
/// Errors: std::invalid_argument where there is nothing in that place.
std::string with_part(std::string text, std::string const& place, OrderedJson const& json);

}  // namespace adamant::scenarios
