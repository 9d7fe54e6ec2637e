#include "scenarios/peers/client/tensor_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "scenarios/judge/saved/shard_file.h"
#include "scenarios/language/json_text.h"
#include "scenarios/peers/client/process.h"

namespace adamant::scenarios {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t header_bytes_max = 100'000'000;  // safetensors' own limit

struct Descriptor {
  int number = -1;
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(Descriptor const&) = delete;  // it is closed once
};

/// A file as it is taken apart.
class Reader {
 public:
  // Opening a pipe that nobody writes to would wait for somebody, but for the second flag.
  Reader(std::filesystem::path const& path, std::uint64_t bytes_max)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (file_.number < 0) refuse("expected a safetensors file; it cannot be opened");
    struct stat status {};
    if (::fstat(file_.number, &status) != 0 || !S_ISREG(status.st_mode))
      refuse("expected a safetensors file; it is no regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (size_ > bytes_max)
      refuse(fmt::format("expected at most {} bytes; the file has {}", bytes_max, size_));
  }

  TensorFile tensors() {
    Json const header = read_header();
    TensorFile tensors;
    for (auto const& [name, entry] : header.items())
      if (name != "__metadata__") tensors.emplace(name, tensor(name, entry));
    if (end_ != data_bytes())
      refuse(fmt::format("its tensors end at byte {} of {}", end_, data_bytes()));
    return tensors;
  }

 private:
  Json read_header() {
    std::uint64_t length = 0;
    if (size_ < sizeof length)
      refuse(fmt::format("expected a header's length of 8 bytes; the file has {}", size_));
    read(0, &length, sizeof length);
    if (length > size_ - sizeof length || length > header_bytes_max)
      refuse(fmt::format("its header should be {} bytes long; after the length the file has {}",
                         length, size_ - sizeof length));
    std::string text(length, ' ');
    read(sizeof length, text.data(), length);
    data_ = sizeof length + length;
    Json header = parse_json<Json>(text, false);
    if (!header.is_object()) refuse("its header is no JSON object");
    return header;
  }

  std::uint64_t data_bytes() const { return size_ - data_; }

  void read(std::uint64_t at, void* to, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      ssize_t const count = ::pread(file_.number, static_cast<char*>(to) + done, bytes - done,
                                    static_cast<off_t>(at + done));
      if (count <= 0) refuse("it cannot be read to its end");
      done += static_cast<std::size_t>(count);
    }
  }

  TensorFromFile tensor(std::string const& name, Json const& entry) {
    TensorFromFile tensor;
    try {
      tensor.format = format_of(name, entry.at("dtype").get<std::string>());
      tensor.shape = integers_in<std::int64_t>(entry.at("shape"));
      auto const range = integers_in<std::uint64_t>(entry.at("data_offsets"));
      std::size_t expected = bytes_of(tensor.format);
      for (std::int64_t const extent : tensor.shape)
        if (extent < 0 || __builtin_mul_overflow(expected, extent, &expected))
          refuse(fmt::format("tensor {} has the shape [{}]", name, fmt::join(tensor.shape, ", ")));
      if (range.size() != 2 || range[0] > range[1] || range[1] > data_bytes())
        refuse(fmt::format("tensor {} should lie at [{}] of {} bytes", name, fmt::join(range, ", "),
                           data_bytes()));
      std::uint64_t const bytes = range[1] - range[0];
      if (bytes != expected)
        refuse(fmt::format("tensor {} of shape [{}] should have {} bytes; it has {}", name,
                           fmt::join(tensor.shape, ", "), expected, bytes));
      tensor.bytes.resize(bytes);
      read(data_ + range[0], tensor.bytes.data(), bytes);
      end_ = std::max(end_, range[1]);
    } catch (Json::exception const& error) {
      refuse(fmt::format("tensor {} needs dtype, shape and data_offsets: {}", name, error.what()));
    }
    return tensor;
  }

  NumberFormat format_of(std::string const& name, std::string const& dtype) {
    if (auto const format = format_of_dtype(dtype)) return *format;
    refuse(fmt::format("tensor {} has dtype {}; expected F32, BF16, F16 or U8", name, dtype));
  }

  [[noreturn]] void refuse(std::string const& what) {
    throw PeerError(path_.string() + ": " + what);
  }

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::uint64_t data_ = 0;  // where tensors begin
  std::uint64_t end_ = 0;   // of the last one
};

}  // namespace

std::vector<float> numbers_in(TensorFromFile const& tensor) {
  std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

TensorFile read_tensor_file(std::filesystem::path const& path, std::uint64_t bytes_max) {
  return Reader(path, bytes_max).tensors();
}

}  // namespace adamant::scenarios
