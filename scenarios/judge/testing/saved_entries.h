// Files of a checkpoint as somebody may have written them, tensor by tensor.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace adamant::scenarios {

using Shape = std::vector<std::int64_t>;

struct SavedEntry {
  std::string dtype;
  Shape shape;
  Shape offsets;
  std::vector<std::byte> bytes;
};

/// By key, of one file.
using Entries = std::map<std::string, SavedEntry>;

template <typename Number>
SavedEntry entry(Shape shape, std::vector<Number> const& numbers) {
  auto const bytes = std::as_bytes(std::span(numbers));
  Shape const origin(shape.size());
  return {.dtype = sizeof(Number) == 1 ? "U8" : "F32",
          .shape = std::move(shape),
          .offsets = origin,
          .bytes = {bytes.begin(), bytes.end()}};
}

/// These rows of an entry.
inline SavedEntry rows_of(SavedEntry const& whole, std::int64_t begin, std::int64_t end) {
  SavedEntry part = whole;
  std::int64_t const row = std::ssize(whole.bytes) / whole.shape.front();
  part.shape.front() = end - begin;
  part.offsets.front() = begin;
  part.bytes.assign(whole.bytes.begin() + begin * row, whole.bytes.begin() + end * row);
  return part;
}

inline std::vector<std::byte> file_of(Entries const& entries) {
  nlohmann::json header = nlohmann::json::object();
  nlohmann::json places = nlohmann::json::object();
  std::vector<std::byte> data;
  for (auto const& [key, entry] : entries) {
    header[key] = {{"dtype", entry.dtype},
                   {"shape", entry.shape},
                   {"data_offsets", {data.size(), data.size() + entry.bytes.size()}}};
    places[key] = {{"saved_offsets", entry.offsets}};
    data.insert(data.end(), entry.bytes.begin(), entry.bytes.end());
  }
  header["__metadata__"] = {{"DCP_SHARDING_INFO", places.dump()}};
  std::string const text = header.dump();
  std::uint64_t const length = text.size();
  std::vector<std::byte> file(sizeof length + text.size());
  std::memcpy(file.data(), &length, sizeof length);
  std::memcpy(file.data() + sizeof length, text.data(), text.size());
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

}  // namespace adamant::scenarios
