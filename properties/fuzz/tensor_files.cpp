#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "oracle/types.h"
#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/peers/client/scaled_tensors.h"
#include "scenarios/peers/client/tensor_file.h"

namespace adamant::properties {

namespace {

/// What reads a part of a file may refuse it, as what the engine said.
template <typename Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (scenarios::PeerError const&) {
  }
}

/// A file that has no folder.
class FileInMemory {
 public:
  explicit FileInMemory(Bytes content) : number_(::memfd_create("tensors", MFD_CLOEXEC)) {
    require(number_ >= 0, "no file in memory can be made");
    auto const written = ::write(number_, content.data(), content.size());
    require(written == static_cast<ssize_t>(content.size()), "no memory for a file");
  }
  ~FileInMemory() { ::close(number_); }
  FileInMemory(FileInMemory const&) = delete;  // it is closed once

  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

constexpr Recipe recipes[] = {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                              Recipe::mxfp8, Recipe::nvfp4};

/// Everything that it could be asked for, of a rank that has the rows which the file has.
void read_scaled(scenarios::TensorFile const& file, std::string const& key,
                 std::vector<std::int64_t> const& shape) {
  for (NumberFormat const format : {NumberFormat::fp16, NumberFormat::fp8})
    read_or_refuse([&] { scenarios::scaled_numbers(file, key, format, shape); });
  if (shape.size() != 2) return;
  for (Recipe const recipe : recipes) {
    ParameterSpec const parameter{
        .name = key, .shape = {64, shape[1]}, .formats = {.recipe = recipe}};
    read_or_refuse([&] { scenarios::quantised_rows(file, key, parameter, shape); });
  }
}

}  // namespace

bool read_tensors(Bytes content) {
  FileInMemory const on_disk(content);
  try {
    auto const file = scenarios::read_tensor_file(on_disk.path(), 1U << 24U);
    for (auto const& [key, tensor] : file) read_scaled(file, key, tensor.shape);
    return true;
  } catch (scenarios::PeerError const&) {
    return false;
  }
}

}  // namespace adamant::properties
