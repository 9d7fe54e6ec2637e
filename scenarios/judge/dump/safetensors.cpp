#include "scenarios/judge/dump/safetensors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
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
    std::int64_t numel = 1;
    for (std::int64_t const extent : tensor.shape) numel *= extent;
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

[[noreturn]] void refuse_path(std::filesystem::path const& path, char const* what) {
  int const error = errno;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  throw OutputError(path.string() + ": cannot " + what + ": " + std::strerror(error));
}

class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path const& path)
      : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) refuse_path(path_, "create");
  }
  ~OutputFile() {
    if (file_ != nullptr) static_cast<void>(std::fclose(file_));
  }
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  void write(void const* data, std::size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) refuse_path(path_, "write");
  }
  /// A full disk may show only here.
  void close() {
    std::FILE* const file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0) refuse_path(path_, "write");
  }

 private:
  std::filesystem::path path_;
  std::FILE* file_;
};

void write_widened(OutputFile& file, NumberFormat stored, std::span<std::byte const> part,
                   float scale) {
  std::size_t const block_bytes = widened_numel * bytes_of(stored);
  std::vector<float> values;
  for (std::size_t begin = 0; begin < part.size(); begin += block_bytes) {
    auto const block = part.subspan(begin, std::min(block_bytes, part.size() - begin));
    values.resize(block.size() / bytes_of(stored));
    oracle::decode(stored, block, values);
    if (scale != 1)
      for (float& value : values) value *= scale;
    file.write(values.data(), values.size() * sizeof(float));
  }
}

void write_tensor(OutputFile& file, TensorToWrite const& tensor) {
  ADAMANT_RUN_ASSERT(tensor.written == tensor.stored || tensor.written == NumberFormat::fp32);
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    auto const& part = tensor.parts[i];
    if (tensor.written == tensor.stored)
      file.write(part.data(), part.size());
    else
      write_widened(file, tensor.stored, part, tensor.scales.empty() ? 1 : tensor.scales[i]);
  }
}

}  // namespace

void write_safetensors(std::filesystem::path const& path, std::vector<TensorToWrite> const& tensors,
                       Metadata const& metadata) {
  std::string const header = header_of(tensors, metadata);
  std::uint64_t const length = header.size();
  OutputFile file(path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (TensorToWrite const& tensor : tensors) write_tensor(file, tensor);
  file.close();
}

}  // namespace adamant::scenarios
