#include "real/checkpoint/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/json_text.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

class KeyTwice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What text of an object is read into. Of a key that is there twice the second value would replace
/// the first in silence. A callback of the parser could tell as well, but with one each object that
/// ends walks along all those before it.
template <typename Key, typename Value, typename Less, typename Allocator>
class MembersOnce : public std::map<Key, Value, Less, Allocator> {
 public:
  using std::map<Key, Value, Less, Allocator>::map;

  /// How the parser makes a member. Errors: KeyTwice.
  Value& operator[](Key const& key) {
    auto const [member, is_new] = this->try_emplace(key);
    if (!is_new) throw KeyTwice(key);
    return member->second;
  }
};

using UniqueJson = nlohmann::basic_json<MembersOnce>;

constexpr char metadata_key[] = "__metadata__";
constexpr char sharding_key[] = "DCP_SHARDING_INFO";
constexpr std::size_t size_bytes = 8;
constexpr std::uint64_t json_bytes_max = 100'000'000;  // as the safetensors library
constexpr std::int64_t extent_max = std::int64_t{1} << 53;

std::string_view text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// What a message begins with.
std::string place(std::string const& file, std::string const& key) {
  return concat(file, ": tensor ", key, ": ");
}

UniqueJson parse_json(std::string_view text, std::string const& where) {
  expect_shallow(text, where);
  try {
    UniqueJson json = UniqueJson::parse(text);
    if (!json.is_object()) refuse_damaged(where, "is no JSON object");
    return json;
  } catch (UniqueJson::exception const& error) {
    refuse_damaged(where, "is no JSON: ", error.what());
  } catch (KeyTwice const& key) {
    refuse_damaged(where, "key ", key.what(), " is there twice");
  }
}

std::vector<std::int64_t> extents(UniqueJson const& json, std::string const& where,
                                  char const* what) {
  if (!json.is_array()) refuse_damaged(where, what, " is no list");
  std::vector<std::int64_t> numbers;
  for (UniqueJson const& number : json) {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > extent_max)
      refuse_damaged(where, what, " has ", number.dump(), ", expected whole numbers up to 2^53");
    numbers.push_back(number.get<std::int64_t>());
  }
  return numbers;
}

UniqueJson const& member(UniqueJson const& json, char const* key, std::string const& where) {
  if (!json.is_object()) refuse_damaged(where, "is no JSON object");
  auto const found = json.find(key);
  if (found == json.end()) refuse_damaged(where, key, " is missing");
  return *found;
}

void read_place(SavedPart& part, UniqueJson const& json, SafetensorsHeader const& header,
                std::uint64_t file_bytes, std::string const& where) {
  auto const ends = extents(member(json, "data_offsets", where), where, "data_offsets");
  if (ends.size() != 2 || ends[0] > ends[1])
    refuse_damaged(where, "data_offsets are ", text_of_shape(ends), ", expected [begin, end]");
  part.begin = header.bytes + static_cast<std::uint64_t>(ends[0]);
  part.end = header.bytes + static_cast<std::uint64_t>(ends[1]);
  if (part.end > file_bytes)
    refuse_damaged(where, "its data end at byte ", std::to_string(part.end), ", the file at ",
                   std::to_string(file_bytes), ": it was cut short, or its header lies");
}

void check_size(SavedPart const& part, std::string const& name, std::string const& where) {
  std::int64_t const numel = count_elements(part.shape, name, part.key);
  std::optional<std::uint64_t> const bytes = bytes_of_dtype(part.dtype);
  if (!bytes) return;
  std::uint64_t const expected = static_cast<std::uint64_t>(numel) * *bytes;
  if (part.end - part.begin != expected)
    refuse_damaged(where, "has ", std::to_string(part.end - part.begin), " bytes, expected ",
                   std::to_string(expected), " for ", part.dtype, " ", text_of_shape(part.shape));
}

