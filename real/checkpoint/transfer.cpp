#include "real/checkpoint/transfer.h"

#include <algorithm>
#include <cstring>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/crc32c.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

/// Part of a file that is moved at once: [begin, end) in the file.
struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

enum class Direction { to_staging, from_staging };

void copy(std::byte* to, std::byte const* from, std::size_t bytes, bool on_host,
          Direction direction, Stream const& stream) {
  if (on_host) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto const kind =
      direction == Direction::to_staging ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  ADAMANT_TRY(cudaMemcpyAsync(to, from, bytes, kind, stream.get()));
}

/// Walks along segments in the order of the file.
class SegmentWalk {
 public:
  explicit SegmentWalk(std::span<FileSegment const> segments) : rest_(segments) {}

  /// Moves what `piece` and the segments have in common between them and the slot.
  void move(Piece const& piece, std::span<std::byte> slot, Direction direction,
            Stream const& stream) {
    while (!rest_.empty() && rest_.front().begin + rest_.front().bytes <= piece.begin)
      rest_ = rest_.subspan(1);
    for (FileSegment const& segment : rest_) {
      if (segment.begin >= piece.end) break;
      move_common(segment, piece, slot, direction, stream);
    }
  }

 private:
  static void move_common(FileSegment const& segment, Piece const& piece, std::span<std::byte> slot,
                          Direction direction, Stream const& stream) {
    std::uint64_t const begin = std::max(segment.begin, piece.begin);
    std::uint64_t const end = std::min(segment.begin + segment.bytes, piece.end);
    if (begin >= end) return;
    std::byte* const memory = segment.data + (begin - segment.begin);
    std::byte* const staged = slot.data() + (begin - piece.begin);
    if (direction == Direction::to_staging)
      copy(staged, memory, end - begin, segment.on_host, direction, stream);
    else
      copy(memory, staged, end - begin, segment.on_host, direction, stream);
  }

  std::span<FileSegment const> rest_;
};

/// Pieces of a file of which segments want bytes, in order: pieces on the grid, or, where nothing
/// is to be verified, only as much of them as is wanted.
std::vector<Piece> wanted_pieces(std::span<FileSegment const> segments, std::size_t piece_bytes,
                                 std::uint64_t file_bytes, bool whole) {
  std::vector<Piece> pieces;
  for (FileSegment const& segment : segments) {
    if (segment.bytes == 0) continue;
    std::uint64_t const end = segment.begin + segment.bytes;
    for (std::uint64_t k = segment.begin / piece_bytes; k * piece_bytes < end; ++k) {
      Piece const grid = {k * piece_bytes,
                          std::min<std::uint64_t>((k + 1) * piece_bytes, file_bytes)};
      Piece const part = {std::max(grid.begin, segment.begin), std::min(grid.end, end)};
      if (pieces.empty() || pieces.back().begin / piece_bytes != k)
        pieces.push_back(whole ? grid : part);
      else
        pieces.back().end = std::max(pieces.back().end, part.end);
    }
  }
  return pieces;
}

void verify(OpenFile const& file, std::string const& path, Piece const& piece,
            std::size_t piece_bytes, std::span<std::byte const> bytes) {
  if (file.pieces.empty()) return;
  if (crc32c(bytes) == file.pieces[piece.begin / piece_bytes]) return;
  refuse_damaged(path, ": the bytes from ", std::to_string(piece.begin), " to ",
                 std::to_string(piece.end), " are not those that were saved");
}

/// A piece whose copies are under way, waiting for its checksum and its place in the file.
class PieceAppender {
 public:
  PieceAppender(OutputFile& file, Staging& staging) : file_(file), staging_(staging) {}

  void finish(std::size_t turn, std::size_t bytes) {
    std::span<std::byte const> const piece = staging_.slot(turn).first(bytes);
    checksums_.push_back(crc32c(piece));
    file_.append(piece);
  }
  std::vector<std::uint32_t> checksums() && { return std::move(checksums_); }

 private:
  OutputFile& file_;
  Staging& staging_;
  std::vector<std::uint32_t> checksums_;
};

}  // namespace

void append_segments(ShardDescription const& shard, std::uint64_t at, std::uint64_t bytes,
                     std::uint64_t begin, std::vector<FileSegment>& segments) {
  std::uint64_t const head_bytes = shard.bytes() - shard.tail_bytes();
  std::uint64_t const in_head = at < head_bytes ? std::min(bytes, head_bytes - at) : 0;
  if (in_head > 0) segments.push_back({begin, in_head, shard.data + at, shard.on_host});
  if (bytes > in_head)
    segments.push_back(
        {begin + in_head, bytes - in_head, shard.tail + (at + in_head - head_bytes), true});
}

std::size_t slot_bytes(std::uint64_t file_bytes, std::size_t piece_bytes) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(file_bytes, piece_bytes));
}

std::vector<std::uint32_t> write_pieces(OutputFile& file, std::span<FileSegment const> segments,
                                        std::size_t piece_bytes, Staging& staging) {
  std::uint64_t file_bytes = 0;
  for (FileSegment const& segment : segments) {
    ADAMANT_REAL_ASSERT(segment.begin == file_bytes);
    file_bytes += segment.bytes;
  }
  PieceAppender appender(file, staging);
  SegmentWalk walk(segments);
  Piece last;
  std::size_t turn = 0;
  for (std::uint64_t begin = 0; begin < file_bytes; begin += piece_bytes, ++turn) {
    Piece const piece = {begin, std::min<std::uint64_t>(begin + piece_bytes, file_bytes)};
    walk.move(piece, staging.slot(turn), Direction::to_staging, staging.stream());
    staging.in_use(turn);
    if (turn > 0) appender.finish(turn - 1, last.size());
    last = piece;
  }
  if (turn > 0) appender.finish(turn - 1, last.size());
  return std::move(appender).checksums();
}

void read_pieces(OpenFile const& file, std::string const& path,
                 std::span<FileSegment const> segments, std::size_t piece_bytes, Staging& staging) {
  bool const verified = !file.pieces.empty();
  SegmentWalk walk(segments);
  std::size_t turn = 0;
  for (Piece const& piece : wanted_pieces(segments, piece_bytes, file.content->size(), verified)) {
    std::span<std::byte> const slot = staging.slot(turn);
    file.content->read(piece.begin, slot.first(piece.size()));
    verify(file, path, piece, piece_bytes, slot.first(piece.size()));
    walk.move(piece, slot, Direction::from_staging, staging.stream());
    staging.in_use(turn++);
  }
}

}  // namespace adamant::real
