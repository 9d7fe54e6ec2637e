// The text of headers and manifests before it is parsed. It knows neither.
#pragma once

#include <string>
#include <string_view>

namespace adamant::real {

inline constexpr int json_depth_max = 64;  // ours is nested four deep

/// What prints or copies a JSON value walks down into it, and a stack ends before a file does.
/// `where` is what the message begins with.
///
/// Errors: CheckpointError (damaged) where lists and objects are nested deeper than that, as far as
/// this is JSON.
void expect_shallow(std::string_view json, std::string const& where);

}  // namespace adamant::real
