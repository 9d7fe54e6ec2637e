// What tensors are called in files, and how the tensors of an engine find theirs among the keys of
// a file whose prefixes somebody else has chosen.
//
//   model.<parameter>                                        the parameter
//   optim.state.<parameter>.{exp_avg,exp_avg_sq,main,step}   what the optimizer keeps of it
//   <key>/raw, <key>/scale                                   the same numbers as they are stored;
//                                                            and more, see quantised_tensors.h
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace adamant::real {

std::string model_key(std::string const& parameter);
/// `what` is exp_avg, exp_avg_sq, main or step.
std::string state_key(std::string const& parameter, std::string const& what);

/// Beside the fp32 values under `key`: the numbers as they are stored, and what they are times.
std::string raw_key(std::string const& key);
std::string scale_key(std::string const& key);

/// One file, one rank: shard-00001-model-00001-of-00001.safetensors is rank 0's.
std::string shard_file_name(int rank);
bool is_shard_file(std::string const& name);

/// For every wanted key the saved one that it stands for. Where the wanted keys are not there as
/// they are, any other prefix in place of `model.`, and of `optim.state.`, is accepted that gives
/// every wanted key a saved one.
///
/// Errors: CheckpointError (incompatible) that names a key that is missing, or two prefixes where
///         both would do.
std::map<std::string, std::string> match_keys(std::span<std::string const> wanted,
                                              std::set<std::string> const& saved);

}  // namespace adamant::real
