// Checkpoints as somebody else may have written them: no manifest, other cuts, parts that do not
// fit together.
#include "real/checkpoint/index.h"

#include <gtest/gtest.h>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/safetensors.h"
#include "real/testing/memory_storage.h"

namespace adamant::real {
namespace {

using Extents = std::vector<std::int64_t>;

/// Rows of a tensor `t` with 3 columns; `whole` is empty where the file does not say it.
SavedPart rows(std::int64_t begin, std::int64_t end, Extents whole = {}) {
  return {.key = "t",
          .dtype = "F32",
          .shape = {end - begin, 3},
          .offsets = {begin, 0},
          .global_shape = std::move(whole)};
}

/// A directory `c` of files that hold one part each, of zeros, and no manifest.
struct ForeignFiles {
  explicit ForeignFiles(std::vector<SavedPart> const& parts) {
    storage.make_directory("c");
    for (std::size_t file = 0; file < parts.size(); ++file) {
      std::vector<SavedPart> held = {parts[file]};
      std::vector<std::byte> bytes = encode_header(held, {{"format", "pt"}});
      bytes.resize(held.front().end);
      storage.create("c/" + std::to_string(file) + ".safetensors")->append(bytes);
    }
  }

  MemoryStorage storage;
};

std::string refusal(std::vector<SavedPart> const& parts) {
  ForeignFiles files(parts);
  try {
    open_checkpoint(files.storage, "c");
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::damaged);
    return error.what();
  }
  return "not refused";
}

TEST(Index, AHeaderIsReadByOneOfThoseWhoOpenTogether) {
  ForeignFiles files({rows(0, 2), rows(2, 3), rows(3, 7)});
  CheckpointOpening even(files.storage, "c");
  CheckpointOpening odd(files.storage, "c");
  std::string const of_even = even.read_headers(0, 2);
  files.storage.remove("c/0.safetensors");
  files.storage.remove("c/2.safetensors");
  std::string const said[] = {of_even, odd.read_headers(1, 2)};
  for (CheckpointOpening* const opening : {&even, &odd}) {
    Checkpoint const checkpoint = std::move(*opening).finish(said);
    SavedTensor const& tensor = checkpoint.tensors.at("t");
    EXPECT_EQ(tensor.shape, (Extents{7, 3}));
    ASSERT_EQ(tensor.boxes.size(), 3U);
    EXPECT_EQ(tensor.boxes[1].offsets, (Extents{2, 0}));
    EXPECT_EQ(tensor.boxes[1].file, 1);
    std::byte first = {};
    EXPECT_NO_THROW(checkpoint.files[1].content->read(tensor.boxes[1].begin, {&first, 1}));
    EXPECT_THROW(checkpoint.files[2].content->read(0, {&first, 1}), StorageError);
  }
}

TEST(Index, RanksThatSeeOtherFilesRefuse) {
  ForeignFiles files({rows(0, 2), rows(2, 3), rows(3, 7)});
  CheckpointOpening more(files.storage, "c");
  std::string const of_more = more.read_headers(0, 2);
  files.storage.remove("c/2.safetensors");
  CheckpointOpening fewer(files.storage, "c");
  std::string const said[] = {of_more, fewer.read_headers(1, 2)};
  try {
    std::move(fewer).finish(said);
    FAIL() << "not refused";
  } catch (CheckpointError const& error) {
    EXPECT_STREQ(error.what(), "c: has other files for rank 0");
  }
}

TEST(Index, ATensorIsAsLargeAsItsPartsReach) {
  ForeignFiles files({rows(2, 3), rows(0, 2), rows(3, 7)});
  Checkpoint const checkpoint = open_checkpoint(files.storage, "c");
  EXPECT_EQ(checkpoint.tensors.at("t").shape, (Extents{7, 3}));
  ASSERT_EQ(checkpoint.tensors.at("t").boxes.size(), 3U);
  EXPECT_EQ(checkpoint.tensors.at("t").boxes[2].offsets, (Extents{3, 0}));
  EXPECT_FALSE(checkpoint.manifest.has_value());
  EXPECT_EQ(checkpoint.notes.size(), 1U);
}

TEST(Index, ATensorIsAsLargeAsFilesSay) {
  ForeignFiles files({rows(0, 2, {3, 3}), rows(2, 3, {3, 3})});
  EXPECT_EQ(open_checkpoint(files.storage, "c").tensors.at("t").shape, (Extents{3, 3}));
}

TEST(Index, FilesThatSayOtherWholesAreRefused) {
  EXPECT_EQ(refusal({rows(0, 2, {3, 3}), rows(2, 3, {4, 3})}),
            "c/1.safetensors: tensor t: is a part of [4, 3], in other files of [3, 3]");
  SavedPart cube = rows(2, 3);
  cube.shape.push_back(1);
  cube.offsets.push_back(0);
  EXPECT_EQ(refusal({rows(0, 2), cube}),
            "c/1.safetensors: tensor t: is a part of [3, 3, 1], in other files of [2, 3]");
}

TEST(Index, FilesOfOtherTypesAreRefused) {
  SavedPart other = rows(2, 3);
  other.dtype = "BF16";
  EXPECT_EQ(refusal({rows(0, 2), other}),
            "c/1.safetensors: tensor t: is stored as BF16, elsewhere as F32");
}

TEST(Index, PartsThatDoNotCoverATensorOnceAreRefused) {
  EXPECT_NE(refusal({rows(0, 2), rows(3, 4)}).find("missing is in row 2: is a file missing?"),
            std::string::npos);
  EXPECT_NE(refusal({rows(0, 2, {3, 3})}).find("missing is in row 2: is a file missing?"),
            std::string::npos);
  EXPECT_NE(refusal({rows(0, 2), rows(1, 3)}).find("overlap"), std::string::npos);
}

TEST(Index, ADirectoryWithoutFilesIsRefused) {
  EXPECT_EQ(refusal({}), "c: holds neither adamant.json nor any .safetensors file");
}

TEST(Index, TheOlderCheckpointIsOpenedWhereItsReplacementIsMissing) {
  ForeignFiles files({rows(0, 2)});
  files.storage.make_directory(previous_directory("c"));
  EXPECT_EQ(directory_to_load(files.storage, "c"), "c");
  files.storage.remove(previous_directory("c"));
  files.storage.rename("c", previous_directory("c"));
  EXPECT_EQ(directory_to_load(files.storage, "c"), ".c.previous");
  EXPECT_EQ(open_checkpoint(files.storage, "c").directory, ".c.previous");
  EXPECT_EQ(directory_to_load(files.storage, "d"), "d");
  EXPECT_EQ(previous_directory("runs/c"), "runs/.c.previous");
}

}  // namespace
}  // namespace adamant::real
