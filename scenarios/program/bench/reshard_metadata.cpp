#include "scenarios/program/bench/reshard_metadata.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/reshard.h"
#include "real/checkpoint/safetensors.h"
#include "scenarios/program/bench/measure.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t columns = 768;
constexpr std::int64_t rows_of_rank = 1009;
constexpr int measured_headers = 64;
constexpr int measured_tensors = 16;

struct File {
  std::vector<std::byte> header;
  std::uint64_t bytes = 0;
};

/// What rank `rank` writes.
File file_of(SavedWorld const& world, std::int64_t rank) {
  std::vector<real::SavedPart> parts;
  for (int t = 0; t < world.tensors; ++t)
    parts.push_back({.key = "optim.state.layers." + std::to_string(t) + ".weight.exp_avg",
                     .dtype = "F32",
                     .shape = {rows_of_rank, columns},
                     .offsets = {rank * rows_of_rank, 0},
                     .global_shape = {world.ranks * rows_of_rank, columns}});
  std::vector<std::byte> header = real::encode_header(parts, {{"format", "pt"}});
  return {std::move(header), parts.back().end};
}

/// Tensors by their keys, with a box of every file in each.
using Found = std::map<std::string, real::SavedTensor>;

void add_boxes(File const& file, int number, Found& found) {
  for (real::SavedPart const& part : real::parse_header(file.header, file.bytes, "file").parts) {
    real::SavedTensor& tensor = found[part.key];
    tensor.shape = part.global_shape;
    tensor.boxes.push_back(
        {.file = number, .offsets = part.offsets, .shape = part.shape, .begin = part.begin});
  }
}

}  // namespace

double seconds_from_headers(SavedWorld const& world) {
  std::vector<File> files;
  for (int rank = 0; rank < measured_headers; ++rank) files.push_back(file_of(world, rank));
  Found found;
  double const parsed = processor_nanoseconds_of([&] {
    for (int rank = 0; rank < measured_headers; ++rank)
      add_boxes(files[static_cast<std::size_t>(rank)], rank, found);
  });
  SavedWorld const few = {.ranks = world.ranks, .tensors = measured_tensors};
  Found whole;
  for (int rank = 0; rank < world.ranks; ++rank) add_boxes(file_of(few, rank), rank, whole);
  double const runs = processor_nanoseconds_of([&] {
    for (auto& [key, tensor] : whole) real::find_runs(tensor);
  });
  return (parsed * world.ranks / measured_headers + runs * world.tensors / measured_tensors) * 1e-9;
}

}  // namespace adamant::scenarios
