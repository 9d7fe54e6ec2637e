#include "scenarios/engines/sim/sim_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "scenarios/engines/sim/sim_storage.h"
#include "scenarios/seam/damage.h"
#include "scenarios/seam/engine.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

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

/// What history calls it. Digests depend on these words, so they stay when reports find better
/// ones.
std::string event_of(FileDamage const& done) {
  switch (done.how) {
    case Fault::Then::flip_byte:
      return fmt::format("{} has a flipped bit in byte {}", done.file, done.at);
    case Fault::Then::truncate:
      return fmt::format("{} was cut to {} bytes", done.file, done.at);
    case Fault::Then::remove_file:
      return done.file + " was removed";
    default:
      return done.file + " is that of an older save";
  }
}

std::string event_of(DamagedFiles const& files) {
  std::string event;
  for (FileDamage const& done : files) event += (event.empty() ? "" : "; ") + event_of(done);
  return event;
}

}  // namespace

SimFiles::SimFiles(EngineTask const& task)
    : task_(task), keeps_old_(wants_stale_files(task.scenario.faults)) {
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

void SimFiles::begin_save() {
  Fault const* const crash = crash_at(task_.scenario.faults, ++saves_);
  if (crash == nullptr) return;
  crash_point_.arm(static_cast<int>(crash->rank.value_or(0)),
                   static_cast<std::uint64_t>(crash->after_bytes.value_or(0)));
}

bool SimFiles::end_save(std::string_view checkpoint) {
  if (crash_point_.armed()) return crash(), true;
  if (keeps_old_) {
    std::string const name(checkpoint);
    older_[name] = std::exchange(newest_[name], copy_of(files_of(checkpoint)));
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

DamagedFiles SimFiles::begin_load(std::string_view checkpoint) {
  DamagedFiles done = damage_files(task_.scenario.faults, ++loads_, [&](Fault const& fault) {
    return damage_file(std::string(checkpoint), fault);
  });
  if (!done.empty()) sim::note_event(event_of(done));
  return done;
}

std::optional<FileDamage> SimFiles::damage_file(std::string const& checkpoint, Fault const& fault) {
  auto damage = damage_of(fault, files_of(checkpoint), older_[checkpoint]);
  if (!damage) return std::nullopt;
  damage->done.file = path_of(checkpoint, damage->done.file);
  if (damage->bytes)
    disk_.overwrite(damage->done.file, *damage->bytes);
  else
    disk_.lose(damage->done.file);
  return std::move(damage->done);
}

}  // namespace adamant::scenarios
