// Numbers too many to be read, as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// What `zlib.decompress(base64.b64decode(text))` makes the same bytes of.
std::string compressed(std::span<std::byte const> bytes);

/// `before`, an expression of these bytes over as many lines as their text takes, and `after`.
void write_compressed_text(python::Code& code, std::string_view before,
                           std::span<std::byte const> bytes, std::string_view after);

}  // namespace adamant::scenarios::script
