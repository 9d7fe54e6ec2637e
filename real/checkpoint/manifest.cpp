#include "real/checkpoint/manifest.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/crc32c.h"
#include "real/checkpoint/json_text.h"
#include "real/checkpoint/manifest_limits.h"

namespace adamant::real {

namespace {

using Json = nlohmann::json;                 // to read: finds a member without comparing all
using OrderedJson = nlohmann::ordered_json;  // to write

constexpr int version = 2;  // in 1, numbers were under their key as they are stored
constexpr std::string_view format = "adamant checkpoint";
constexpr std::string_view head = R"({"crc32c":")";
constexpr std::string_view middle = R"(","body":)";
constexpr std::string_view tail = "}\n";
constexpr std::size_t digits = 8;

std::uint32_t checksum_of(std::string_view text) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

std::string hexadecimal(std::uint32_t value) {
  constexpr char letters[] = "0123456789abcdef";
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; value >>= 4) text[i] = letters[value & 0xf];
  return text;
}

std::uint32_t value_of_digit(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<std::uint32_t>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<std::uint32_t>(letter - 'a' + 10);
  throw std::invalid_argument("a checksum has a letter that is no hexadecimal digit");
}

/// A group's numbers under a name: one, or two in a list.
struct Setting {
  char const* name;
  float AdamConfig::*first;
  float AdamConfig::*second = nullptr;
};
constexpr Setting settings[] = {{"lr", &AdamConfig::learning_rate},
                                {"betas", &AdamConfig::beta1, &AdamConfig::beta2},
                                {"eps", &AdamConfig::epsilon},
                                {"weight_decay", &AdamConfig::weight_decay}};

// binary32 values become the shortest decimals of the equal binary64, and come back exactly.
OrderedJson encode_group(SavedGroup const& group) {
  AdamConfig const& config = group.config;
  OrderedJson json = {{"name", group.name},
                      {"step", group.step},
                      {"mode", config.mode == AdamMode::adamw ? "adamw" : "adam"}};
  for (auto const& [name, first, second] : settings) {
    json[name] = static_cast<double>(config.*first);
    if (second != nullptr) json[name] = {json[name], static_cast<double>(config.*second)};
  }
  json["bias_correction"] = config.bias_correction;
  json["parameters"] = group.parameters;
  return json;
}

OrderedJson encode_body(Manifest const& manifest) {
  OrderedJson groups = OrderedJson::array();
  for (SavedGroup const& group : manifest.progress.groups) groups.push_back(encode_group(group));
  OrderedJson tensors = OrderedJson::array();
  for (ManifestTensor const& tensor : manifest.tensors)
    tensors.push_back({{"key", tensor.key}, {"dtype", tensor.dtype}, {"shape", tensor.shape}});
  OrderedJson files = OrderedJson::array();
  for (ManifestFile const& file : manifest.files)
    files.push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"crc32c", text_of_pieces(file.pieces)}});
  OrderedJson body = {{"format", format},
                      {"version", version},
                      {"world_size", manifest.world_size},
                      {"piece_bytes", manifest.piece_bytes},
                      {"groups", groups},
                      {"parameter_steps", manifest.progress.parameter_steps},
                      {"numbers", manifest.progress.numbers},
                      {"tensors", tensors},
                      {"files", files}};
  if (!manifest.parts.empty()) body["parts"] = manifest.parts;
  return body;
}

/// The part of the text that the checksum covers, once it does.
std::string_view checked_body(std::string_view text, std::string const& name) {
  std::size_t const body = head.size() + digits + middle.size();
  bool const whole = text.size() > body + tail.size() && text.starts_with(head) &&
                     text.substr(head.size() + digits).starts_with(middle) && text.ends_with(tail);
  if (!whole) refuse_damaged(name, ": is no manifest, or not all of one");
  std::string_view const bytes = text.substr(body, text.size() - body - tail.size());
  std::string const found = hexadecimal(checksum_of(bytes));
  std::string const expected(text.substr(head.size(), digits));
  if (found != expected) refuse_damaged(name, ": its checksum is ", found, ", expected ", expected);
  return bytes;
}

/// A number that can be what `name` is the name of.
template <typename Number>
Number number_of(Json const& json, char const* name, std::string const& where) {
  if (!json.is_number()) refuse_as_number(name, json.dump(), where);
  within_limits(name, json.get<double>(), where);
  return json.get<Number>();
}

/// The member of this name, a number that can be it.
template <typename Number>
Number number_in(Json const& json, char const* name, std::string const& where) {
  return number_of<Number>(json.at(name), name, where);
}

/// A member that is one of these words.
std::string word_in(Json const& json, char const* member,
                    std::initializer_list<std::string_view> words, std::string const& where) {
  Json const& word = json.at(member);
  std::string expected;
  for (std::string_view const possible : words) {
    if (word == possible) return std::string(possible);
    expected.append(expected.empty() ? "" : " or ").append(possible);
  }
  refuse_damaged(where, ": ", member, " is ", word.dump(), ", expected ", expected);
}

std::string words_for(SavedGroup const& group) {
  return group.name.empty() ? "the group without a name" : concat("group ", group.name);
}

