// Tensors that are read with scales, as a rank's file has them: beside the fp32 values what is
// stored, and what it was divided by. Nothing is believed that is no such tensor; whether it is the
// right one is the verdict's question.
//
//   stored as          dtype of /raw  /scale                      beside it
//   a state in fp16    F16            F32 [1]
//   a state in fp8     U8             F32 [1]
//   fp8_delayed        U8             F32 [1]                     /history [16], /next_scale [1]
//   fp8_current        U8             F32 [1]
//   fp8_block          U8             F32 [rows / 128, cols / 128]
//   mxfp8              U8             U8 [own rows, cols / 32]
//   nvfp4              U8             U8 [rows / 16, cols / 16]   /amax [1]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "scenarios/peers/client/tensor_file.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// A state, or a main weight in fp16. Lives as long as the file.
struct ScaledNumbers {
  TensorFromFile const* raw = nullptr;
  float scale = 1;
};

/// What stands under `key` and its parts; nothing where none of them is there.
///
/// Shapes: of value and raw.
/// Errors: PeerError, without the path, where a part is missing or is not what it should be, or
///         values are not what reading gives. REQUIRES: fp16 or fp8.
std::optional<ScaledNumbers> scaled_numbers(TensorFile const& file, std::string const& key,
                                            NumberFormat format,
                                            std::vector<std::int64_t> const& shape);

/// The parameter under `key`, of which a rank has the rows of `shape`. Values are the engine's:
/// that they are what reading gives is for the verdict.
///
/// Errors: as above. REQUIRES: the parameter has a recipe.
std::shared_ptr<QuantisedShard const> quantised_rows(TensorFile const& file, std::string const& key,
                                                     ParameterSpec const& parameter,
                                                     std::vector<std::int64_t> const& shape);

}  // namespace adamant::scenarios
