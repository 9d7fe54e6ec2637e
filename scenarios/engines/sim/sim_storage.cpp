#include "scenarios/engines/sim/sim_storage.h"

#include <algorithm>

#include "scenarios/engines/sim/sim_files.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

/// The disk's names have no "." and no slash at their end.
std::string on_disk(std::string path) {
  while (path.starts_with("./")) path.erase(0, 2);
  while (path.ends_with("/")) path.pop_back();
  return path == "." ? "" : path;
}

/// What the disk refuses becomes what the engine's interface throws.
template <typename Ask>
auto translated(Ask ask) {
  try {
    return ask();
  } catch (sim::DiskError const& error) {
    throw real::StorageError(error.what());
  }
}

class SimInput final : public real::InputFile {
 public:
  SimInput(sim::Disk const& disk, sim::Disk::File file) : disk_(disk), file_(std::move(file)) {}

  std::uint64_t size() const override {
    return translated([&] { return disk_.size(file_); });
  }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    std::vector<std::byte> room(into.size());
    std::size_t const there = translated([&] { return disk_.read(file_, offset, room); });
    if (there < room.size()) throw real::StorageError("the file ends before what is read of it");
    sim::copy_watched(into.data(), room.data(), room.size());
  }

 private:
  sim::Disk const& disk_;
  sim::Disk::File file_;
};

}  // namespace

template <typename Change>
auto SimStorage::change(char const* verb, std::string const& path, Change apply) {
  if (!sim::yield()) throw real::StorageError("the world has ended");
  if (files_.crash_point_.strikes(rank_, sim::choose)) files_.crash();
  std::uint64_t hash = 0;
  for (char const c : path) hash = hash * 31 + static_cast<unsigned char>(c);
  sim::note_event(verb, hash);
  return translated([&] { return apply(files_.disk_); });
}

void SimStorage::append(sim::Disk::File const& file, std::span<std::byte const> bytes) {
  if (!sim::yield()) throw real::StorageError("the world has ended");
  std::size_t const admitted = files_.crash_point_.admit(rank_, bytes.size());
  std::vector<std::byte> written(admitted);
  sim::copy_watched(written.data(), bytes.data(), admitted);
  sim::note_event("write", admitted);
  translated([&] { files_.disk_.append(file, written); });
  if (admitted == bytes.size()) return;
  files_.crash();
  throw real::StorageError("the machine has crashed");
}

class SimOutput final : public real::OutputFile {
 public:
  SimOutput(SimStorage& storage, sim::Disk::File file, std::string path)
      : storage_(storage), file_(std::move(file)), path_(std::move(path)) {}

  void append(std::span<std::byte const> bytes) override { storage_.append(file_, bytes); }
  void sync() override {
    storage_.change("sync", path_, [&](sim::Disk& disk) { disk.sync(file_); });
  }

 private:
  SimStorage& storage_;
  sim::Disk::File file_;
  std::string path_;
};

bool SimStorage::exists(std::string const& path) {
  return translated([&] { return files_.disk_.exists(on_disk(path)); });
}

std::unique_ptr<real::InputFile> SimStorage::open(std::string const& path) {
  return translated(
      [&] { return std::make_unique<SimInput>(files_.disk_, files_.disk_.open(on_disk(path))); });
}

std::unique_ptr<real::OutputFile> SimStorage::create(std::string const& path) {
  return change("create", path, [&](sim::Disk& disk) {
    return std::make_unique<SimOutput>(*this, disk.create(on_disk(path)), path);
  });
}

void SimStorage::rename(std::string const& from, std::string const& to) {
  change("rename", from + '\n' + to,
         [&](sim::Disk& disk) { disk.rename(on_disk(from), on_disk(to)); });
}

void SimStorage::remove(std::string const& path) {
  change("remove", path, [&](sim::Disk& disk) { disk.remove(on_disk(path)); });
}

std::vector<real::DirectoryEntry> SimStorage::list(std::string const& directory) {
  return translated([&] {
    std::vector<real::DirectoryEntry> entries;
    std::string const place = on_disk(directory);
    for (std::string const& name : files_.disk_.list(place)) {
      std::string const path = place.empty() ? name : place + "/" + name;
      entries.push_back({name, files_.disk_.is_directory(path)});
    }
    return entries;
  });
}

void SimStorage::make_directory(std::string const& path) {
  change("make directory", path, [&](sim::Disk& disk) { disk.make_directory(on_disk(path)); });
}

void SimStorage::sync_directory(std::string const& path) {
  change("sync directory", path, [&](sim::Disk& disk) { disk.sync_directory(on_disk(path)); });
}

}  // namespace adamant::scenarios
