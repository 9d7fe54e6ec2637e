#include "scenarios/seam/damage.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace adamant::scenarios {

namespace {

/// Which of `count` things a fault is about; it may count on from the first again.
std::size_t index_of(std::optional<std::int64_t> number, std::size_t count) {
  return static_cast<std::size_t>(number.value_or(0)) % count;
}

std::vector<std::byte> bytes_of(StoredFile const& file) {
  return {file.bytes.begin(), file.bytes.end()};
}

Damage truncated(Fault const& fault, StoredFile const& file) {
  auto bytes = bytes_of(file);
  auto const half = static_cast<std::int64_t>(bytes.size() / 2);
  bytes.resize(index_of(fault.byte.value_or(half), bytes.size()));
  FileDamage done{
      .file = file.name, .how = fault.then, .at = static_cast<std::int64_t>(bytes.size())};
  return {.done = std::move(done), .bytes = std::move(bytes)};
}

Damage flipped(Fault const& fault, StoredFile const& file) {
  auto bytes = bytes_of(file);
  std::size_t const at = index_of(fault.byte, bytes.size());
  bytes[at] ^= flipped_bit;
  return {.done = {.file = file.name, .how = fault.then, .at = static_cast<std::int64_t>(at)},
          .bytes = std::move(bytes)};
}

bool same_bytes(StoredFile const& file, std::vector<std::byte> const& bytes) {
  return std::ranges::equal(file.bytes, bytes);
}

/// With the file `name` of `older` among them, are these the older save and nothing else?
bool becomes(std::span<StoredFile const> files, KeptFiles const& older, std::string const& name) {
  std::size_t same = 0;
  for (StoredFile const& file : files) {
    auto const old = older.find(file.name);
    if (old == older.end()) return false;
    if (file.name == name) continue;
    if (!same_bytes(file, old->second)) return false;
    ++same;
  }
  return same + 1 == older.size();
}

std::optional<Damage> stale(Fault const& fault, std::span<StoredFile const> files,
                            KeptFiles const& older) {
  if (older.empty()) return std::nullopt;
  auto const old =
      std::next(older.begin(), static_cast<std::ptrdiff_t>(index_of(fault.file, older.size())));
  auto const now = std::find_if(files.begin(), files.end(),
                                [&](StoredFile const& file) { return file.name == old->first; });
  bool const same = now != files.end() && same_bytes(*now, old->second);
  if (same || becomes(files, older, old->first)) return std::nullopt;
  FileDamage done{.file = old->first, .how = fault.then, .beside = now == files.end()};
  return Damage{.done = std::move(done), .bytes = old->second};
}

}  // namespace

KeptFiles copy_of(std::span<StoredFile const> files) {
  KeptFiles copy;
  for (StoredFile const& file : files) copy.emplace(file.name, bytes_of(file));
  return copy;
}

std::optional<Damage> damage_of(Fault const& fault, std::span<StoredFile const> files,
                                KeptFiles const& older) {
  if (files.empty()) return std::nullopt;
  if (fault.then == Fault::Then::stale_file) return stale(fault, files, older);
  StoredFile const& file = files[index_of(fault.file, files.size())];
  if (fault.then == Fault::Then::remove_file)
    return Damage{.done = {.file = file.name, .how = fault.then}, .bytes = {}};
  if (file.bytes.empty()) return std::nullopt;
  return fault.then == Fault::Then::truncate ? truncated(fault, file) : flipped(fault, file);
}

Fault const* crash_at(std::span<Fault const> faults, std::int64_t save) {
  for (Fault const& fault : faults)
    if (fault.at == Fault::Where::save && fault.nth.value_or(1) == save) return &fault;
  return nullptr;
}

DamagedFiles damage_files(
    std::span<Fault const> faults, std::int64_t load,
    std::function<std::optional<FileDamage>(Fault const&)> const& damage_file) {
  DamagedFiles all;
  for (Fault const& fault : faults) {
    if (fault.at != Fault::Where::load || fault.nth.value_or(1) != load) continue;
    if (auto done = damage_file(fault)) all.push_back(std::move(*done));
  }
  return all;
}

bool wants_stale_files(std::span<Fault const> faults) {
  return std::any_of(faults.begin(), faults.end(),
                     [](Fault const& fault) { return fault.then == Fault::Then::stale_file; });
}

}  // namespace adamant::scenarios
