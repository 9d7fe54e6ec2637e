// A recorded session as a script that the engine's own side makes of it (`script` of its hello).
// What such a script says is not known here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/script/no_script.h"

namespace adamant::scenarios::script {

struct Rendered {
  std::string text;
  std::string words;                   // what the maker calls it
  std::optional<std::string> numbers;  // of a file beside it, where they are too many for the text
};

/// What `command`, word by word, makes of a document.
///
/// Errors: NoScript with what it says where it makes none, or does not end in time.
Rendered rendered(std::vector<std::string> const& command, std::string const& document);

}  // namespace adamant::scenarios::script
