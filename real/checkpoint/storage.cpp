#include "real/checkpoint/storage.h"

namespace adamant::real {

namespace {

bool is_directory(Storage& storage, std::string const& path) {
  for (DirectoryEntry const& entry : storage.list(parent_of(path)))
    if (entry.name == name_of_path(path)) return entry.is_directory;
  return false;
}

void remove_contents(Storage& storage, std::string const& directory) {
  for (DirectoryEntry const& entry : storage.list(directory)) {
    std::string const path = join_path(directory, entry.name);
    if (entry.is_directory) remove_contents(storage, path);
    storage.remove(path);
  }
}

}  // namespace

void remove_all(Storage& storage, std::string const& path) {
  if (!storage.exists(path)) return;
  if (is_directory(storage, path)) remove_contents(storage, path);
  storage.remove(path);
}

std::string join_path(std::string const& directory, std::string const& name) {
  std::string path = directory;
  if (!path.empty() && path.back() != '/') path += '/';
  return path += name;
}

std::string parent_of(std::string const& path) {
  std::size_t const slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of_path(std::string const& path) {
  std::size_t const slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace adamant::real
