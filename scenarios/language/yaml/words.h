// Words for messages: a list of what would be accepted, and the one of it that was probably meant.
// It knows no words of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace adamant::scenarios {

/// `words` as they stand in messages: "a, b or c".
std::string list_words(std::span<std::string_view const> words);

/// " (did you mean `x`?)" for the nearest of `words`, or nothing where none is near.
std::string suggest(std::string_view found, std::span<std::string_view const> words);

}  // namespace adamant::scenarios