void read_sharding(SavedPart& part, UniqueJson const& sharding, std::string const& where) {
  part.offsets.assign(part.shape.size(), 0);
  if (sharding.is_null()) return;
  UniqueJson const& info = member(sharding, part.key.c_str(), concat(where, sharding_key, ": "));
  part.offsets = extents(member(info, "saved_offsets", where), where, "saved_offsets");
  if (auto const whole = info.find("global_shape"); whole != info.end())
    part.global_shape = extents(*whole, where, "global_shape");
  bool const ranks_agree =
      part.offsets.size() == part.shape.size() &&
      (part.global_shape.empty() || part.global_shape.size() == part.shape.size());
  if (!ranks_agree)
    refuse_damaged(where, "saved_offsets ", text_of_shape(part.offsets), " do not belong to shape ",
                   text_of_shape(part.shape));
}

/// Sorted by place: each part begins where the one before it ends, the last ends with the file.
void check_places(SafetensorsHeader const& header, std::uint64_t file_bytes,
                  std::string const& name) {
  std::uint64_t expected = header.bytes;
  for (SavedPart const& part : header.parts) {
    if (part.begin != expected)
      refuse_damaged(place(name, part.key), "its data begin at byte ", std::to_string(part.begin),
                     ", expected ", std::to_string(expected), ": data ",
                     part.begin < expected ? "overlap" : "have a gap");
    expected = part.end;
  }
  if (expected != file_bytes)
    refuse_damaged(name, ": has ", std::to_string(file_bytes), " bytes, its header accounts for ",
                   std::to_string(expected));
}

/// Takes the sharding information out of the metadata; null where there is none.
UniqueJson take_metadata(UniqueJson& json, SafetensorsHeader& header, std::string const& where) {
  auto const found = json.find(metadata_key);
  if (found == json.end()) return {};
  if (!found->is_object()) refuse_damaged(where, metadata_key, " is no JSON object");
  for (auto const& [key, value] : found->items()) {
    if (!value.is_string()) refuse_damaged(where, metadata_key, ": ", key, " is no text");
    header.metadata[key] = value.get<std::string>();
  }
  json.erase(found);
  auto const sharding = header.metadata.extract(sharding_key);
  if (sharding.empty()) return {};
  return parse_json(sharding.mapped(), concat(where, sharding_key, ": "));
}

}  // namespace

std::int64_t SavedPart::numel() const {
  return numel_of(shape);
}

std::int64_t count_elements(std::span<std::int64_t const> shape, std::string const& file,
                            std::string const& key) {
  std::int64_t numel = 1;
  for (std::int64_t const extent : shape) {
    if (extent != 0 && numel > extent_max / extent)
      refuse_damaged(place(file, key), "shape ", text_of_shape(shape), " is beyond 2^53 elements");
    numel *= extent;
  }
  return numel;
}

std::string dtype_of(NumberFormat format) {
  ADAMANT_REAL_ASSERT(format != NumberFormat::remainder);
  constexpr char const* names[] = {"F32", "BF16", "F16", "U8"};
  return names[static_cast<int>(format)];
}

std::optional<NumberFormat> format_of_dtype(std::string const& dtype) {
  for (NumberFormat const format :
       {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp8})
    if (dtype == dtype_of(format)) return format;
  return std::nullopt;
}

