// Checkpoints as somebody else may have written them: no manifest, other cuts, parts that do not
// fit together.
#include "real/checkpoint/index.h"

#include <gtest/gtest.h>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/crc32c.h"
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

/// A file of `c` as a manifest lists it.
ManifestFile listed(MemoryStorage& storage, std::string const& name, std::size_t piece_bytes) {
  std::span<std::byte const> const bytes = storage.bytes_of("c/" + name);
  ManifestFile file{.name = name, .bytes = bytes.size(), .pieces = {}};
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes)
    file.pieces.push_back(crc32c(bytes.subspan(at, std::min(piece_bytes, bytes.size() - at))));
  return file;
}

template <typename Call>
std::string refusal_of(Call const& call) {
  try {
    call();
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::damaged);
    return error.what();
  }
  return "not refused";
}

std::string refusal(std::vector<SavedPart> const& parts) {
  ForeignFiles files(parts);
  return refusal_of([&] { open_checkpoint(files.storage, "c"); });
}

TEST(Index, AHeaderIsReadByOneOfThoseWhoOpenTogether) {
  ForeignFiles files({rows(0, 2), rows(2, 3), rows(3, 7)});
  CheckpointOpening even(files.storage, "c");
  CheckpointOpening odd(files.storage, "c");
  std::vector<Message> said(2);
  even.read_headers(0, 2, said[0]);
  files.storage.remove("c/0.safetensors");
  files.storage.remove("c/2.safetensors");
  odd.read_headers(1, 2, said[1]);
  for (CheckpointOpening* const opening : {&even, &odd}) {
    Checkpoint const checkpoint = std::move(*opening).finish(said);
    SavedTensor const& tensor = checkpoint.tensors.at("t");
    EXPECT_EQ(tensor.shape, (Extents{7, 3}));
    ASSERT_EQ(tensor.boxes.size(), 3U);
    EXPECT_EQ(tensor.boxes[1].offsets.front(), 2);
    EXPECT_EQ(tensor.boxes[1].file, 1);
    std::byte first = {};
    EXPECT_NO_THROW(checkpoint.files[1].content->read(tensor.boxes[1].begin, {&first, 1}));
    EXPECT_THROW(checkpoint.files[2].content->read(0, {&first, 1}), StorageError);
  }
}

std::string refusal_of_views(ForeignFiles& files, std::string const& removed) {
  CheckpointOpening before(files.storage, "c");
  std::vector<Message> said(2);
  before.read_headers(0, 2, said[0]);
  files.storage.remove(removed);
  CheckpointOpening after(files.storage, "c");
  after.read_headers(1, 2, said[1]);
  return refusal_of([&] { std::move(after).finish(said); });
}

TEST(Index, RanksThatSeeOtherFilesRefuse) {
  ForeignFiles files({rows(0, 2), rows(2, 3), rows(3, 7)});
  EXPECT_EQ(refusal_of_views(files, "c/2.safetensors"), "c: is another checkpoint for rank 0");
}

// Who has no header to read would see no mark of a manifest that is missing.
TEST(Index, ARankThatSeesNoManifestRefuses) {
  ForeignFiles files({rows(0, 2)});
  Manifest const manifest{.piece_bytes = 64,
                          .progress = {},
                          .tensors = {{.key = "t", .dtype = "F32", .shape = {2, 3}}},
                          .files = {listed(files.storage, "0.safetensors", 64)}};
  std::string const text = encode(manifest);
  files.storage.create("c/adamant.json")
      ->append(std::as_bytes(std::span(text.data(), text.size())));
  ASSERT_NO_THROW(open_checkpoint(files.storage, "c"));
  EXPECT_EQ(refusal_of_views(files, "c/adamant.json"), "c: is another checkpoint for rank 0");
}

TEST(Index, ATensorIsAsLargeAsItsPartsReach) {
  ForeignFiles files({rows(2, 3), rows(0, 2), rows(3, 7)});
  Checkpoint const checkpoint = open_checkpoint(files.storage, "c");
  EXPECT_EQ(checkpoint.tensors.at("t").shape, (Extents{7, 3}));
  ASSERT_EQ(checkpoint.tensors.at("t").boxes.size(), 3U);
  EXPECT_EQ(checkpoint.tensors.at("t").boxes[2].offsets.front(), 3);
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

std::string refusal_with(Manifest const& manifest) {
  ForeignFiles files({rows(0, 2)});
  Manifest told = manifest;
  for (ManifestFile& file : told.files) file = listed(files.storage, file.name, told.piece_bytes);
  std::string const text = encode(told);
  files.storage.create("c/adamant.json")
      ->append(std::as_bytes(std::span(text.data(), text.size())));
  return refusal_of([&] { open_checkpoint(files.storage, "c"); });
}

TEST(Index, AManifestThatListsSomethingTwiceIsRefused) {
  ManifestTensor const t{.key = "t", .dtype = "F32", .shape = {2, 3}};
  ManifestTensor const narrow{.key = "t", .dtype = "BF16", .shape = {2, 3}};
  ManifestFile const file{.name = "0.safetensors", .pieces = {}};
  auto const manifest = [&](std::vector<ManifestTensor> tensors, std::vector<ManifestFile> files) {
    return Manifest{.piece_bytes = 64,
                    .progress = {},
                    .tensors = std::move(tensors),
                    .files = std::move(files)};
  };
  EXPECT_EQ(refusal_with(manifest({t}, {file})), "not refused");
  EXPECT_EQ(refusal_with(manifest({t, t}, {file})), "c/adamant.json: tensor t: is listed twice");
  EXPECT_EQ(refusal_with(manifest({narrow, t}, {file})),
            "c/adamant.json: tensor t: is listed twice");
  EXPECT_EQ(refusal_with(manifest({t}, {file, file})),
            "c/0.safetensors: the manifest lists it twice");
}

TEST(Index, AWholeWithMoreElementsThanCanBeCountedIsRefused) {
  std::int64_t const large = std::int64_t{1} << 52;
  EXPECT_EQ(refusal({rows(0, 2, {large, large})}),
            "c: tensor t: shape [4503599627370496, 4503599627370496] is beyond 2^53 elements");
  ManifestTensor const wraps{.key = "t", .dtype = "F32", .shape = {large, std::int64_t{1} << 12}};
  EXPECT_EQ(refusal_with({.piece_bytes = 64,
                          .progress = {},
                          .tensors = {wraps},
                          .files = {{.name = "0.safetensors", .pieces = {}}}}),
            "c: tensor t: shape [4503599627370496, 4096] is beyond 2^53 elements");
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
