// What the headers of a checkpoint's files say, as one rank tells it to the others: each header is
// read and parsed by one rank of a world, however many load. What all of them know already is not
// told: of a tensor that a manifest lists there is its number in the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/message.h"
#include "real/checkpoint/safetensors.h"

namespace adamant::real {

struct FileHeader {
  std::uint64_t file_bytes = 0;
  std::vector<SavedPart> parts;  // by place in the file
};

/// What a file calls a tensor.
struct TensorName {
  std::string key;
  std::string dtype;

  friend auto operator<=>(TensorName const&, TensorName const&) = default;
};

/// Numbers of names, from 0 on.
using NameNumbers = std::map<TensorName, std::size_t>;

/// Adds to a message what ToldHeaders reads. `known` is what all ranks know: of such a part the
/// number is told. Other names get the numbers behind, in their order.
void tell_headers(std::span<FileHeader const> headers, NameNumbers known, Message& message);

/// A file, and how many parts of it follow.
struct ToldFile {
  std::uint64_t bytes = 0;
  std::size_t parts = 0;
};

/// What a header says of a part: views, which hold until the next one is taken.
struct ToldPart {
  std::size_t number = 0;          // of its name
  std::optional<TensorName> name;  // where the message has it for the first time
  std::span<std::int64_t const> shape;
  std::span<std::int64_t const> offsets;
  std::span<std::int64_t const> global_shape;
  std::uint64_t begin = 0;
};

/// Takes a message apart again: a file, then its parts, then the next file.
class ToldHeaders {
 public:
  /// REQUIRES: tell_headers() has told what comes next, where so many names are known.
  ToldHeaders(Message told, std::size_t known) : told_(std::move(told)), known_(known) {}

  bool at_end() const { return told_.at_end(); }
  ToldFile file();
  ToldPart part();

 private:
  Message told_;
  std::size_t known_;
  std::vector<std::int64_t> extents_;  // of the part at hand
};

}  // namespace adamant::real
