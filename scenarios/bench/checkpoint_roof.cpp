#include "scenarios/bench/checkpoint_roof.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "real/checkpoint/crc32c.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = 256 * 1024;

class Descriptor {
 public:
  Descriptor(std::string const& path, int flags) : value_(::open(path.c_str(), flags, 0666)) {
    if (value_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

void expect_moved(ssize_t moved, std::size_t bytes) {
  if (moved != static_cast<ssize_t>(bytes)) throw std::runtime_error("a file was cut short");
}

/// Where the bytes of files go, piece after piece, into memory that was touched before.
class Destination {
 public:
  explicit Destination(Memory const& memory) : memory_(memory) {}
  std::byte* next(std::size_t bytes) {
    while (at_ + bytes > memory_[buffer_].size()) {
      buffer_ = (buffer_ + 1) % memory_.size();
      at_ = 0;
    }
    return memory_[buffer_].data() + std::exchange(at_, at_ + bytes);
  }

 private:
  Memory const& memory_;
  std::size_t buffer_ = 0;
  std::size_t at_ = 0;
};

/// Calls fill(descriptor, offset, destination) for every piece of the files; folds what it returns.
template <typename Fill>
std::uint32_t for_each_piece(Memory const& memory, std::vector<std::string> const& paths,
                             Fill const& fill) {
  Destination destination(memory);
  std::uint32_t fold = 0;
  for (std::string const& path : paths) {
    Descriptor const file(path, O_RDONLY);
    std::size_t const size = fs::file_size(path);
    for (std::size_t at = 0; at < size; at += piece_bytes) {
      std::size_t const bytes = std::min(piece_bytes, size - at);
      fold ^= fill(file.get(), static_cast<off_t>(at), std::span(destination.next(bytes), bytes));
    }
  }
  return fold;
}

}  // namespace

std::uint32_t write_roof(Memory const& memory, std::string const& path) {
  Descriptor const file(path, O_WRONLY | O_CREAT | O_TRUNC);
  static std::vector<std::byte> staging(piece_bytes);
  std::uint32_t fold = 0;
  for (std::span<std::byte> rest : memory) {
    while (!rest.empty()) {
      std::size_t const bytes = std::min(piece_bytes, rest.size());
      std::memcpy(staging.data(), rest.data(), bytes);
      fold ^= real::crc32c(std::span(staging).first(bytes));
      expect_moved(::write(file.get(), staging.data(), bytes), bytes);
      rest = rest.subspan(bytes);
    }
  }
  return fold;
}

std::uint32_t read_roof(Memory const& memory, std::vector<std::string> const& paths) {
  return for_each_piece(memory, paths, [](int file, off_t at, std::span<std::byte> to) {
    expect_moved(::pread(file, to.data(), to.size(), at), to.size());
    return real::crc32c(to);
  });
}

std::uint32_t staged_roof(Memory const& memory, std::vector<std::string> const& paths) {
  std::vector<std::byte> staging(piece_bytes);
  return for_each_piece(memory, paths, [&](int file, off_t at, std::span<std::byte> to) {
    std::span<std::byte> const piece = std::span(staging).first(to.size());
    expect_moved(::pread(file, piece.data(), piece.size(), at), piece.size());
    std::uint32_t const checksum = real::crc32c(piece);
    std::memcpy(to.data(), piece.data(), piece.size());
    return checksum;
  });
}

std::uint32_t map_roof(Memory const& memory, std::vector<std::string> const& paths) {
  Destination destination(memory);
  std::uint32_t fold = 0;
  for (std::string const& path : paths) {
    Descriptor const file(path, O_RDONLY);
    std::size_t const size = fs::file_size(path);
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    auto const* const from = static_cast<std::byte const*>(mapped);
    for (std::size_t at = 0; at < size; at += piece_bytes) {
      std::size_t const bytes = std::min(piece_bytes, size - at);
      std::byte* const to = destination.next(bytes);
      std::memcpy(to, from + at, bytes);
      fold ^= real::crc32c({to, bytes});
    }
    ::munmap(mapped, size);
  }
  return fold;
}

}  // namespace adamant::scenarios
