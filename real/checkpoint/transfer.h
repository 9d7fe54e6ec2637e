// Bytes between a rank's shards and files, piece by piece through the staging, with a checksum of
// every piece. It knows neither tensors nor manifests: only which bytes of a file are which bytes
// of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/index.h"
#include "real/checkpoint/staging.h"
#include "real/checkpoint/storage.h"
#include "real/shard/description.h"

namespace adamant::real {

/// Bytes [begin, begin + bytes) of a file are those at `data`.
struct FileSegment {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::byte* data = nullptr;
  bool on_host = false;
};

/// Appends what makes bytes [begin, begin + bytes) of a file those of a shard from its byte `at`
/// on: one segment, or two where a part of the shard is in host memory.
void append_segments(ShardDescription const& shard, std::uint64_t at, std::uint64_t bytes,
                     std::uint64_t begin, std::vector<FileSegment>& segments);

/// What a slot of the staging needs to hold: a piece, or all of a smaller file.
std::size_t slot_bytes(std::uint64_t file_bytes, std::size_t piece_bytes);

/// Appends `segments`, which lie one after another from byte 0 on, and returns a checksum for every
/// piece of `piece_bytes`, which is also the size of a slot.
///
/// Stream: copies are enqueued on the staging's stream; returns when all bytes are appended.
/// Errors: CudaError, StorageError.
std::vector<std::uint32_t> write_pieces(OutputFile& file, std::span<FileSegment const> segments,
                                        std::size_t piece_bytes, Staging& staging);

/// Fills `segments`, sorted by place, from the file. Where it has checksums, whole pieces are read
/// and verified before any byte of them goes on; else only the bytes that are wanted are read.
///
/// Stream: returns when the copies are enqueued on the staging's stream.
/// Errors: CheckpointError (damaged), CudaError, StorageError.
void read_pieces(OpenFile const& file, std::string const& path,
                 std::span<FileSegment const> segments, std::size_t piece_bytes, Staging& staging);

}  // namespace adamant::real
