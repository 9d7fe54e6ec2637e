#include "real/testing/storage_contract.h"

#include <gtest/gtest.h>

namespace adamant::real {

namespace {

std::span<std::byte const> text_bytes(std::string const& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void write_file(Storage& storage, std::string const& path, std::string const& text) {
  storage.create(path)->append(text_bytes(text));
}

std::string read_range(InputFile& file, std::uint64_t offset, std::size_t size) {
  std::string text(size, '?');
  file.read(offset, std::as_writable_bytes(std::span(text.data(), text.size())));
  return text;
}

std::string read_file(Storage& storage, std::string const& path) {
  auto const file = storage.open(path);
  return read_range(*file, 0, file->size());
}

void expect_files(Storage& storage, std::string const& root) {
  std::string const path = join_path(root, "a");
  EXPECT_FALSE(storage.exists(path));
  EXPECT_THROW(storage.open(path), StorageError);
  auto const output = storage.create(path);
  output->append(text_bytes("one "));
  output->append({});
  output->append(text_bytes("two"));
  output->sync();
  EXPECT_TRUE(storage.exists(path));
  EXPECT_EQ(read_file(storage, path), "one two");
}

void expect_ranges(Storage& storage, std::string const& root) {
  std::string const path = join_path(root, "ranges");
  write_file(storage, path, "0123456789");
  auto const file = storage.open(path);
  EXPECT_EQ(file->size(), 10U);
  EXPECT_EQ(read_range(*file, 3, 4), "3456");
  EXPECT_EQ(read_range(*file, 10, 0), "");
  EXPECT_THROW(read_range(*file, 8, 3), StorageError);
  EXPECT_THROW(read_range(*file, 11, 1), StorageError);
  write_file(storage, path, "new");
  EXPECT_EQ(read_file(storage, path), "new");
}

void expect_directories(Storage& storage, std::string const& root) {
  std::string const directory = join_path(root, "d");
  EXPECT_THROW(storage.list(directory), StorageError);
  EXPECT_THROW(storage.create(join_path(directory, "x")), StorageError);
  storage.make_directory(directory);
  EXPECT_THROW(storage.make_directory(directory), StorageError);
  write_file(storage, join_path(directory, "y"), "y");
  write_file(storage, join_path(directory, "x"), "x");
  storage.make_directory(join_path(directory, "e"));
  EXPECT_EQ(storage.list(directory),
            (std::vector<DirectoryEntry>{{"e", true}, {"x", false}, {"y", false}}));
  EXPECT_THROW(storage.remove(directory), StorageError);
  storage.sync_directory(directory);
}

void expect_renames(Storage& storage, std::string const& root) {
  std::string const from = join_path(root, "d");
  std::string const to = join_path(root, "renamed");
  storage.rename(from, to);
  EXPECT_FALSE(storage.exists(from));
  EXPECT_EQ(read_file(storage, join_path(to, "x")), "x");
  EXPECT_THROW(storage.rename(from, join_path(root, "z")), StorageError);
  EXPECT_THROW(storage.rename(to, join_path(root, "a")), StorageError);
  EXPECT_THROW(storage.rename(join_path(root, "a"), to), StorageError);
}

void expect_removal(Storage& storage, std::string const& root) {
  EXPECT_THROW(storage.remove(join_path(root, "nothing")), StorageError);
  remove_all(storage, join_path(root, "nothing"));
  remove_all(storage, join_path(root, "renamed"));
  remove_all(storage, join_path(root, "ranges"));
  EXPECT_EQ(storage.list(root), (std::vector<DirectoryEntry>{{"a", false}}));
  storage.remove(join_path(root, "a"));
  EXPECT_TRUE(storage.list(root).empty());
}

}  // namespace

void expect_storage_contract(Storage& storage, std::string const& root) {
  expect_files(storage, root);
  expect_ranges(storage, root);
  expect_directories(storage, root);
  expect_renames(storage, root);
  expect_removal(storage, root);
}

}  // namespace adamant::real