SavedGroup decode_group(Json const& json, std::string const& name) {
  SavedGroup group;
  group.name = json.at("name").get<std::string>();
  std::string const where = concat(name, ": ", words_for(group));
  std::string const mode = word_in(json, "mode", {"adam", "adamw"}, where);
  group.step = number_in<std::int64_t>(json, "step", where);
  group.config.mode = mode == "adam" ? AdamMode::adam : AdamMode::adamw;
  for (auto const& [key, first, second] : settings) {
    Json const& value = json.at(key);
    group.config.*first = number_of<float>(second == nullptr ? value : value.at(0), key, where);
    if (second != nullptr) group.config.*second = number_of<float>(value.at(1), key, where);
  }
  group.config.bias_correction = json.at("bias_correction").get<bool>();
  group.parameters = json.at("parameters").get<std::vector<std::string>>();
  return group;
}

Progress decode_progress(Json const& json, std::string const& name) {
  Progress progress;
  for (Json const& group : json.at("groups")) progress.groups.push_back(decode_group(group, name));
  for (auto const& [parameter, step] : json.at("parameter_steps").items())
    progress.parameter_steps[parameter] =
        number_of<std::int64_t>(step, "step", concat(name, ": parameter ", parameter));
  json.at("numbers").get_to(progress.numbers);
  return progress;
}

ManifestTensor decode_tensor(Json const& json, std::string const& name) {
  ManifestTensor tensor{.key = json.at("key").get<std::string>(),
                        .dtype = json.at("dtype").get<std::string>(),
                        .shape = {}};
  std::string const where = concat(name, ": tensor ", tensor.key);
  for (double const extent : json.at("shape").get<std::vector<double>>())
    tensor.shape.push_back(static_cast<std::int64_t>(within_limits("shape", extent, where)));
  return tensor;
}

/// Names of a parameter's parts, each another.
void check_parts(Manifest const& manifest, std::string const& name) {
  for (auto const& [parameter, parts] : manifest.parts)
    for (auto part = parts.begin(); part != parts.end(); ++part)
      if (std::find(parts.begin(), part, *part) != part || part->find('/') != std::string::npos)
        refuse_damaged(name, ": parts of ", parameter, ": ", *part,
                       " is no name of a part, or there twice");
}

Manifest decode_body(Json const& json, std::string const& name) {
  Manifest manifest;
  word_in(json, "format", {format}, name);
  if (number_in<int>(json, "version", name) > version)
    refuse_damaged(name, ": has version ", json.at("version").dump(), ", expected at most ",
                   std::to_string(version), ": it was written by a newer adamant");
  manifest.world_size = number_in<int>(json, "world_size", name);
  manifest.piece_bytes = number_in<std::uint64_t>(json, "piece_bytes", name);
  manifest.progress = decode_progress(json, name);
  for (Json const& tensor : json.at("tensors"))
    manifest.tensors.push_back(decode_tensor(tensor, name));
  for (Json const& file : json.at("files"))
    manifest.files.push_back({file.at("name").get<std::string>(),
                              number_in<std::uint64_t>(file, "bytes", name),
                              pieces_of_text(file.at("crc32c").get<std::string>())});
  if (json.contains("parts")) json.at("parts").get_to(manifest.parts);
  return manifest;
}

/// Every parameter of a group has a step, and none that its group has not made.
void check_steps(Progress const& progress, std::string const& name) {
  for (SavedGroup const& group : progress.groups) {
    for (std::string const& parameter : group.parameters) {
      auto const found = progress.parameter_steps.find(parameter);
      if (found == progress.parameter_steps.end())
        refuse_damaged(name, ": parameter_steps: has none of parameter ", parameter,
                       ", expected one: ", words_for(group), " lists it");
      if (found->second > group.step)
        refuse_damaged(name, ": parameter ", parameter, ": step is ", std::to_string(found->second),
                       ", expected at most that of ", words_for(group), ", ",
                       std::to_string(group.step));
    }
  }
}

/// One checksum for every piece of every file.
void check_counts(Manifest const& manifest, std::string const& name) {
  for (ManifestFile const& file : manifest.files) {
    std::uint64_t const pieces =
        file.bytes / manifest.piece_bytes + (file.bytes % manifest.piece_bytes != 0 ? 1U : 0U);
    if (file.pieces.size() != pieces)
      refuse_damaged(name, ": has ", std::to_string(file.pieces.size()), " checksums of ",
                     file.name, ", expected ", std::to_string(pieces));
  }
}

}  // namespace

std::string text_of_pieces(std::vector<std::uint32_t> const& pieces) {
  std::string text;
  for (std::uint32_t const piece : pieces) text.append(hexadecimal(piece));
  return text;
}

std::vector<std::uint32_t> pieces_of_text(std::string const& text) {
  if (text.size() % digits != 0) throw std::invalid_argument("checksums are not of eight digits");
  std::vector<std::uint32_t> pieces;
  for (std::size_t begin = 0; begin < text.size(); begin += digits) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) value = value << 4 | value_of_digit(text[begin + i]);
    pieces.push_back(value);
  }
  return pieces;
}

std::string encode(Manifest const& manifest) {
  std::string const body = encode_body(manifest).dump();
  return concat(head, hexadecimal(checksum_of(body)), middle, body, tail);
}

Manifest decode_manifest(std::string const& text, std::string const& name) {
  std::string_view const body = checked_body(text, name);
  expect_shallow(body, concat(name, ": "));
  try {
    Manifest manifest = decode_body(Json::parse(body), name);
    check_counts(manifest, name);
    check_parts(manifest, name);
    check_steps(manifest.progress, name);
    return manifest;
  } catch (nlohmann::json::exception const& error) {
    refuse_damaged(name, ": ", error.what());
  } catch (std::invalid_argument const& error) {
    refuse_damaged(name, ": ", error.what());
  }
}

}  // namespace adamant::real
