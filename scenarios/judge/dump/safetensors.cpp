#include "scenarios/judge/dump/safetensors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "oracle/formats/formats.h"
#include "scenarios/judge/dump/output_error.h"
#include "scenarios/judge/saved/shard_file.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t alignment = 8;
constexpr std::size_t widened_numel = 8192;  // widened at once

std::string header_of(std::vector<TensorToWrite> const& tensors, Metadata const& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t begin = 0;
  for (TensorToWrite const& tensor : tensors) {
    std::int64_t const numel = numel_of(tensor.shape);
    std::size_t given = 0;
    for (auto const& part : tensor.parts) given += part.size();
    ADAMANT_RUN_ASSERT(given == static_cast<std::size_t>(numel) * bytes_of(tensor.stored));
    std::int64_t const end = begin + numel * static_cast<std::int64_t>(bytes_of(tensor.written));
    header[tensor.name] = {{"dtype", dtype_of(tensor.written)},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  return text;
}

/// REQUIRES: the last call has failed.
[[noreturn]] void refuse_path(std::filesystem::path const& path, char const* what) {
  int const error = errno;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  throw OutputError(path.string() + ": cannot " + what + ": " + std::strerror(error));
}

void write(std::ofstream& file, std::span<std::byte const> bytes) {
  file.write(reinterpret_cast<char const*>(bytes.data()), std::ssize(bytes));
}

void write_widened(std::ofstream& file, NumberFormat stored, std::span<std::byte const> part,
                   float scale) {
  std::size_t const block_bytes = widened_numel * bytes_of(stored);
  std::vector<float> values;
  for (std::size_t begin = 0; begin < part.size(); begin += block_bytes) {
    auto const block = part.subspan(begin, std::min(block_bytes, part.size() - begin));
    values.resize(block.size() / bytes_of(stored));
    oracle::decode(stored, block, values);
    if (scale != 1)
      for (float& value : values) value *= scale;
    write(file, std::as_bytes(std::span(values)));
  }
}

void write_tensor(std::ofstream& file, TensorToWrite const& tensor) {
  ADAMANT_RUN_ASSERT(tensor.written == tensor.stored || tensor.written == NumberFormat::fp32);
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    auto const& part = tensor.parts[i];
    if (tensor.written == tensor.stored)
      write(file, part);
    else
      write_widened(file, tensor.stored, part, tensor.scales.empty() ? 1 : tensor.scales[i]);
  }
}

}  // namespace

void write_safetensors(std::filesystem::path const& path, std::vector<TensorToWrite> const& tensors,
                       Metadata const& metadata) {
  std::string const header = header_of(tensors, metadata);
  std::uint64_t const length = header.size();
  std::ofstream file(path, std::ios::binary);
  if (!file) refuse_path(path, "create");
  write(file, std::as_bytes(std::span(&length, 1)));
  write(file, std::as_bytes(std::span(header)));
  for (std::size_t t = 0; t < tensors.size() && file; ++t) write_tensor(file, tensors[t]);
  if (file) file.close();  // a full disk may show only here
  if (!file) refuse_path(path, "write");
}

}  // namespace adamant::scenarios
