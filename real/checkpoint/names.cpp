#include "real/checkpoint/names.h"

#include <algorithm>
#include <string_view>

#include "real/checkpoint/checkpoint_error.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

constexpr std::string_view model_prefix = "model.";
constexpr std::string_view state_prefix = "optim.state.";
constexpr std::string_view file_suffix = ".safetensors";

/// The wanted keys of one prefix, without it.
std::vector<std::string> tails(std::span<std::string const> wanted, std::string_view prefix) {
  std::vector<std::string> result;
  for (std::string const& key : wanted)
    if (key.starts_with(prefix)) result.push_back(key.substr(prefix.size()));
  return result;
}

/// The first tail that `prefix` does not complete to a saved key, or null.
std::string const* missing(std::string const& prefix, std::vector<std::string> const& tails,
                           std::set<std::string> const& saved) {
  for (std::string const& tail : tails)
    if (!saved.contains(concat(prefix, tail))) return &tail;
  return nullptr;
}

/// What stands before `tail` in saved keys: nothing, or something that ends with a dot.
std::set<std::string> prefixes_before(std::string const& tail, std::set<std::string> const& saved) {
  std::set<std::string> prefixes;
  for (std::string const& key : saved) {
    if (!key.ends_with(tail)) continue;
    std::string const prefix = key.substr(0, key.size() - tail.size());
    if (prefix.empty() || prefix.back() == '.') prefixes.insert(prefix);
  }
  return prefixes;
}

std::string find_prefix(std::string const& usual, std::vector<std::string> const& tails,
                        std::set<std::string> const& saved) {
  std::string const* const absent = missing(usual, tails, saved);
  if (absent == nullptr) return usual;
  std::vector<std::string> complete;
  for (std::string const& prefix : prefixes_before(*absent, saved))
    if (missing(prefix, tails, saved) == nullptr) complete.push_back(prefix);
  if (complete.empty())
    refuse_incompatible("tensor ", usual, *absent, " is not saved, nor under another prefix");
  if (complete.size() > 1)
    refuse_incompatible("tensor ", usual, *absent, " is saved as ", complete[0], *absent, " and ",
                        complete[1], *absent, ": which of them is meant is not clear");
  return complete.front();
}

}  // namespace

std::string model_key(std::string const& parameter) {
  return concat(model_prefix, parameter);
}

std::string state_key(std::string const& parameter, std::string const& what) {
  return concat(state_prefix, parameter, ".", what);
}

std::string raw_key(std::string const& key) {
  return concat(key, "/raw");
}

std::string scale_key(std::string const& key) {
  return concat(key, "/scale");
}

std::string shard_file_name(int rank) {
  std::string number = std::to_string(rank + 1);
  if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
  return concat("shard-", number, "-model-00001-of-00001", file_suffix);
}

bool is_shard_file(std::string const& name) {
  return name.ends_with(file_suffix);
}

std::map<std::string, std::string> match_keys(std::span<std::string const> wanted,
                                              std::set<std::string> const& saved) {
  std::map<std::string, std::string> matched;
  for (std::string_view const usual : {model_prefix, state_prefix}) {
    std::vector<std::string> const rest = tails(wanted, usual);
    if (rest.empty()) continue;
    std::string const prefix = find_prefix(std::string(usual), rest, saved);
    for (std::string const& tail : rest) matched[concat(usual, tail)] = concat(prefix, tail);
  }
  ADAMANT_REAL_ASSERT(matched.size() == wanted.size());
  return matched;
}

}  // namespace adamant::real
