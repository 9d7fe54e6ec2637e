// A parameter that files have in parts, put together: whoever looks at files after that sees whole
// parameters alone.
#pragma once

#include "scenarios/judge/saved/files.h"

namespace adamant::scenarios {

/// Replaces the tensors of a parameter's parts by those of the whole, if they are there, and keeps
/// what the files have in `parts`. REQUIRES: the prefixes of keys are known.
///
/// Errors: std::exception where a part is missing, or differs in what is the same under each.
void join_parts(SavedFiles& saved, SavedName const& name);

}  // namespace adamant::scenarios
