#include "real/testing/memory_storage.h"

#include <cstring>

namespace adamant::real {

namespace {

[[noreturn]] void refuse(std::string const& path, char const* what) {
  std::string message = path;
  throw StorageError(message.append(": ").append(what));
}

class MemoryInput final : public InputFile {
 public:
  MemoryInput(std::string path, std::shared_ptr<std::vector<std::byte>> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_->size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset > bytes_->size() || into.size() > bytes_->size() - offset)
      refuse(path_, "ends too early");
    if (!into.empty()) std::memcpy(into.data(), bytes_->data() + offset, into.size());
  }

 private:
  std::string path_;
  std::shared_ptr<std::vector<std::byte>> bytes_;
};

bool lies_in(std::string const& path, std::string const& directory) {
  return path.starts_with(directory) && path.size() > directory.size() &&
         path[directory.size()] == '/';
}

}  // namespace

class MemoryOutput final : public OutputFile {
 public:
  MemoryOutput(MemoryStorage& storage, std::string path, MemoryStorage::Bytes bytes)
      : storage_(storage), path_(std::move(path)), bytes_(std::move(bytes)) {}
  void append(std::span<std::byte const> bytes) override {
    if (storage_.refuses_append && storage_.refuses_append(path_)) refuse(path_, "no space left");
    std::size_t const end = bytes_->size();
    bytes_->resize(end + bytes.size());
    if (!bytes.empty()) std::memcpy(bytes_->data() + end, bytes.data(), bytes.size());
  }
  void sync() override {}

 private:
  MemoryStorage& storage_;
  std::string path_;
  MemoryStorage::Bytes bytes_;
};

bool MemoryStorage::exists_now(std::string const& path) const {
  return path == "." || entries_.contains(path);
}

void MemoryStorage::expect_directory_of(std::string const& path) const {
  std::string const parent = parent_of(path);
  if (parent == ".") return;
  auto const found = entries_.find(parent);
  if (found == entries_.end() || found->second != nullptr) refuse(parent, "is no directory");
}

bool MemoryStorage::exists(std::string const& path) {
  std::lock_guard const lock(mutex_);
  return exists_now(path);
}

std::unique_ptr<InputFile> MemoryStorage::open(std::string const& path) {
  std::lock_guard const lock(mutex_);
  auto const found = entries_.find(path);
  if (found == entries_.end() || found->second == nullptr) refuse(path, "is no file");
  return std::make_unique<MemoryInput>(path, found->second);
}

std::unique_ptr<OutputFile> MemoryStorage::create(std::string const& path) {
  std::lock_guard const lock(mutex_);
  expect_directory_of(path);
  Bytes const bytes = std::make_shared<std::vector<std::byte>>();
  entries_[path] = bytes;
  return std::make_unique<MemoryOutput>(*this, path, bytes);
}

void MemoryStorage::rename(std::string const& from, std::string const& to) {
  std::lock_guard const lock(mutex_);
  if (!exists_now(from)) refuse(from, "is missing");
  if (exists_now(to)) refuse(to, "exists");
  std::map<std::string, Bytes> moved;
  for (auto const& [path, bytes] : entries_) {
    std::string target = path;
    if (path == from || lies_in(path, from)) target.replace(0, from.size(), to);
    moved[target] = bytes;
  }
  entries_ = std::move(moved);
}

void MemoryStorage::remove(std::string const& path) {
  std::lock_guard const lock(mutex_);
  if (!exists_now(path)) refuse(path, "is missing");
  for (auto const& [other, bytes] : entries_)
    if (lies_in(other, path)) refuse(path, "is not empty");
  entries_.erase(path);
}

std::vector<DirectoryEntry> MemoryStorage::list(std::string const& directory) {
  std::lock_guard const lock(mutex_);
  bool const root = directory == ".";
  if (!exists_now(directory)) refuse(directory, "is missing");
  std::vector<DirectoryEntry> entries;
  for (auto const& [path, bytes] : entries_)
    if (parent_of(path) == (root ? std::string(".") : directory))
      entries.push_back({name_of_path(path), bytes == nullptr});
  return entries;
}

void MemoryStorage::make_directory(std::string const& path) {
  std::lock_guard const lock(mutex_);
  expect_directory_of(path);
  if (exists_now(path)) refuse(path, "exists");
  entries_[path] = nullptr;
}

void MemoryStorage::sync_directory(std::string const& path) {
  if (!exists(path)) refuse(path, "is missing");
}

std::vector<std::byte>& MemoryStorage::bytes_of(std::string const& path) {
  return *entries_.at(path);
}

}  // namespace adamant::real
