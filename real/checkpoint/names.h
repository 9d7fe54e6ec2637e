// What tensors are called in files, and how the tensors of an engine find theirs among the keys of
// a file whose prefixes somebody else has chosen.
//
//   model.<parameter>                                        the parameter
//   optim.state.<parameter>.{exp_avg,exp_avg_sq,main,step}   what the optimizer keeps of it
//   model.<parameter>.<part>, optim.state.<parameter>.<part>.…   the same of one that is saved in
//                                                            parts (saved_form.h)
//   <key>/raw, <key>/scale                                   the same numbers as they are stored;
//                                                            and more, see quantised_tensors.h
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"

namespace adamant::real {

std::string model_key(std::string const& parameter);
/// `what` is exp_avg, exp_avg_sq, main or step.
std::string state_key(std::string const& parameter, std::string const& what);

/// Beside the fp32 values under `key`: the numbers as they are stored, and what they are times.
std::string raw_key(std::string const& key);
std::string scale_key(std::string const& key);

/// The key of a kind of tensor that is saved.
std::string key_of(std::string const& parameter, TensorKind kind);
/// What a part of a parameter is called in keys, in the place of the parameter.
std::string name_of_part(std::string const& parameter, std::string const& part);

/// The files of one rank, of which it mostly has one: the second of rank 0's three is
/// shard-00001-model-00002-of-00003.safetensors.
std::string shard_file_name(int rank, std::size_t index = 0, std::size_t count = 1);
bool is_shard_file(std::string const& name);
/// What the names of all files begin with that one rank has written; of files that are not called
/// so, all of the name.
std::string owner_of_file(std::string const& name);

/// A key that is looked for. In its place there may be those of `parts`, all of them.
struct WantedKey {
  std::string key;
  std::vector<std::string> parts = {};
};

/// For every wanted key, or for its parts, the saved one that it stands for. Where the wanted keys
/// are not there as they are, any other prefix in place of `model.`, and of `optim.state.`, is
/// accepted that gives every wanted key a saved one.
///
/// Errors: CheckpointError (incompatible) that names a key that is missing, two prefixes where both
///         would do, or a key that is saved beside one of its parts.
std::map<std::string, std::string> match_keys(std::span<WantedKey const> wanted,
                                              std::set<std::string> const& saved);

}  // namespace adamant::real
