// What the files of a checkpoint say, read in the plainest way: whole tensors, steps and settings.
// It is how the oracle learns of a checkpoint that the program did not save itself. It has never
// seen the engine's reader, verifies no checksum, and knows no rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/model/model.h"
#include "oracle/scale/loss_scaler.h"
#include "oracle/types.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// What a step writes of a parameter, and a save keeps.
inline constexpr TensorKind stepped_kinds[] = {TensorKind::parameter, TensorKind::main,
                                               TensorKind::exp_avg, TensorKind::exp_avg_sq};

/// A part of a tensor, row-major, in fp32.
struct SavedBox {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> offsets;  // of its first element in the whole
  std::vector<float> values;
  std::vector<double> wide = {};         // of F64 and I64 alone: `values` before they became fp32
  std::vector<std::uint8_t> bytes = {};  // of fp8 alone: what the file has, whatever it stands for
  NumberFormat format = NumberFormat::fp32;  // in which the file has them
  int rank = 0;                              // that has written it, by the name of the file
  int file_of_rank = 1;                      // which of that rank's files it is in
};

/// Does it lie in a tensor of this shape?
bool is_inside(SavedBox const& box, std::span<std::int64_t const> shape);

/// What is one number, in whatever shape; nothing where there are several.
std::optional<double> one_number(std::vector<SavedBox> const& boxes);

/// A count that files have as a float. Errors: std::exception where it is none, or out of bounds.
std::int64_t whole_number(double number, double least = 0, double most = 0x1p53);

/// What the name of a shard file says; a rank of -1 where it is not called as one.
struct FileNumbers {
  int rank = -1;
  int index = 1;  // among the rank's files, from 1 on
  int count = 1;  // of the rank's files
};
FileNumbers numbers_in(std::string_view name);

/// A parameter as files may call it: by its name, or by each of its parts' behind that.
struct SavedName {
  std::string name;
  std::vector<std::string> parts = {};
};

/// A tensor of a model as files have it; null where they do not.
struct SavedTensor {
  std::vector<SavedBox> const* values = nullptr;
  std::vector<SavedBox> const* raw = nullptr;  // the same as it was stored, without its scale
  std::vector<SavedBox> const* scale = nullptr;
  bool in_parts = false;  // as the files have it

  /// In which it was stored, as far as files tell: what completes a parameter to fp32 is that.
  NumberFormat format() const { return (raw != nullptr ? *raw : *values).front().format; }
};

/// Scales and the elements that share one; without shards all of them do.
struct SavedScales {
  std::vector<std::vector<ElementRange>> shards;
  std::vector<float> scales;
};

struct SavedFiles {
  std::map<std::string, std::vector<SavedBox>> tensors;      // by key, of wholes
  std::map<std::string, AdamConfig> groups;                  // by name; empty without a manifest
  std::map<std::string, std::int64_t> steps;                 // of parameters, where a manifest says
  std::map<std::string, std::int64_t> group_steps;           // likewise, of the group that has each
  std::map<std::string, std::string> group_of = {};          // likewise, its name
  oracle::LossScaler scaler = {};                            // likewise
  std::optional<float> max_norm = {};                        // likewise
  std::set<std::string> in_parts = {};                       // parameters whose parts have the keys
  std::map<std::string, std::vector<std::string>> cut = {};  // parts of these, as a manifest says
  std::map<std::string, std::vector<SavedBox>> parts = {};   // their tensors, by key
  std::string weight_prefix = "model.";                      // of all keys of weights
  std::string state_prefix = "optim.state.";                 // of all others

  /// The tensor of a key; null where there is none.
  std::vector<SavedBox> const* find(std::string const& key) const;
  /// What a parameter has under `step`, where that is one number.
  std::optional<double> step(std::string const& parameter) const;
  SavedTensor tensor(std::string const& parameter, TensorKind kind) const;
  std::string key_of(std::string const& name, TensorKind kind) const;
  /// What files have under the key of a parameter or of a part, with `end` behind it; null where
  /// they do not.
  std::vector<SavedBox> const* written(std::string const& name, TensorKind kind,
                                       std::string const& end) const;
};

/// The files of a model with parameters of these names. Where their keys are not what they usually
/// are, a prefix is looked for that makes all of them keys. What is saved in parts becomes whole.
///
/// Errors: std::exception of any kind where the files are not what they should be: then nothing can
/// be expected of a load.
SavedFiles read_saved_files(std::span<StoredFile const> files, std::span<SavedName const> names);

std::vector<SavedName> names_of(oracle::Model const& model);

/// The elements of a tensor of this shape, as far as boxes cover it; zeros elsewhere.
std::vector<float> put_together(std::vector<SavedBox> const& boxes,
                                std::vector<std::int64_t> const& shape);

/// The same of bytes. Errors: also where the file has none of them.
std::vector<std::uint8_t> bytes_together(std::vector<SavedBox> const& boxes,
                                         std::vector<std::int64_t> const& shape);

/// REQUIRES: a tensor with scales. Errors: std::exception where boxes and scales do not fit.
SavedScales put_together(SavedTensor const& tensor, std::vector<std::int64_t> const& shape);

/// What a tensor is worth as it was stored: raw times its scales, where there are any, rounded
/// once. REQUIRES: a tensor with raw.
std::vector<float> worth_as_stored(SavedTensor const& tensor, SavedScales const& scales,
                                   std::vector<std::int64_t> const& shape);

}  // namespace adamant::scenarios
