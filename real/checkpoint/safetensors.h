// The header of a safetensors file in the form that PyTorch DCP's Hugging Face writer gives it: a
// file may hold a part of each tensor, and says where in the whole that part begins. Headers only;
// whoever writes or reads the data knows their places from here.
//
//   file    := size(8 bytes, little-endian) json(size bytes, padded with spaces) data
//   json    := { "__metadata__": metadata, key: entry, ... }
//   entry   := { "dtype": "F32", "shape": of this part, "data_offsets": [begin, end) in data }
//   metadata:= { "DCP_SHARDING_INFO": text of { key: { "saved_offsets": [of the part's first
//              element], "global_shape": [of the whole] } }, "DCP_VERSION": "1.0", "format": "pt" }
//
// PyTorch 2.13 writes no global_shape and ignores it. Files without sharding information hold whole
// tensors. Data lie without gaps and without overlap, in the order of their offsets.
//
// Source: safetensors 0.8; torch/distributed/checkpoint/{hf_storage,_hf_utils}.py of PyTorch 2.13.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "real/checkpoint/storage.h"

namespace adamant::real {

/// A part of a tensor in a file: a box of elements, row-major.
struct SavedPart {
  std::string key;
  std::string dtype;                       // as the file spells it
  std::vector<std::int64_t> shape;         // of the part
  std::vector<std::int64_t> offsets;       // of its first element in the whole tensor
  std::vector<std::int64_t> global_shape;  // of the whole; empty where the file does not say
  std::uint64_t begin = 0;                 // bytes in the file, the header included
  std::uint64_t end = 0;

  std::int64_t numel() const;

  friend bool operator==(SavedPart const&, SavedPart const&) = default;
};

struct SafetensorsHeader {
  std::vector<SavedPart> parts;                 // by place in the file
  std::map<std::string, std::string> metadata;  // without the sharding information
  std::uint64_t bytes = 0;                      // where the data begin
};

/// Elements of such a tensor of a file or directory. REQUIRES: no negative extent.
///
/// Errors: CheckpointError (damaged) where they are more than any memory could hold.
std::int64_t count_elements(std::span<std::int64_t const> shape, std::string const& file,
                            std::string const& key);

/// "F32", "BF16", "F16", "U8" for the bytes of fp8. REQUIRES: no remainder.
std::string dtype_of(NumberFormat format);
/// The format of such a type, or nothing for a type that is none of these.
std::optional<NumberFormat> format_of_dtype(std::string const& dtype);
/// Bytes of one element, or nothing for a type that is not known here.
std::optional<std::uint64_t> bytes_of_dtype(std::string const& dtype);

/// The header's bytes, padded so that the data begin at a multiple of 8; sets `begin` and `end` of
/// the parts, which lie in the order given.
std::vector<std::byte> encode_header(std::vector<SavedPart>& parts,
                                     std::map<std::string, std::string> const& metadata);

/// Reads and checks a header; trusts nothing that it says. `name` is what messages call the file.
///
/// Errors: CheckpointError (damaged) where sizes, places or text cannot be; StorageError.
SafetensorsHeader read_header(InputFile& file, std::string const& name);

/// The same of bytes that somebody has read: at least the header, of a file of `file_bytes`.
SafetensorsHeader parse_header(std::span<std::byte const> bytes, std::uint64_t file_bytes,
                               std::string const& name);

/// Size of the header of a file whose first 8 bytes are these. Errors: as above.
std::uint64_t header_bytes(std::span<std::byte const, 8> bytes, std::uint64_t file_bytes,
                           std::string const& name);

}  // namespace adamant::real
