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

/// Writes a file from its beginning to its end, with a checksum for every piece of `piece_bytes`,
/// which is also the size of a slot: a smaller file may have smaller slots. A piece that is one
/// stretch of host memory is written from there, without a copy.
class PieceWriter {
 public:
  PieceWriter(OutputFile& file, std::size_t piece_bytes, Staging& staging)
      : file_(file), piece_bytes_(piece_bytes), staging_(staging) {}

  /// What is on the host is read at once, the rest stays as it is until checksums().
  ///
  /// Stream: copies are enqueued on the staging's stream. Errors: CudaError, StorageError.
  void append(std::byte const* data, std::uint64_t bytes, bool on_host);
  /// A whole shard, as it is stored.
  void append(ShardDescription const& shard);

  /// The checksums, when all bytes are appended. Errors: as above.
  std::vector<std::uint32_t> checksums() &&;

 private:
  void fill(std::byte const* data, std::size_t bytes, bool on_host);
  void end_piece();
  void write_waiting();
  void write(std::span<std::byte const> piece);

  OutputFile& file_;
  std::size_t piece_bytes_;
  Staging& staging_;
  std::size_t turn_ = 0;  // of the piece that is being filled
  std::span<std::byte> slot_;
  std::size_t filled_ = 0;   // bytes of it
  std::size_t waiting_ = 0;  // bytes of the piece before, where it is still to be written
  std::vector<std::uint32_t> checksums_;
};

/// Copies elements [first, first + count) of a shard to the host, as they are stored.
///
/// Stream: waits for `stream`. Errors: CudaError.
std::vector<std::byte> downloaded(ShardDescription const& shard, std::int64_t first,
                                  std::int64_t count, Stream const& stream);
/// Replaces all elements of a shard. Stream and errors: as above.
void upload(std::span<std::byte const> from, ShardDescription const& shard, Stream const& stream);

/// Fills `segments`, sorted by place, from the file. Where it has checksums, whole pieces are read
/// and verified before any byte of them goes to a device; else only the bytes that are wanted are
/// read. What host memory gets is copied to where it belongs while its checksum is computed: so
/// that memory may hold what is refused.
///
/// Stream: returns when the copies are enqueued on the staging's stream.
/// REQUIRES: segments do not overlap.
/// Errors: CheckpointError (damaged), CudaError, StorageError.
void read_pieces(OpenFile const& file, std::string const& path,
                 std::span<FileSegment const> segments, std::size_t piece_bytes, Staging& staging);

/// Single numbers out of a checkpoint, each piece verified that has any of their bytes. The last
/// piece is kept: numbers stand beside each other.
class VerifiedNumbers {
 public:
  /// REQUIRES: the checkpoint outlives it.
  VerifiedNumbers(Checkpoint const& checkpoint, std::size_t piece_bytes)
      : checkpoint_(checkpoint), piece_bytes_(piece_bytes) {}

  /// The only element of an F32 box. Errors: CheckpointError (damaged), StorageError.
  float at(SavedBox const& box);

 private:
  std::byte byte_at(int file, std::uint64_t at);

  Checkpoint const& checkpoint_;
  std::size_t piece_bytes_;
  std::vector<std::byte> piece_;
  int file_ = -1;  // that it is of
  std::uint64_t begin_ = 0;
};

}  // namespace adamant::real
