#include "real/checkpoint/transfer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

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

  /// Copies what is of host memory from a piece that is in the slot. Returns the piece's checksum.
  std::uint32_t take(Piece const& piece, std::span<std::byte const> slot) {
    go_to(piece);
    std::uint32_t checksum = 0;
    std::uint64_t at = piece.begin;
    auto const pass_over = [&](std::uint64_t end) {
      checksum = crc32c(slot.subspan(at - piece.begin, end - at), checksum);
      at = end;
    };
    for_each_part(piece, [&](Piece const& part, FileSegment const& segment) {
      if (!segment.on_host) return;
      ADAMANT_REAL_ASSERT(at <= part.begin);  // segments do not overlap
      pass_over(part.begin);
      checksum = crc32c_of_copy(segment.data + (part.begin - segment.begin),
                                slot.subspan(at - piece.begin, part.size()), checksum);
      at = part.end;
    });
    pass_over(piece.end);
    return checksum;
  }

  /// Reads the parts of a piece that is not verified: what is of host memory to where it belongs,
  /// the others to their places in the slot.
  void read_parts(Piece const& piece, InputFile& file, std::span<std::byte> slot) {
    go_to(piece);
    for_each_part(piece, [&](Piece const& part, FileSegment const& segment) {
      std::byte* const to = segment.on_host ? segment.data + (part.begin - segment.begin)
                                            : slot.data() + (part.begin - piece.begin);
      file.read(part.begin, {to, part.size()});
    });
  }

  /// Copies what is of device memory from the slot; returns whether there is any.
  bool copy_to_device(Piece const& piece, std::span<std::byte const> slot, Stream const& stream) {
    go_to(piece);
    bool copies = false;
    for_each_part(piece, [&](Piece const& part, FileSegment const& segment) {
      if (segment.on_host) return;
      copies = true;
      copy(segment.data + (part.begin - segment.begin), slot.data() + (part.begin - piece.begin),
           part.size(), false, Direction::from_staging, stream);
    });
    return copies;
  }

 private:
  /// Pieces come in the order of the file.
  void go_to(Piece const& piece) {
    while (!rest_.empty() && rest_.front().begin + rest_.front().bytes <= piece.begin)
      rest_ = rest_.subspan(1);
  }

  /// Calls visit(part, segment) for what a piece and each segment have in common.
  template <typename Visit>
  void for_each_part(Piece const& piece, Visit const& visit) const {
    for (FileSegment const& segment : rest_) {
      if (segment.begin >= piece.end) return;
      Piece const part = {std::max(segment.begin, piece.begin),
                          std::min(segment.begin + segment.bytes, piece.end)};
      if (part.begin < part.end) visit(part, segment);
    }
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
            std::size_t piece_bytes, std::uint32_t checksum) {
  if (file.pieces.empty()) return;
  if (checksum == file.pieces[piece.begin / piece_bytes]) return;
  refuse_damaged(path, ": the bytes from ", std::to_string(piece.begin), " to ",
                 std::to_string(piece.end), " are not those that were saved");
}

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

void PieceWriter::append(std::byte const* data, std::uint64_t bytes, bool on_host) {
  while (bytes > 0) {
    std::size_t const part = std::min<std::uint64_t>(bytes, piece_bytes_ - filled_);
    if (on_host && part == piece_bytes_) {
      write_waiting();
      write({data, part});
    } else {
      fill(data, part, on_host);
    }
    data += part;
    bytes -= part;
  }
}

void PieceWriter::append(ShardDescription const& shard) {
  std::vector<FileSegment> segments;
  append_segments(shard, 0, shard.bytes(), 0, segments);
  for (FileSegment const& segment : segments) append(segment.data, segment.bytes, segment.on_host);
}

