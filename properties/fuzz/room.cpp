#include "properties/fuzz/room.h"

#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace adamant::properties {

namespace fs = std::filesystem;

void require(bool holds, std::string const& what) {
  if (!holds) throw std::logic_error(what);
}

std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

std::vector<std::string> split(std::span<std::byte const> bytes, std::string_view border) {
  std::string const text = text_of(bytes);
  std::string const line = "\n" + std::string(border) + "\n";
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    std::size_t const end = text.find(line, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + line.size();
  }
}

Room& Room::of_this_process() {
  static Room room;
  return room;
}

Room::Room() {
  fs::path const memory = "/dev/shm";
  std::error_code unknown;
  path_ = (fs::is_directory(memory, unknown) ? memory : fs::temp_directory_path()) /
          ("adamant-fuzz-" + std::to_string(::getpid()));
  fs::remove_all(path_);
  fs::create_directories(path_);
}

Room::~Room() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Room::write(fs::path const& name, std::string_view content) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream out(path_ / name, std::ios::binary);
  out << content;
  out.close();
  require(out.good(), "no room for " + (path_ / name).string());
}

fs::path Room::empty_folder(fs::path const& name) const {
  fs::remove_all(path_ / name);
  fs::create_directories(path_ / name);
  return path_ / name;
}

}  // namespace adamant::properties
