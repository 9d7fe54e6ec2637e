#include "scenarios/engines/sim/sim_files.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/engines/sim/sim_storage.h"
#include "scenarios/seam/damage.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

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

SimFiles::SimFiles(EngineTask const& task) : CheckpointFiles(task) {
  import_foreign();
}

std::shared_ptr<real::Storage> SimFiles::storage_of(int rank) {
  return std::make_shared<SimStorage>(*this, rank);
}

std::vector<std::string> SimFiles::names_in(std::string_view directory) const {
  return disk_.is_directory(directory) ? disk_.list(directory) : std::vector<std::string>();
}

void SimFiles::make_directory(std::string const& path) {
  disk_.make_directory(path);
  disk_.sync_directory("");
}

void SimFiles::begin_save() {
  Fault const* const crash = crash_at(task().scenario.faults, ++saves_);
  if (crash == nullptr) return;
  crash_point_.arm(static_cast<int>(crash->rank.value_or(0)),
                   static_cast<std::uint64_t>(crash->after_bytes.value_or(0)));
}

bool SimFiles::end_save(std::string_view checkpoint) {
  if (crash_point_.armed()) return crash(), true;
  return CheckpointFiles::end_save(checkpoint);
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
  DamagedFiles done = CheckpointFiles::begin_load(checkpoint);
  if (!done.empty()) sim::note_event(event_of(done));
  return done;
}

}  // namespace adamant::scenarios
