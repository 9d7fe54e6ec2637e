#include "real/checkpoint/storage.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "real/checkpoint/posix_storage.h"
#include "real/testing/memory_storage.h"
#include "real/testing/storage_contract.h"
#include "real/testing/temporary_directory.h"

namespace adamant::real {
namespace {

TEST(Storage, FilesOfTheSystemKeepTheContract) {
  TemporaryDirectory const root;
  PosixStorage storage;
  expect_storage_contract(storage, root.path());
}

TEST(Storage, FilesInMemoryKeepTheContract) {
  MemoryStorage storage;
  storage.make_directory("root");
  expect_storage_contract(storage, "root");
}

TEST(Storage, MessagesNameThePathAndTheReason) {
  TemporaryDirectory const root;
  PosixStorage storage;
  try {
    storage.open(root / "missing");
    FAIL() << "opened what is not there";
  } catch (StorageError const& error) {
    EXPECT_EQ(error.what(), root / "missing" + ": cannot open: No such file or directory");
  }
}

TEST(Storage, ADirectoryIsNoFile) {
  TemporaryDirectory const root;
  PosixStorage storage;
  EXPECT_THROW(storage.open(root.path()), StorageError);
  EXPECT_THROW(storage.create(root.path()), StorageError);
}

TEST(Storage, APipeIsNoFileAndIsNotWaitedFor) {
  TemporaryDirectory const root;
  ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
  PosixStorage storage;
  EXPECT_THROW(storage.open(root / "pipe"), StorageError);
}

// `a/.` is a directory, but no name in any: what cannot be removed itself keeps what is in it.
TEST(Storage, OnlyWhatADirectoryListsIsRemovedWithItsContents) {
  TemporaryDirectory const root;
  PosixStorage storage;
  storage.create(root / "file");
  EXPECT_THROW(remove_all(storage, root / "."), StorageError);
  EXPECT_TRUE(storage.exists(root / "file"));
}

TEST(Storage, PathsAreTakenApartAndPutTogether) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(parent_of("a/b/c"), "a/b");
  EXPECT_EQ(parent_of("a"), ".");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(name_of_path("a/b/c"), "c");
  EXPECT_EQ(name_of_path("a"), "a");
}

}  // namespace
}  // namespace adamant::real
