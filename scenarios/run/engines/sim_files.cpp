#include "scenarios/run/engines/sim_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "scenarios/run/engines/sim_storage.h"
#include "scenarios/run/run.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

constexpr std::byte flipped_bit{0x10};

std::vector<std::byte> bytes_of(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> const text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::string path_of(std::string_view checkpoint, std::string_view file) {
  return fmt::format("{}/{}", checkpoint, file);
}

bool wants_stale_files(Scenario const& scenario) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(),
                     [](Fault const& fault) { return fault.then == Fault::Then::stale_file; });
}

/// Which of `count` things a fault is about; it may count on from the first again.
std::size_t index_of(std::optional<std::int64_t> number, std::size_t count) {
  return static_cast<std::size_t>(number.value_or(0)) % count;
}

}  // namespace

SimFiles::SimFiles(EngineTask const& task)
    : task_(task), keeps_old_(wants_stale_files(task.scenario)) {
  for (std::string const& name : task.program.foreign_checkpoints()) import_foreign(name);
}

void SimFiles::import_foreign(std::string const& checkpoint) {
  auto const directory = task_.foreign_checkpoints / checkpoint;
  std::error_code error;
  if (task_.foreign_checkpoints.empty() || !std::filesystem::is_directory(directory, error))
    throw MachineLacks("nothing to load: no directory `" + checkpoint +
                       "` is beside the scenario file");
  disk_.make_directory(checkpoint);
  disk_.sync_directory("");
  for (auto const& entry : std::filesystem::directory_iterator(directory))
    if (entry.is_regular_file())
      disk_.overwrite(path_of(checkpoint, entry.path().filename().string()),
                      bytes_of(entry.path()));
}

std::unique_ptr<real::Storage> SimFiles::storage_of(int rank) {
  return std::make_unique<SimStorage>(*this, rank);
}

std::vector<StoredFile> SimFiles::files_of(std::string_view checkpoint) const {
  std::vector<StoredFile> files;
  if (!disk_.is_directory(checkpoint)) return files;
  for (std::string& name : disk_.list(checkpoint)) {
    auto const bytes = disk_.peek(path_of(checkpoint, name));
    files.push_back({std::move(name), bytes});
  }
  return files;
}

SimFiles::Files SimFiles::copy_of(std::string_view checkpoint) const {
  Files copy;
  for (StoredFile const& file : files_of(checkpoint))
    copy.emplace(file.name, std::vector<std::byte>(file.bytes.begin(), file.bytes.end()));
  return copy;
}

void SimFiles::begin_save() {
  ++saves_;
  for (Fault const& fault : task_.scenario.faults)
    if (fault.at == Fault::Where::save && fault.nth.value_or(1) == saves_)
      crash_point_.arm(static_cast<int>(fault.rank.value_or(0)),
                       static_cast<std::uint64_t>(fault.after_bytes.value_or(0)));
}

bool SimFiles::end_save(std::string_view checkpoint) {
  if (crash_point_.armed()) return crash(), true;
  if (keeps_old_) {
    std::string const name(checkpoint);
    older_[name] = std::exchange(newest_[name], copy_of(checkpoint));
  }
  return false;
}

void SimFiles::crash() {
  crash_point_.disarm();
  crashed_ = true;
  sim::note_event("crash");
  disk_.crash(sim::choose);
  sim::end_world();
}

void SimFiles::restart() {
  crashed_ = false;
  disk_.restart();
}

std::string SimFiles::begin_load(std::string_view checkpoint) {
  ++loads_;
  std::string done;
  for (Fault const& fault : task_.scenario.faults) {
    if (fault.at != Fault::Where::load || fault.nth.value_or(1) != loads_) continue;
    std::string const damage = spoil(std::string(checkpoint), fault);
    if (!damage.empty() && !done.empty()) done += "; ";
    done += damage;
  }
  if (!done.empty()) sim::note_event(done);
  return done;
}

std::string SimFiles::spoil(std::string const& checkpoint, Fault const& fault) {
  auto const files = files_of(checkpoint);
  if (files.empty()) return "";
  if (fault.then == Fault::Then::stale_file) return put_back_stale(checkpoint, fault);
  StoredFile const& file = files[index_of(fault.file, files.size())];
  std::string const path = path_of(checkpoint, file.name);
  std::vector<std::byte> bytes(file.bytes.begin(), file.bytes.end());
  if (fault.then == Fault::Then::remove_file) {
    disk_.lose(path);
    return path + " was removed";
  }
  if (bytes.empty()) return "";
  if (fault.then == Fault::Then::truncate) {
    auto const half = static_cast<std::int64_t>(bytes.size() / 2);
    bytes.resize(index_of(fault.byte.value_or(half), bytes.size()));
    disk_.overwrite(path, bytes);
    return fmt::format("{} was cut to {} bytes", path, bytes.size());
  }
  std::size_t const at = index_of(fault.byte, bytes.size());
  bytes[at] ^= flipped_bit;
  disk_.overwrite(path, bytes);
  return fmt::format("a bit of byte {} of {} was flipped", at, path);
}

std::string SimFiles::put_back_stale(std::string const& checkpoint, Fault const& fault) {
  Files const& old = older_[checkpoint];
  if (old.empty()) return "";
  auto const file =
      std::next(old.begin(), static_cast<std::ptrdiff_t>(index_of(fault.file, old.size())));
  auto const now = newest_[checkpoint].find(file->first);
  if (now != newest_[checkpoint].end() && now->second == file->second) return "";
  disk_.overwrite(path_of(checkpoint, file->first), file->second);
  return path_of(checkpoint, file->first) + " is that of an older save";
}

}  // namespace adamant::scenarios
