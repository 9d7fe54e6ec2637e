// Macros that a source defines: their names, and launches that they spell. A launch is rewritten
// where it stands, which is before macros are expanded, so that none of its parts may come out of
// one.
//
// Whether a macro is used, and which of two definitions counts, the preprocessor alone knows: it is
// left to say what is wrong, where such a macro is used.
#pragma once

#include <optional>
#include <string_view>

#include "sim/lexer/tokens.h"

namespace adamant::sim {

/// What a #define defines; nothing of other directives.
std::optional<std::string_view> defined_macro(Token const& directive);

/// Of a #define with <<< in it: what it expands to becomes an error that names the macro and its
/// line, told once for each use. It has as many lines as what it replaces.
std::optional<Edit> refused_launch(Token const& directive);

}  // namespace adamant::sim
