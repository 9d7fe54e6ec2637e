#include "scenarios/peers/client/peer_files.h"

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  auto const bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void overwrite(fs::path const& path, std::vector<std::byte> const& bytes) {
  fs::create_directories(path.parent_path());  // a file of an older save may have had its own
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<char const*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush())
    throw std::system_error(errno, std::generic_category(), path.string() + ": cannot write");
}

std::vector<StoredFile> views_of(KeptFiles const& files) {
  std::vector<StoredFile> views;
  for (auto const& [name, bytes] : files) views.push_back({.name = name, .bytes = bytes});
  return views;
}

}  // namespace

PeerFiles::PeerFiles(Scenario const& scenario, fs::path directory)
    : scenario_(scenario),
      directory_(std::move(directory)),
      keeps_old_(wants_stale_files(scenario.faults)) {
  fs::create_directories(directory_);
}

fs::path PeerFiles::path_of(std::string_view checkpoint) const {
  return directory_ / checkpoint;
}

void PeerFiles::import(fs::path const& from, std::string const& checkpoint) {
  std::error_code error;
  if (from.empty() || !fs::is_directory(from / checkpoint, error))
    throw MachineLacks(no_directory(checkpoint));
  fs::create_directories(path_of(checkpoint));
  for (auto const& entry : fs::recursive_directory_iterator(from / checkpoint)) {
    fs::path const to = path_of(checkpoint) / entry.path().lexically_relative(from / checkpoint);
    if (entry.is_directory()) fs::create_directories(to);
    if (entry.is_regular_file()) fs::copy_file(entry.path(), to);  // nor do pipes belong to it
  }
}

std::optional<PeerCrash> PeerFiles::begin_save() {
  Fault const* const crash = crash_at(scenario_.faults, ++saves_);
  if (crash == nullptr) return std::nullopt;
  return PeerCrash{.rank = crash->rank.value_or(0), .operation = crash->after_bytes.value_or(0)};
}

FileDigests PeerFiles::digests(std::string_view checkpoint) const {
  FileDigests digests;
  for (auto const& [name, bytes] : read(checkpoint)) digests[name] = digest_of(bytes);
  return digests;
}

void PeerFiles::end_save(std::string_view checkpoint) {
  if (!keeps_old_) return;
  std::string const name(checkpoint);
  older_[name] = std::exchange(newest_[name], read(checkpoint));
}

DamagedFiles PeerFiles::begin_load(std::string_view checkpoint) {
  return damage_files(scenario_.faults, ++loads_, [&](Fault const& fault) {
    return damage_file(std::string(checkpoint), fault);
  });
}

std::optional<FileDamage> PeerFiles::damage_file(std::string const& checkpoint,
                                                 Fault const& fault) {
  KeptFiles const files = read(checkpoint);
  auto damage = damage_of(fault, views_of(files), older_[checkpoint]);
  if (!damage) return std::nullopt;
  fs::path const path = path_of(checkpoint) / damage->done.file;
  if (damage->bytes)
    overwrite(path, *damage->bytes);
  else
    fs::remove(path);
  damage->done.file = checkpoint + "/" + damage->done.file;
  return std::move(damage->done);
}

KeptFiles PeerFiles::read(std::string_view checkpoint) const {
  KeptFiles files;
  fs::path const directory = path_of(checkpoint);
  std::error_code error;
  for (auto const& entry : fs::recursive_directory_iterator(directory, error))
    if (entry.is_regular_file())
      files.emplace(entry.path().lexically_relative(directory).string(), bytes_of(entry.path()));
  return files;
}

}  // namespace adamant::scenarios