std::optional<std::uint64_t> bytes_of_dtype(std::string const& dtype) {
  static std::map<std::string, std::uint64_t> const sizes = {
      {"F64", 8}, {"I64", 8}, {"U64", 8},  {"F32", 4},     {"I32", 4},
      {"U32", 4}, {"F16", 2}, {"BF16", 2}, {"I16", 2},     {"U16", 2},
      {"I8", 1},  {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  auto const found = sizes.find(dtype);
  if (found == sizes.end()) return std::nullopt;
  return found->second;
}

std::vector<std::byte> encode_header(std::vector<SavedPart>& parts,
                                     std::map<std::string, std::string> const& metadata) {
  using Ordered = nlohmann::ordered_json;
  Ordered json = Ordered::object({{metadata_key, metadata}});
  Ordered sharding = Ordered::object();
  // Appended as to a list: whoever adds a member by its key has all of them compared with it.
  auto& tensors = json.get_ref<Ordered::object_t&>();
  auto& places = sharding.get_ref<Ordered::object_t&>();
  std::set<std::string_view> keys;
  std::uint64_t data_bytes = 0;
  for (SavedPart& part : parts) {
    bool const is_new = keys.insert(part.key).second;
    ADAMANT_REAL_ASSERT(is_new);
    part.begin = data_bytes;
    part.end = data_bytes += static_cast<std::uint64_t>(part.numel()) * *bytes_of_dtype(part.dtype);
    tensors.emplace_back(part.key, Ordered{{"dtype", part.dtype},
                                           {"shape", part.shape},
                                           {"data_offsets", {part.begin, part.end}}});
    places.emplace_back(
        part.key, Ordered{{"saved_offsets", part.offsets}, {"global_shape", part.global_shape}});
  }
  json[metadata_key][sharding_key] = sharding.dump();
  std::string text = json.dump();
  text.append((size_bytes - text.size() % size_bytes) % size_bytes, ' ');
  std::uint64_t const length = text.size();
  std::vector<std::byte> bytes(size_bytes + text.size());
  std::memcpy(bytes.data(), &length, size_bytes);
  std::memcpy(bytes.data() + size_bytes, text.data(), text.size());
  for (SavedPart& part : parts) {
    part.begin += bytes.size();
    part.end += bytes.size();
  }
  return bytes;
}

std::uint64_t header_bytes(std::span<std::byte const, 8> bytes, std::uint64_t file_bytes,
                           std::string const& name) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), size_bytes);
  if (file_bytes < size_bytes || length > file_bytes - size_bytes)
    refuse_damaged(name, ": its header has ", std::to_string(length), " bytes, the file ",
                   std::to_string(file_bytes), ": it was cut short, or is no safetensors file");
  if (length > json_bytes_max)
    refuse_damaged(name, ": its header has ", std::to_string(length), " bytes, at most ",
                   std::to_string(json_bytes_max), " are read");
  return size_bytes + length;
}

SafetensorsHeader parse_header(std::span<std::byte const> bytes, std::uint64_t file_bytes,
                               std::string const& name) {
  SafetensorsHeader header;
  header.bytes = header_bytes(bytes.first<8>(), file_bytes, name);
  ADAMANT_REAL_ASSERT(bytes.size() >= header.bytes);
  std::string const where = concat(name, ": header: ");
  UniqueJson json =
      parse_json(text_of(bytes.subspan(size_bytes, header.bytes - size_bytes)), where);
  UniqueJson const sharding = take_metadata(json, header, where);
  for (auto const& [key, value] : json.items()) {
    SavedPart part;
    part.key = key;
    std::string const at = place(name, key);
    UniqueJson const& dtype = member(value, "dtype", at);
    if (!dtype.is_string()) refuse_damaged(at, "dtype is no text");
    part.dtype = dtype.get<std::string>();
    part.shape = extents(member(value, "shape", at), at, "shape");
    read_place(part, value, header, file_bytes, at);
    check_size(part, name, at);
    read_sharding(part, sharding, at);
    header.parts.push_back(std::move(part));
  }
  std::stable_sort(header.parts.begin(), header.parts.end(),
                   [](SavedPart const& a, SavedPart const& b) {
                     return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
                   });
  check_places(header, file_bytes, name);
  return header;
}

SafetensorsHeader read_header(InputFile& file, std::string const& name) {
  if (file.size() < size_bytes)
    refuse_damaged(name, ": has ", std::to_string(file.size()),
                   " bytes, too few for a safetensors file");
  std::vector<std::byte> bytes(size_bytes);
  file.read(0, bytes);
  bytes.resize(header_bytes(std::span(bytes).first<8>(), file.size(), name));
  file.read(size_bytes, std::span(bytes).subspan(size_bytes));
  return parse_header(bytes, file.size(), name);
}

}  // namespace adamant::real
