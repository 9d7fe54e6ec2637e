// A YAML file of any kind, read by whoever knows what it holds: what is wrong with it becomes a
// LoadError as that of a scenario does.
#pragma once

#include <functional>
#include <string_view>

#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/reader.h"

namespace adamant::scenarios {

/// Parses `text` and hands its top level to `read`, which notes problems with `reader`.
/// `file_name` is only for messages, and `what` says what is missing where nothing is there.
///
/// Errors: LoadError, of all that was noted, in the order of the lines.
void read_document(std::string_view text, std::string_view file_name, std::string_view what,
                   Reader& reader, std::function<void(Field const& document)> const& read);

}  // namespace adamant::scenarios
