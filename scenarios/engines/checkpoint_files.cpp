#include "scenarios/engines/checkpoint_files.h"

#include <fstream>
#include <system_error>
#include <utility>

#include "real/checkpoint/manifest.h"
#include "real/checkpoint/names.h"

#include "scenarios/language/operations.h"

namespace adamant::scenarios {

namespace {

std::vector<std::byte> bytes_of(std::filesystem::path const& path) {
  std::error_code error;
  auto const size = std::filesystem::file_size(path, error);
  if (error) throw MachineLacks(path.string() + ": cannot be read: " + error.message());
  std::vector<std::byte> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) throw MachineLacks(path.string() + ": cannot be read to its end");
  return bytes;
}

/// What a checkpoint consists of. A folder may hold anything else beside it.
bool is_part(std::filesystem::directory_entry const& entry) {
  std::string const name = entry.path().filename().string();
  return (name == real::manifest_name || real::is_shard_file(name)) && entry.is_regular_file();
}

std::string path_of(std::string_view checkpoint, std::string_view file) {
  return real::join_path(std::string(checkpoint), std::string(file));
}

}  // namespace

CheckpointFiles::CheckpointFiles(EngineTask const& task)
    : task_(task), keeps_old_(wants_stale_files(task.scenario.faults)) {}

void CheckpointFiles::import_foreign() {
  for (std::string const& name : loaded_from_outside(task_.scenario.program)) import_foreign(name);
}

void CheckpointFiles::import_foreign(std::string const& checkpoint) {
  auto const directory = task_.foreign_checkpoints / checkpoint;
  std::error_code error;
  if (task_.foreign_checkpoints.empty() || !std::filesystem::is_directory(directory, error))
    throw MachineLacks(no_directory(checkpoint));
  make_directory(checkpoint);
  for (auto const& entry : std::filesystem::directory_iterator(directory))
    if (is_part(entry))
      overwrite(path_of(checkpoint, entry.path().filename().string()), bytes_of(entry.path()));
}

std::vector<StoredFile> CheckpointFiles::files_of(std::string_view checkpoint) const {
  std::vector<StoredFile> files;
  for (std::string& name : names_in(checkpoint)) {
    auto const bytes = bytes_at(path_of(checkpoint, name));
    files.push_back({std::move(name), bytes});
  }
  return files;
}

bool CheckpointFiles::end_save(std::string_view checkpoint) {
  if (!keeps_old_) return false;
  std::string const name(checkpoint);
  older_[name] = std::exchange(newest_[name], copy_of(files_of(checkpoint)));
  return false;
}

DamagedFiles CheckpointFiles::begin_load(std::string_view checkpoint) {
  return damage_files(task_.scenario.faults, ++loads_, [&](Fault const& fault) {
    return damage_file(std::string(checkpoint), fault);
  });
}

std::optional<FileDamage> CheckpointFiles::damage_file(std::string const& checkpoint,
                                                       Fault const& fault) {
  auto damage = damage_of(fault, files_of(checkpoint), older_[checkpoint]);
  if (!damage) return std::nullopt;
  damage->done.file = path_of(checkpoint, damage->done.file);
  if (damage->bytes)
    overwrite(damage->done.file, std::move(*damage->bytes));
  else
    lose(damage->done.file);
  return std::move(damage->done);
}

}  // namespace adamant::scenarios
