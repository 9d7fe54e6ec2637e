#include "scenarios/judge/saved/shard_file.h"

#include <cstring>
#include <stdexcept>

#include "oracle/formats/formats.h"
#include "scenarios/language/json_text.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

namespace {

using Json = nlohmann::json;
using Bytes = std::span<std::byte const>;
using Extents = std::vector<std::int64_t>;

constexpr std::int64_t extent_max = std::int64_t{1} << 53;  // sums of two are far from the border

void require(bool holds, char const* what) {
  if (!holds) throw std::runtime_error(what);
}

/// The first bytes of a file, as many as it says.
Bytes take(Bytes& file, std::uint64_t bytes) {
  require(bytes <= file.size(), "a file is cut short, or its header lies");
  Bytes const taken = file.first(bytes);
  file = file.subspan(bytes);
  return taken;
}

Extents extents_in(Json const& json) {
  Extents extents = integers_in<std::int64_t>(json);
  for (std::int64_t const extent : extents)
    require(extent >= 0 && extent <= extent_max, "an extent is no count");
  return extents;
}

std::size_t counted_numel_of(Extents const& shape) {
  std::size_t numel = 1;
  for (std::int64_t const extent : shape)
    require(!__builtin_mul_overflow(numel, static_cast<std::size_t>(extent), &numel),
            "a shape has more elements than can be counted");
  return numel;
}

constexpr std::string_view dtypes[] = {"F32", "BF16", "F16", "U8", "U16"};

template <typename Number>
std::vector<double> wide_numbers(Bytes bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  std::vector<double> wide;
  for (Number const number : numbers) wide.push_back(static_cast<double>(number));
  return wide;
}

/// REQUIRES: a type that is known.
void decode_into(SavedBox& box, std::string const& dtype, Bytes bytes) {
  bool const wide = dtype.ends_with("64");
  std::size_t const size = wide ? sizeof(double) : bytes_of(box.format);
  require(bytes.size() % size == 0 && bytes.size() / size == counted_numel_of(box.shape),
          "a tensor has other bytes than its shape says");
  if (dtype == "F64") box.wide = wide_numbers<double>(bytes);
  if (dtype == "I64") box.wide = wide_numbers<std::int64_t>(bytes);
  for (double const number : box.wide) box.values.push_back(static_cast<float>(number));
  if (wide) return;
  box.values.resize(bytes.size() / size);
  oracle::decode(box.format, bytes, box.values);
  if (box.format == NumberFormat::fp8)
    for (std::byte const byte : bytes) box.bytes.push_back(std::to_integer<std::uint8_t>(byte));
}

SavedBox box_of(Json const& entry, Json const& offsets, Bytes data) {
  SavedBox box;
  box.shape = extents_in(entry.at("shape"));
  box.offsets = offsets.is_null() ? Extents(box.shape.size(), 0) : extents_in(offsets);
  require(box.offsets.size() == box.shape.size(), "a part has not as many offsets as extents");
  auto const range = integers_in<std::uint64_t>(entry.at("data_offsets"));
  require(range.size() == 2 && range[0] <= range[1] && range[1] <= data.size(),
          "a tensor lies outside of its file");
  auto const dtype = entry.at("dtype").get<std::string>();
  bool const wide = dtype == "F64" || dtype == "I64";
  auto const format = wide ? NumberFormat::fp32 : format_of_dtype(dtype);
  if (!format) return box;
  box.format = *format;
  decode_into(box, dtype, data.subspan(range[0], range[1] - range[0]));
  return box;
}

/// Where parts begin in their wholes, by key.
Json places_in(Json const& header) {
  static Json::json_pointer const where("/__metadata__/DCP_SHARDING_INFO");
  if (!header.contains(where)) return Json::object();
  return parse_json<Json>(header.at(where).get<std::string>());
}

}  // namespace

std::string_view dtype_of(NumberFormat format) {
  return dtypes[static_cast<std::size_t>(format)];
}

std::optional<NumberFormat> format_of_dtype(std::string_view dtype) {
  return value_named<NumberFormat>(std::span(dtypes).first<4>(), dtype);
}

std::vector<std::pair<std::string, SavedBox>> boxes_in(Bytes file) {
  std::uint64_t length = 0;
  std::memcpy(&length, take(file, sizeof length).data(), sizeof length);
  Bytes const text = take(file, length);
  Json const header = parse_json<Json>({reinterpret_cast<char const*>(text.data()), text.size()});
  Json const places = places_in(header);
  std::vector<std::pair<std::string, SavedBox>> boxes;
  for (auto const& [key, entry] : header.items()) {
    if (key == "__metadata__") continue;
    Json const offsets = places.contains(key) ? places.at(key).at("saved_offsets") : Json();
    boxes.emplace_back(key, box_of(entry, offsets, file));
  }
  return boxes;
}

}  // namespace adamant::scenarios
