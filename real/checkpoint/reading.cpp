#include "real/checkpoint/reading.h"

#include <algorithm>

namespace adamant::real {

void add_segments(std::span<ReadRange const> ranges, ShardDescription const& shard,
                  Segments& segments) {
  for (ReadRange const& range : ranges)
    append_segments(shard, range.to, range.bytes, range.begin,
                    segments[static_cast<std::size_t>(range.file)]);
}

void sort(Segments& segments) {
  for (std::vector<FileSegment>& of_file : segments)
    std::sort(of_file.begin(), of_file.end(),
              [](FileSegment const& a, FileSegment const& b) { return a.begin < b.begin; });
}

Staging CheckpointReader::make_staging() const {
  std::uint64_t largest = 0;
  for (OpenFile const& file : checkpoint_.files) largest = std::max(largest, file.content->size());
  return {place_.ledger, slot_bytes(largest, piece_bytes()), place_.stream};
}

std::size_t CheckpointReader::piece_bytes() const {
  return checkpoint_.manifest ? checkpoint_.manifest->piece_bytes : place_.piece_bytes;
}

void CheckpointReader::read(Segments const& segments, Staging& staging) const {
  for (std::size_t f = 0; f < segments.size(); ++f) {
    OpenFile const& file = checkpoint_.files[f];
    read_pieces(file, join_path(checkpoint_.directory, file.name), segments[f], piece_bytes(),
                staging);
  }
}

std::vector<std::byte> CheckpointReader::read_bytes(SavedTensor const& saved, ShardDescription room,
                                                    Staging& staging) const {
  std::vector<std::byte> bytes(room.bytes());
  room.data = bytes.data();
  room.on_host = true;
  room.tail = nullptr;
  room.tail_numel = 0;
  std::vector<ReadRange> ranges;
  plan_reads(saved, room, ranges);
  Segments segments(checkpoint_.files.size());
  add_segments(ranges, room, segments);
  sort(segments);
  read(segments, staging);
  return bytes;
}

}  // namespace adamant::real
