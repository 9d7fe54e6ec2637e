// A stale file is taken from the save before the last one, which a script has to keep for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scenarios/peers/script/session.h"

namespace adamant::scenarios::script {

/// The name of the checkpoint of which a copy has to be kept behind exchange `i`, for a file that
/// damage puts into a later save.
std::optional<std::string> kept_for_later(Session const& session, std::size_t i);

}  // namespace adamant::scenarios::script
