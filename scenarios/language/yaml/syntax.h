// The mistake behind a YAML parser's complaint. A parser says where it could not go on; what
// somebody forgot is often lines above. It looks at lines and knows no scenarios.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace adamant::scenarios {

struct SyntaxCause {
  int line = 1;
  std::string message;
};

/// Of a text that is no YAML, noticed on that line: a tab that indents, a quote or a bracket that
/// is not closed, a colon that is missing, an indentation that no line above has. Nothing where it
/// is none of these.
std::optional<SyntaxCause> find_syntax_cause(std::string_view text, int noticed);

}  // namespace adamant::scenarios
