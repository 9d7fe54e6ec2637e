#include "scenarios/engines/checkpoint_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

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
  return real::join_path(std::string(checkpoint), std::string(file));
}

}  // namespace

CheckpointFiles::CheckpointFiles(EngineTask const& task)
    : task_(task), keeps_old_(wants_stale_files(task.scenario.faults)) {}

void CheckpointFiles::import_foreign() {
  for (std::string const& name : task_.program.foreign_checkpoints()) import_foreign(name);
}

void CheckpointFiles::import_foreign(std::string const& checkpoint) {
  auto const directory = task_.foreign_checkpoints / checkpoint;
  std::error_code error;
  if (task_.foreign_checkpoints.empty() || !std::filesystem::is_directory(directory, error))
    throw MachineLacks(no_directory(checkpoint));
  make_directory(checkpoint);
  for (auto const& entry : std::filesystem::directory_iterator(directory))
    if (entry.is_regular_file())
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
