// Inputs that fuzzing begins from and that nobody has to keep up to date: scenarios of the corpus,
// the recorded session, sources of the project, and what the program writes today.
#pragma once

#include <filesystem>

namespace adamant::properties {

/// Writes folders of seeds, by the names of their readers, into `into`.
void make_seeds(std::filesystem::path const& into);

}  // namespace adamant::properties
