#include "sim/world/disk.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "sim/world/assert.h"

namespace adamant::sim {

/// A file or a directory.
class Disk::Node {
 public:
  using Names = std::map<std::string, File, std::less<>>;

  /// One change of a directory: a name goes, a name comes, or both at once.
  struct Change {
    std::string gone;
    std::string come;
    File node;
  };

  explicit Node(bool directory) : is_directory(directory) {}

  bool is_directory;

  // A file.
  std::vector<std::byte> bytes;
  std::size_t synced = 0;

  // A directory: its names now, at the last sync, and what happened in between.
  Names names;
  Names durable;
  std::vector<Change> pending;

  void change(Change change) {
    apply(names, change);
    pending.push_back(std::move(change));
  }
  void sync_names() {
    durable = names;
    pending.clear();
  }

  /// What is left of it after a crash.
  void settle(Chance const& chance) {
    if (!is_directory) return tear(chance);
    auto const kept = chance(static_cast<std::uint32_t>(pending.size()) + 1);
    ADAMANT_SIM_ASSERT(kept <= pending.size());
    for (std::uint32_t i = 0; i < kept; ++i) apply(durable, pending[i]);
    pending.clear();
    names = durable;
    for (auto const& [name, node] : names) node->settle(chance);
  }

 private:
  static void apply(Names& names, Change const& change) {
    if (!change.gone.empty()) names.erase(change.gone);
    if (!change.come.empty()) names[change.come] = change.node;
  }

