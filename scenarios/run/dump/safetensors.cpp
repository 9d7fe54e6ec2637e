#include "scenarios/run/dump/safetensors.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "scenarios/run/assert.h"
#include "scenarios/run/dump/output_error.h"

namespace adamant::scenarios {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t alignment = 8;

std::string header_of(std::vector<TensorToWrite> const& tensors, Metadata const& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t begin = 0;
  for (TensorToWrite const& tensor : tensors) {
    std::int64_t numel = 1;
    for (std::int64_t const extent : tensor.shape) numel *= extent;
    std::int64_t given = 0;
    for (auto const& part : tensor.parts) given += std::ssize(part);
    ADAMANT_RUN_ASSERT(given == numel);
    std::int64_t const end = begin + numel * static_cast<std::int64_t>(sizeof(float));
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
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

}  // namespace

void write_safetensors(std::filesystem::path const& path, std::vector<TensorToWrite> const& tensors,
                       Metadata const& metadata) {
  std::string const header = header_of(tensors, metadata);
  std::uint64_t const length = header.size();
  OutputFile file(path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (TensorToWrite const& tensor : tensors)
    for (auto const& part : tensor.parts) file.write(part.data(), part.size_bytes());
  file.close();
}

}  // namespace adamant::scenarios
