// What a dump has of a world, read back.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oracle/formats/formats.h"
#include "scenarios/judge/dump/dump.h"
#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {

struct DumpedFile {
  nlohmann::json header;
  std::string data;

  std::span<std::byte const> bytes(std::string const& name) const {
    auto const offsets = header.at(name).at("data_offsets");
    std::size_t const begin = offsets[0];
    std::size_t const end = offsets[1];
    return std::as_bytes(std::span(data)).subspan(begin, end - begin);
  }
  std::vector<float> numbers(std::string const& name, NumberFormat format) const {
    auto const stored = bytes(name);
    std::vector<float> values(stored.size() / bytes_of(format));
    oracle::decode(format, stored, values);
    return values;
  }
};

inline DumpedFile read_dumped(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), sizeof length);
  return {nlohmann::json::parse(text.substr(8, length)), text.substr(8 + length)};
}

/// A file of the dump of a world that was started and made one step.
inline DumpedFile dumped(std::vector<ParameterSpec> const& parameters, WorldView const& world,
                         std::string const& name) {
  Scratch const scratch;
  AdamConfig const settings;
  Dump dump(scratch / "out", ::getpid(),
            {.parameter_count = static_cast<int>(parameters.size()),
             .spec = [&](int parameter) -> ParameterSpec const& {
               return parameters[static_cast<std::size_t>(parameter)];
             },
             .settings = [&](int) -> AdamConfig const& { return settings; }});
  dump.started(world);
  dump.after({.what = Step{}}, world);
  dump.commit();
  return read_dumped(scratch / "out" / name);
}

inline DumpedFile dumped_state(std::vector<ParameterSpec> const& parameters,
                               WorldView const& world) {
  return dumped(parameters, world, "state_001.safetensors");
}

inline DumpedFile dumped_initial(std::vector<ParameterSpec> const& parameters,
                                 WorldView const& world) {
  return dumped(parameters, world, "initial.safetensors");
}

}  // namespace adamant::scenarios
