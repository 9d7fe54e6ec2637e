#include "scenarios/program/bench/reshard_metadata.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/headers.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/safetensors.h"
#include "scenarios/program/bench/measure.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t columns = 768;
constexpr std::int64_t rows_of_rank = 1009;
constexpr int measured_headers = 64;
constexpr int measured_tensors = 16;

std::vector<std::byte> header_of(std::vector<real::SavedPart>& parts) {
  return real::encode_header(parts, {{"format", "pt"}});
}

/// What the file of rank `rank` has, and where.
std::vector<real::SavedPart> parts_of(SavedWorld const& world, std::int64_t rank) {
  std::vector<real::SavedPart> parts;
  for (int t = 0; t < world.tensors; ++t)
    parts.push_back({.key = "optim.state.layers." + std::to_string(t) + ".weight.exp_avg",
                     .dtype = "F32",
                     .shape = {rows_of_rank, columns},
                     .offsets = {rank * rows_of_rank, 0},
                     .global_shape = {world.ranks * rows_of_rank, columns}});
  header_of(parts);
  return parts;
}

/// What the rank that reads the header tells the others of it.
std::string told_of(SavedWorld const& world, std::int64_t rank) {
  real::FileHeader const header{.file_bytes = 0, .parts = parts_of(world, rank)};
  return real::text_of_headers({&header, 1});
}

/// One header read and told: each rank of a world has one, or two where fewer load.
double seconds_of_own_header(SavedWorld const& world) {
  std::vector<real::SavedPart> parts = parts_of(world, 5);
  std::vector<std::byte> const header = header_of(parts);
  return processor_nanoseconds_of([&] {
           real::FileHeader const read{
               .file_bytes = parts.back().end,
               .parts = real::parse_header(header, parts.back().end, "file").parts};
           static_cast<void>(real::text_of_headers({&read, 1}));
         }) *
         1e-9;
}

/// Tensors by their keys, with a box of every file in each.
using Found = std::map<std::string, real::SavedTensor>;

void add_boxes(std::string const& told, int number, Found& found) {
  for (real::FileHeader& header : real::headers_of_text(told))
    for (real::SavedPart& part : header.parts) {
      real::SavedTensor& tensor = found[part.key];
      tensor.shape = std::move(part.global_shape);
      tensor.boxes.push_back({.file = number,
                              .offsets = std::move(part.offsets),
                              .shape = std::move(part.shape),
                              .begin = part.begin});
    }
}

}  // namespace

double seconds_from_headers(SavedWorld const& world) {
  std::vector<std::string> told;
  for (int rank = 0; rank < measured_headers; ++rank) told.push_back(told_of(world, rank));
  Found found;
  double const heard = processor_nanoseconds_of([&] {
    for (int rank = 0; rank < measured_headers; ++rank)
      add_boxes(told[static_cast<std::size_t>(rank)], rank, found);
  });
  SavedWorld const few = {.ranks = world.ranks, .tensors = measured_tensors};
  Found whole;
  for (int rank = 0; rank < world.ranks; ++rank) add_boxes(told_of(few, rank), rank, whole);
  double const runs = processor_nanoseconds_of([&] {
    for (auto& [key, tensor] : whole) real::find_runs(tensor);
  });
  double const of_all = heard * world.ranks / measured_headers;
  double const in_order = runs * world.tensors / measured_tensors;
  return 2 * seconds_of_own_header(world) + (of_all + in_order) * 1e-9;
}

}  // namespace adamant::scenarios
