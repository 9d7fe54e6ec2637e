// A message of up to 56 bytes, as nearly all are, takes one gather of 64 bytes a rank; where any
// rank has more, further gathers move the rest of all, so much at a time that a large world's
// longest messages take no more memory than a small one's.
#include "real/checkpoint/agreement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/storage.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

constexpr std::size_t gather_bytes_max = std::size_t{8} << 20;  // of all ranks

/// How a message begins.
struct Head {
  std::uint64_t size = 0;  // of all of it
  std::array<std::byte, 56> bytes = {};
};
static_assert(sizeof(Head) == 64 && std::is_trivially_copyable_v<Head>);

/// First number of a message: what came of this rank's part.
enum class Outcome : std::uint8_t { went_well, is_damaged, is_incompatible, storage_refused };

/// Bytes from `begin` on, as many as there are and have room.
void copy_part(std::span<std::byte const> bytes, std::size_t begin, std::span<std::byte> room) {
  std::span<std::byte const> const rest = bytes.subspan(std::min(begin, bytes.size()));
  std::copy_n(rest.begin(), std::min(room.size(), rest.size()), room.begin());
}

Message refusal(Outcome outcome, std::exception const& error) {
  Message told;
  told.add_number(static_cast<std::uint64_t>(outcome));
  told.add_word(error.what());
  return told;
}

/// What a part tells, behind its outcome; or why it does not.
Message told_by(std::function<void(Message&)> const& part) {
  try {
    Message told;
    told.add_number(static_cast<std::uint64_t>(Outcome::went_well));
    part(told);
    return told;
  } catch (CheckpointError const& error) {
    bool const damaged = error.kind() == CheckpointError::Kind::damaged;
    return refusal(damaged ? Outcome::is_damaged : Outcome::is_incompatible, error);
  } catch (StorageError const& error) {
    return refusal(Outcome::storage_refused, error);
  }
}

/// Takes the outcome of a rank's part.
///
/// Errors: what the part has thrown.
void expect_well(std::size_t rank, Message& told) {
  std::uint64_t const number = told.take_number();
  ADAMANT_REAL_ASSERT(number <= static_cast<std::uint64_t>(Outcome::storage_refused));
  auto const outcome = static_cast<Outcome>(number);
  if (outcome == Outcome::went_well) return;
  std::string const text = concat("rank ", std::to_string(rank), ": ", told.take_word());
  if (outcome == Outcome::storage_refused) throw StorageError(text);
  bool const damaged = outcome == Outcome::is_damaged;
  throw CheckpointError(
      damaged ? CheckpointError::Kind::damaged : CheckpointError::Kind::incompatible, text);
}

}  // namespace

std::vector<std::byte> Agreement::gather(std::span<std::byte const> send) {
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

std::vector<Message> Agreement::exchange(Message const& mine) {
  auto const ranks = static_cast<std::size_t>(where_.world_size);
  Head head{.size = mine.bytes().size()};
  copy_part(mine.bytes(), 0, head.bytes);
  std::vector<std::byte> const gathered = gather(std::as_bytes(std::span(&head, 1)));
  std::vector<Head> heads(ranks);
  std::memcpy(heads.data(), gathered.data(), gathered.size());
  std::vector<std::vector<std::byte>> heard;
  std::size_t longest = 0;
  for (auto const& [size, bytes] : heads) {
    heard.emplace_back(bytes.begin(), bytes.begin() + std::min(size, bytes.size()));
    longest = std::max(longest, size);
  }
  std::size_t const room_max = std::max(sizeof(Head), gather_bytes_max / ranks / 16 * 16);
  for (std::size_t begin = head.bytes.size(); begin < longest;) {
    std::vector<std::byte> part(std::min((longest - begin + 15) / 16 * 16, room_max));
    copy_part(mine.bytes(), begin, part);
    std::vector<std::byte> const parts = gather(part);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::size_t const missing = heads[rank].size - heard[rank].size();
      auto const first = parts.begin() + rank * part.size();
      heard[rank].insert(heard[rank].end(), first, first + std::min(part.size(), missing));
    }
    begin += part.size();
  }
  std::vector<Message> messages;
  for (auto& bytes : heard) messages.emplace_back(std::move(bytes));
  return messages;
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

std::vector<Message> Agreement::together(std::function<void(Message& told)> const& part) {
  std::vector<Message> told = exchange(told_by(part));
  for (std::size_t rank = 0; rank < told.size(); ++rank) expect_well(rank, told[rank]);
  return told;
}

}  // namespace adamant::real
