#include "scenarios/peers/client/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "scenarios/peers/client/process.h"

namespace adamant::scenarios {

namespace {

using Json = nlohmann::json;

/// A file as it is taken apart.
class Reader {
 public:
  explicit Reader(std::filesystem::path const& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse("expected a safetensors file; it cannot be opened");
    text_.assign(std::istreambuf_iterator<char>(file), {});
  }

  TensorFile tensors() {
    Json const header = read_header();
    TensorFile tensors;
    for (auto const& [name, entry] : header.items())
      if (name != "__metadata__") tensors.emplace(name, tensor(name, entry));
    return tensors;
  }

 private:
  Json read_header() {
    std::uint64_t length = 0;
    if (text_.size() < sizeof length)
      refuse(fmt::format("expected a header's length of 8 bytes; the file has {}", text_.size()));
    std::memcpy(&length, text_.data(), sizeof length);
    if (length > text_.size() - sizeof length)
      refuse(fmt::format("its header should be {} bytes long; after the length the file has {}",
                         length, text_.size() - sizeof length));
    data_ = std::span(text_).subspan(sizeof length + length);
    Json header = Json::parse(text_.substr(sizeof length, length), nullptr, false);
    if (!header.is_object()) refuse("its header is no JSON object");
    return header;
  }

  TensorFromFile tensor(std::string const& name, Json const& entry) {
    TensorFromFile tensor;
    std::size_t numel = 1;
    try {
      tensor.format = format_of(name, entry.at("dtype").get<std::string>());
      tensor.shape = entry.at("shape").get<std::vector<std::int64_t>>();
      auto const range = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
      for (std::int64_t const extent : tensor.shape)
        if (extent < 0 || __builtin_mul_overflow(numel, static_cast<std::size_t>(extent), &numel))
          refuse(fmt::format("tensor {} has the shape [{}]", name, fmt::join(tensor.shape, ", ")));
      if (range.size() != 2 || range[0] > range[1] || range[1] > data_.size())
        refuse(fmt::format("tensor {} should lie at [{}] of {} bytes", name, fmt::join(range, ", "),
                           data_.size()));
      auto const bytes = data_.subspan(range[0], range[1] - range[0]);
      if (bytes.size() != numel * bytes_of(tensor.format))
        refuse(fmt::format("tensor {} of shape [{}] should have {} bytes; it has {}", name,
                           fmt::join(tensor.shape, ", "), numel * bytes_of(tensor.format),
                           bytes.size()));
      tensor.bytes.resize(bytes.size());
      if (!bytes.empty()) std::memcpy(tensor.bytes.data(), bytes.data(), bytes.size());
    } catch (Json::exception const& error) {
      refuse(fmt::format("tensor {} needs dtype, shape and data_offsets: {}", name, error.what()));
    }
    return tensor;
  }

  NumberFormat format_of(std::string const& name, std::string const& dtype) {
    if (dtype == "F32") return NumberFormat::fp32;
    if (dtype == "BF16") return NumberFormat::bf16;
    if (dtype == "F16") return NumberFormat::fp16;
    if (dtype == "U8") return NumberFormat::fp8;
    refuse(fmt::format("tensor {} has dtype {}; expected F32, BF16, F16 or U8", name, dtype));
  }

  [[noreturn]] void refuse(std::string const& what) {
    throw PeerError(path_.string() + ": " + what);
  }

  std::filesystem::path path_;
  std::string text_;
  std::span<char const> data_;
};

}  // namespace

TensorFile read_tensor_file(std::filesystem::path const& path) {
  return Reader(path).tensors();
}

}  // namespace adamant::scenarios