void PieceWriter::fill(std::byte const* data, std::size_t bytes, bool on_host) {
  if (filled_ == 0) slot_ = staging_.slot(turn_);
  copy(slot_.subspan(filled_, bytes).data(), data, bytes, on_host, Direction::to_staging,
       staging_.stream());
  filled_ += bytes;
  if (filled_ == piece_bytes_) end_piece();
}

// A piece is read and written while the copies of the next one are under way.
void PieceWriter::end_piece() {
  staging_.in_use(turn_);
  write_waiting();
  waiting_ = std::exchange(filled_, 0);
  ++turn_;
}

void PieceWriter::write_waiting() {
  if (waiting_ == 0) return;
  std::span<std::byte const> const piece = staging_.slot(turn_ - 1).first(waiting_);
  waiting_ = 0;
  write(piece);
}

void PieceWriter::write(std::span<std::byte const> piece) {
  checksums_.push_back(crc32c(piece));
  file_.append(piece);
}

std::vector<std::uint32_t> PieceWriter::checksums() && {
  if (filled_ > 0) end_piece();
  write_waiting();
  return std::move(checksums_);
}

std::vector<std::byte> downloaded(ShardDescription const& shard, std::int64_t first,
                                  std::int64_t count, Stream const& stream) {
  std::uint64_t const size = bytes_of(shard.format);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
  std::vector<FileSegment> segments;
  append_segments(shard, static_cast<std::uint64_t>(first) * size, bytes.size(), 0, segments);
  for (FileSegment const& segment : segments)
    copy(bytes.data() + segment.begin, segment.data, segment.bytes, segment.on_host,
         Direction::to_staging, stream);
  stream.synchronize();
  return bytes;
}

void upload(std::span<std::byte const> from, ShardDescription const& shard, Stream const& stream) {
  ADAMANT_REAL_ASSERT(from.size() == shard.bytes());
  std::vector<FileSegment> segments;
  append_segments(shard, 0, from.size(), 0, segments);
  for (FileSegment const& segment : segments)
    copy(segment.data, from.data() + segment.begin, segment.bytes, segment.on_host,
         Direction::from_staging, stream);
  stream.synchronize();
}

void read_pieces(OpenFile const& file, std::string const& path,
                 std::span<FileSegment const> segments, std::size_t piece_bytes, Staging& staging) {
  bool const verified = !file.pieces.empty();
  SegmentWalk walk(segments);
  std::size_t turn = 0;
  for (Piece const& piece : wanted_pieces(segments, piece_bytes, file.content->size(), verified)) {
    std::span<std::byte> const slot = staging.slot(turn);
    if (verified) {
      file.content->read(piece.begin, slot.first(piece.size()));
      std::uint32_t const checksum = walk.take(piece, slot);
      verify(file, path, piece, piece_bytes, checksum);
    } else {
      walk.read_parts(piece, *file.content, slot);
    }
    if (walk.copy_to_device(piece, slot, staging.stream())) staging.in_use(turn++);
  }
}

float VerifiedNumbers::at(SavedBox const& box) {
  std::array<std::byte, sizeof(float)> bytes = {};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_at(box.file, box.begin + i);
  return std::bit_cast<float>(bytes);
}

std::byte VerifiedNumbers::byte_at(int file, std::uint64_t at) {
  bool const known = file == file_ && at >= begin_ && at < begin_ + piece_.size();
  if (!known) {
    OpenFile const& open = checkpoint_.files[static_cast<std::size_t>(file)];
    Piece const piece = {
        at / piece_bytes_ * piece_bytes_,
        std::min(at / piece_bytes_ * piece_bytes_ + piece_bytes_, open.content->size())};
    piece_.resize(piece.size());
    open.content->read(piece.begin, piece_);
    verify(open, join_path(checkpoint_.directory, open.name), piece, piece_bytes_, crc32c(piece_));
    file_ = file;
    begin_ = piece.begin;
  }
  return piece_[static_cast<std::size_t>(at - begin_)];
}

}  // namespace adamant::real
