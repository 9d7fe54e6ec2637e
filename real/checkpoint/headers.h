// What the headers of a checkpoint's files say, as one rank tells it to the others: each header is
// read and parsed by one rank of a world, however many load.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/safetensors.h"

namespace adamant::real {

struct FileHeader {
  std::uint64_t file_bytes = 0;
  std::vector<SavedPart> parts;  // by place in the file

  friend bool operator==(FileHeader const&, FileHeader const&) = default;
};

/// Bytes for headers_of_text(), on any machine of the same program.
std::string text_of_headers(std::span<FileHeader const> headers);

/// REQUIRES: text_of_headers() made the text.
std::vector<FileHeader> headers_of_text(std::string const& text);

}  // namespace adamant::real
