#include <string>
#include <vector>

#include "real/checkpoint/headers.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/safetensors.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/reshard_parts.h"

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

/// What all ranks know from the manifest, by number.
real::NameNumbers names_of(SavedWorld const& world) {
  real::NameNumbers names;
  for (real::SavedPart const& part : parts_of(world, 0))
    names.try_emplace({part.key, part.dtype}, names.size());
  return names;
}

/// What the rank that reads the header tells the others of it.
real::Message told_of(SavedWorld const& world, real::NameNumbers const& names, std::int64_t rank) {
  real::FileHeader const header{.file_bytes = 0, .parts = parts_of(world, rank)};
  real::Message told;
  real::tell_headers({&header, 1}, names, told);
  return told;
}

/// One header read and told: each rank of a world has one, or two where fewer load.
double seconds_of_own_header(SavedWorld const& world) {
  std::vector<real::SavedPart> parts = parts_of(world, 5);
  std::vector<std::byte> const header = header_of(parts);
  real::NameNumbers const names = names_of(world);
  return processor_nanoseconds_of([&] {
           real::FileHeader const read{
               .file_bytes = parts.back().end,
               .parts = real::parse_header(header, parts.back().end, "file").parts};
           real::Message told;
           real::tell_headers({&read, 1}, names, told);
         }) *
         1e-9;
}

/// Tensors of the manifest, with a box of every file in each.
std::vector<real::SavedTensor> tensors_of(SavedWorld const& world) {
  std::vector<real::SavedTensor> tensors;
  for (real::SavedPart const& part : parts_of(world, 0))
    tensors.push_back({part.key, part.dtype, part.global_shape});
  return tensors;
}

void add_boxes(real::Message const& told, int number, std::vector<real::SavedTensor>& tensors) {
  real::ToldHeaders headers(told, tensors.size());
  std::size_t const parts = headers.file().parts;
  for (std::size_t i = 0; i < parts; ++i) {
    real::ToldPart const part = headers.part();
    tensors[part.number].boxes.add(
        {.file = number, .offsets = part.offsets, .shape = part.shape, .begin = part.begin});
  }
}

}  // namespace

double seconds_from_headers(SavedWorld const& world) {
  real::NameNumbers const names = names_of(world);
  std::vector<real::Message> told;
  for (int rank = 0; rank < measured_headers; ++rank) told.push_back(told_of(world, names, rank));
  std::vector<real::SavedTensor> heard_of = tensors_of(world);
  double const heard = processor_nanoseconds_of([&] {
    for (int rank = 0; rank < measured_headers; ++rank)
      add_boxes(told[static_cast<std::size_t>(rank)], rank, heard_of);
  });
  SavedWorld const few = {.ranks = world.ranks, .tensors = measured_tensors};
  real::NameNumbers const few_names = names_of(few);
  std::vector<real::SavedTensor> whole = tensors_of(few);
  for (int rank = 0; rank < world.ranks; ++rank)
    add_boxes(told_of(few, few_names, rank), rank, whole);
  double const runs = processor_nanoseconds_of([&] {
    for (real::SavedTensor& tensor : whole) real::find_runs(tensor);
  });
  double const of_all = heard * world.ranks / measured_headers;
  double const in_order = runs * world.tensors / measured_tensors;
  return 2 * seconds_of_own_header(world) + (of_all + in_order) * 1e-9;
}

}  // namespace adamant::scenarios
