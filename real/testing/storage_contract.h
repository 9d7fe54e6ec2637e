// What every implementation of Storage must do, as one test over any of them. The contract of what
// survives a crash is not here: only a world that can crash can test it.
#pragma once

#include <string>

#include "real/checkpoint/storage.h"

namespace adamant::real {

/// REQUIRES: `root` is an empty directory.
void expect_storage_contract(Storage& storage, std::string const& root);

}  // namespace adamant::real
