// A text of up to 56 bytes, as nearly all are, takes one gather of 64 bytes a rank; where any rank
// has more, further gathers move the rest of all, so much at a time that a large world's longest
// texts take no more memory than a small one's.
#include "real/checkpoint/agreement.h"

#include <algorithm>
#include <cstring>

#include "real/checkpoint/checkpoint_error.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

constexpr std::size_t head_bytes = 64;
constexpr std::size_t text_in_head = head_bytes - sizeof(std::uint64_t);
constexpr std::size_t gather_bytes_max = std::size_t{8} << 20;  // of all ranks

// First letter of a text: what came of this rank's part.
constexpr char went_well = '+';
constexpr char is_damaged = 'd';
constexpr char is_incompatible = 'i';
constexpr char storage_refused = 's';

std::vector<std::byte> head_of(std::string const& text) {
  std::vector<std::byte> head(head_bytes);
  std::uint64_t const size = text.size();
  std::memcpy(head.data(), &size, sizeof size);
  std::memcpy(head.data() + sizeof size, text.data(), std::min(text.size(), text_in_head));
  return head;
}

/// The text's bytes from `begin` on, as many as there are, in `room`.
std::vector<std::byte> part_of(std::string const& text, std::size_t begin, std::size_t room) {
  std::vector<std::byte> part(room);
  if (text.size() > begin)
    std::memcpy(part.data(), text.data() + begin, std::min(room, text.size() - begin));
  return part;
}

std::string text_at(std::vector<std::byte> const& bytes, std::size_t begin, std::size_t size) {
  return {reinterpret_cast<char const*>(bytes.data()) + begin, size};
}

std::string outcome_of(std::function<std::string()> const& part) {
  try {
    return concat(std::string(1, went_well), part());
  } catch (CheckpointError const& error) {
    bool const damaged = error.kind() == CheckpointError::Kind::damaged;
    return concat(std::string(1, damaged ? is_damaged : is_incompatible), error.what());
  } catch (StorageError const& error) {
    return concat(std::string(1, storage_refused), error.what());
  }
}

[[noreturn]] void rethrow(int rank, std::string const& outcome) {
  std::string const message = concat("rank ", std::to_string(rank), ": ", outcome.substr(1));
  if (outcome.front() == storage_refused) throw StorageError(message);
  bool const damaged = outcome.front() == is_damaged;
  throw CheckpointError(
      damaged ? CheckpointError::Kind::damaged : CheckpointError::Kind::incompatible, message);
}

}  // namespace

std::vector<std::byte> Agreement::gather(std::vector<std::byte> const& send) {
  ADAMANT_REAL_ASSERT(send.size() % sizeof(float) == 0);
  std::size_t const all = send.size() * static_cast<std::size_t>(where_.world_size);
  DeviceBuffer const mine(ledger_, Purpose::checkpoint, send.size(), stream_);
  DeviceBuffer const everybodys(ledger_, Purpose::checkpoint, all, stream_);
  ADAMANT_TRY(cudaMemcpyAsync(mine.as<void>(), send.data(), send.size(), cudaMemcpyHostToDevice,
                              stream_.get()));
  communicator_.all_gather(mine.as<void>(), everybodys.as<void>(),
                           static_cast<std::int64_t>(send.size() / sizeof(float)),
                           NumberFormat::fp32, stream_);
  std::vector<std::byte> received(all);
  ADAMANT_TRY(cudaMemcpyAsync(received.data(), everybodys.as<void>(), all, cudaMemcpyDeviceToHost,
                              stream_.get()));
  stream_.synchronize();
  return received;
}

std::vector<std::string> Agreement::exchange(std::string const& mine) {
  auto const ranks = static_cast<std::size_t>(where_.world_size);
  std::vector<std::byte> const heads = gather(head_of(mine));
  std::vector<std::size_t> sizes(ranks);
  std::vector<std::string> texts(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::memcpy(&sizes[rank], heads.data() + rank * head_bytes, sizeof(std::uint64_t));
    texts[rank] = text_at(heads, rank * head_bytes + sizeof(std::uint64_t),
                          std::min(sizes[rank], text_in_head));
  }
  std::size_t const longest = *std::max_element(sizes.begin(), sizes.end());
  std::size_t const room_max = std::max(head_bytes, gather_bytes_max / ranks / 16 * 16);
  for (std::size_t begin = text_in_head; begin < longest;) {
    std::size_t const room = std::min((longest - begin + 15) / 16 * 16, room_max);
    std::vector<std::byte> const parts = gather(part_of(mine, begin, room));
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (sizes[rank] > begin)
        texts[rank].append(text_at(parts, rank * room, std::min(room, sizes[rank] - begin)));
    begin += room;
  }
  return texts;
}

// The bits of numbers that are not negative are ordered as they are.
void Agreement::take_largest(std::span<float> values) {
  if (values.empty()) return;
  auto const bytes = std::as_writable_bytes(values);
  DeviceBuffer const mine(ledger_, Purpose::checkpoint, bytes.size(), stream_);
  DeviceBuffer const largest(ledger_, Purpose::checkpoint, bytes.size(), stream_);
  ADAMANT_TRY(cudaMemcpyAsync(mine.as<void>(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice,
                              stream_.get()));
  communicator_.all_reduce_max(mine.as<std::int32_t>(), largest.as<std::int32_t>(),
                               std::ssize(values), stream_);
  ADAMANT_TRY(cudaMemcpyAsync(bytes.data(), largest.as<void>(), bytes.size(),
                              cudaMemcpyDeviceToHost, stream_.get()));
  stream_.synchronize();
}

std::vector<std::string> Agreement::together(std::function<std::string()> const& part) {
  std::vector<std::string> outcomes = exchange(outcome_of(part));
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    if (outcomes[rank].front() != went_well) rethrow(static_cast<int>(rank), outcomes[rank]);
  for (std::string& outcome : outcomes) outcome.erase(0, 1);
  return outcomes;
}

}  // namespace adamant::real