  void tear(Chance const& chance) {
    std::size_t const loose = bytes.size() - synced;
    if (loose == 0) return;
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    enum : std::uint32_t { lost, torn, torn_with_zeros, whole, count_of_outcomes };
    std::uint32_t const outcome = chance(count_of_outcomes);
    std::size_t kept = outcome == whole ? loose : 0;
    if (outcome == torn || outcome == torn_with_zeros)
      kept = chance(static_cast<std::uint32_t>(std::min(loose, most)));
    auto const end = bytes.begin() + static_cast<std::ptrdiff_t>(synced + kept);
    if (outcome == torn_with_zeros)
      std::fill(end, bytes.end(), std::byte{0});
    else
      bytes.erase(end, bytes.end());
    synced = bytes.size();
  }
};

namespace {

std::string_view parent_of(std::string_view path) {
  auto const slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string name_in(std::string_view path) {
  auto const slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

[[noreturn]] void fail(DiskProblem problem, std::string_view path, char const* text) {
  throw DiskError(problem, std::string(path) + ": " + text);
}

}  // namespace

Disk::Disk() : root_(std::make_shared<Node>(true)) {}

void Disk::expect_alive() const {
  if (crashed_) throw DiskError(DiskProblem::crashed, "the machine has crashed");
}

Disk::File Disk::find(std::string_view path) const {
  File node = root_;
  while (!path.empty()) {
    auto const slash = std::min(path.find('/'), path.size());
    if (!node->is_directory) return nullptr;
    auto const found = node->names.find(path.substr(0, slash));
    if (found == node->names.end()) return nullptr;
    node = found->second;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return node;
}

Disk::Node& Disk::directory_of(std::string_view path) const {
  File const parent = find(parent_of(path));
  if (parent == nullptr) fail(DiskProblem::missing, parent_of(path), "no such directory");
  if (!parent->is_directory)
    fail(DiskProblem::not_a_directory, parent_of(path), "is not a directory");
  return *parent;
}

Disk::File Disk::create(std::string_view path) {
  expect_alive();
  Node& directory = directory_of(path);
  if (is_directory(path)) fail(DiskProblem::not_a_file, path, "is a directory");
  auto file = std::make_shared<Node>(false);
  directory.change({.gone = "", .come = name_in(path), .node = file});
  return file;
}

Disk::File Disk::open(std::string_view path) const {
  expect_alive();
  File const node = find(path);
  if (node == nullptr) fail(DiskProblem::missing, path, "no such file");
  if (node->is_directory) fail(DiskProblem::not_a_file, path, "is a directory");
  return node;
}

void Disk::append(File const& file, std::span<std::byte const> bytes) {
  expect_alive();
  file->bytes.insert(file->bytes.end(), bytes.begin(), bytes.end());
}

void Disk::sync(File const& file) {
  expect_alive();
  file->synced = file->bytes.size();
}

std::uint64_t Disk::size(File const& file) const {
  expect_alive();
  return file->bytes.size();
}

std::size_t Disk::read(File const& file, std::uint64_t offset, std::span<std::byte> out) const {
  expect_alive();
  if (offset >= file->bytes.size()) return 0;
  std::size_t const count = std::min(out.size(), file->bytes.size() - offset);
  if (count > 0) std::memcpy(out.data(), file->bytes.data() + offset, count);
  return count;
}

void Disk::make_directory(std::string_view path) {
  expect_alive();
  Node& directory = directory_of(path);
  if (find(path) != nullptr) fail(DiskProblem::exists, path, "is there already");
  directory.change({.gone = "", .come = name_in(path), .node = std::make_shared<Node>(true)});
}

void Disk::sync_directory(std::string_view path) {
  expect_alive();
  File const node = find(path);
  if (node == nullptr) fail(DiskProblem::missing, path, "no such directory");
  if (!node->is_directory) fail(DiskProblem::not_a_directory, path, "is not a directory");
  node->sync_names();
}

std::vector<std::string> Disk::list(std::string_view path) const {
  expect_alive();
  File const node = find(path);
  if (node == nullptr) fail(DiskProblem::missing, path, "no such directory");
  if (!node->is_directory) fail(DiskProblem::not_a_directory, path, "is not a directory");
  std::vector<std::string> names;
  for (auto const& [name, entry] : node->names) names.push_back(name);
  return names;
}

void Disk::rename(std::string_view from, std::string_view to) {
  expect_alive();
  ADAMANT_SIM_ASSERT(parent_of(from) == parent_of(to));
  File const node = find(from);
  if (node == nullptr) fail(DiskProblem::missing, from, "no such file or directory");
  File const target = find(to);
  if (target != nullptr && target->is_directory != node->is_directory)
    fail(node->is_directory ? DiskProblem::not_a_directory : DiskProblem::not_a_file, to,
         "cannot be replaced by what is of another kind");
  if (target != nullptr && !target->names.empty()) fail(DiskProblem::not_empty, to, "is not empty");
  if (target == node) return;
  directory_of(from).change({.gone = name_in(from), .come = name_in(to), .node = node});
}

void Disk::remove(std::string_view path) {
  expect_alive();
  File const node = find(path);
  if (node == nullptr) fail(DiskProblem::missing, path, "no such file or directory");
  if (!node->names.empty()) fail(DiskProblem::not_empty, path, "is not empty");
  directory_of(path).change({.gone = name_in(path), .come = "", .node = nullptr});
}

bool Disk::exists(std::string_view path) const {
  expect_alive();
  return find(path) != nullptr;
}

bool Disk::is_directory(std::string_view path) const {
  expect_alive();
  File const node = find(path);
  return node != nullptr && node->is_directory;
}

void Disk::crash(Chance const& chance) {
  expect_alive();
  root_->settle(chance);
  crashed_ = true;
}

std::span<std::byte const> Disk::peek(std::string_view path) const {
  File const node = find(path);
  ADAMANT_SIM_ASSERT(node != nullptr);
  return node->bytes;
}

void Disk::overwrite(std::string_view path, std::vector<std::byte> bytes) {
  auto file = std::make_shared<Node>(false);
  file->synced = bytes.size();
  file->bytes = std::move(bytes);
  Node& directory = directory_of(path);
  directory.names[name_in(path)] = directory.durable[name_in(path)] = file;
}

void Disk::lose(std::string_view path) {
  Node& directory = directory_of(path);
  directory.names.erase(name_in(path));
  directory.durable.erase(name_in(path));
}

}  // namespace adamant::sim
