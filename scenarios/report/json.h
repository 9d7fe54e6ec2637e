// Results as JSON: the document that `--json` writes, and the single lines in which worker
// processes hand results to their parent. It knows the keys and nothing of who runs what.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/language/json_text.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// "pass", "violated", "refused" or "error".
std::string_view name_of(Outcome outcome);

/// One result. `choices` are part of it only where the expectation was not met, because they are
/// long and needed for a replay alone.
StrictJson to_json(RunResult const& result);

/// The inverse of to_json(). REQUIRES: `json` was made by it.
RunResult result_from_json(StrictJson const& json);

/// The frame of every document: version and command, to which the caller adds its keys.
StrictJson make_document(std::string_view command);

/// As a file's text. Bytes that are not UTF-8 become U+FFFD.
std::string to_text(StrictJson const& json);
/// The same on one line, without its end.
std::string to_line(StrictJson const& json);

}  // namespace adamant::scenarios
