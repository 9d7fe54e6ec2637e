#include "real/checkpoint/names.h"

#include <algorithm>
#include <string_view>

#include "real/checkpoint/checkpoint_error.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

constexpr std::string_view model_prefix = "model.";
constexpr std::string_view state_prefix = "optim.state.";
constexpr std::string_view file_prefix = "shard-";
constexpr std::string_view file_middle = "-model-";
constexpr std::string_view file_suffix = ".safetensors";

/// Of at least five digits.
std::string number(std::size_t value) {
  std::string text = std::to_string(value);
  if (text.size() < 5) text.insert(0, 5 - text.size(), '0');
  return text;
}

/// The same without a prefix.
using Tails = std::vector<WantedKey>;

Tails tails(std::span<WantedKey const> wanted, std::string_view prefix) {
  Tails result;
  for (WantedKey const& is : wanted) {
    if (!is.key.starts_with(prefix)) continue;
    WantedKey& tail = result.emplace_back(WantedKey{.key = is.key.substr(prefix.size())});
    for (std::string const& part : is.parts) tail.parts.push_back(part.substr(prefix.size()));
  }
  return result;
}

bool has_parts(std::string const& prefix, WantedKey const& tail,
               std::set<std::string> const& saved) {
  return !tail.parts.empty() && std::ranges::all_of(tail.parts, [&](std::string const& part) {
    return saved.contains(concat(prefix, part));
  });
}

/// The first tail that `prefix` does not complete to what is saved, or null.
WantedKey const* missing(std::string const& prefix, Tails const& tails,
                         std::set<std::string> const& saved) {
  for (WantedKey const& tail : tails)
    if (!saved.contains(concat(prefix, tail.key)) && !has_parts(prefix, tail, saved)) return &tail;
  return nullptr;
}

/// What stands before `tail` in saved keys: nothing, or something that ends with a dot.
void add_prefixes_before(std::string const& tail, std::set<std::string> const& saved,
                         std::set<std::string>& prefixes) {
  for (std::string const& key : saved) {
    if (!key.ends_with(tail)) continue;
    std::string const prefix = key.substr(0, key.size() - tail.size());
    if (prefix.empty() || prefix.back() == '.') prefixes.insert(prefix);
  }
}

std::string find_prefix(std::string const& usual, Tails const& tails,
                        std::set<std::string> const& saved) {
  WantedKey const* const absent = missing(usual, tails, saved);
  if (absent == nullptr) return usual;
  std::set<std::string> possible;
  add_prefixes_before(absent->key, saved, possible);
  if (!absent->parts.empty()) add_prefixes_before(absent->parts.front(), saved, possible);
  std::vector<std::string> complete;
  for (std::string const& prefix : possible)
    if (missing(prefix, tails, saved) == nullptr) complete.push_back(prefix);
  if (complete.empty())
    refuse_incompatible("tensor ", usual, absent->key, " is not saved, nor under another prefix");
  if (complete.size() > 1)
    refuse_incompatible("tensor ", usual, absent->key, " is saved as ", complete[0], absent->key,
                        " and ", complete[1], absent->key, ": which of them is meant is not clear");
  return complete.front();
}

/// Its own, or those of its parts.
std::vector<std::string> keys_saved(std::string const& prefix, WantedKey const& tail,
                                    std::set<std::string> const& saved) {
  std::string const whole = concat(prefix, tail.key);
  if (!saved.contains(whole)) return tail.parts;
  for (std::string const& part : tail.parts)
    if (saved.contains(concat(prefix, part)))
      refuse_incompatible("tensor ", whole, ": is saved as a whole and as the part ", prefix, part,
                          ": which of them is meant is not clear");
  return {tail.key};
}

}  // namespace

std::string model_key(std::string const& parameter) {
  return concat(model_prefix, parameter);
}

std::string state_key(std::string const& parameter, std::string const& what) {
  return concat(state_prefix, parameter, ".", what);
}

std::string key_of(std::string const& parameter, TensorKind kind) {
  if (kind == TensorKind::parameter) return model_key(parameter);
  return state_key(parameter, std::string(name_of(kind)));
}

std::string name_of_part(std::string const& parameter, std::string const& part) {
  return concat(parameter, ".", part);
}

std::string raw_key(std::string const& key) {
  return concat(key, "/raw");
}

std::string scale_key(std::string const& key) {
  return concat(key, "/scale");
}

std::string shard_file_name(int rank, std::size_t index, std::size_t count) {
  return concat(file_prefix, number(static_cast<std::size_t>(rank) + 1), file_middle,
                number(index + 1), "-of-", number(count), file_suffix);
}

bool is_shard_file(std::string const& name) {
  return name.ends_with(file_suffix);
}

std::string owner_of_file(std::string const& name) {
  std::size_t const middle = name.find(file_middle);
  bool const ours = name.starts_with(file_prefix) && middle != std::string::npos;
  return ours ? name.substr(0, middle) : name;
}

std::map<std::string, std::string> match_keys(std::span<WantedKey const> wanted,
                                              std::set<std::string> const& saved) {
  std::map<std::string, std::string> matched;
  for (std::string_view const usual : {model_prefix, state_prefix}) {
    Tails const rest = tails(wanted, usual);
    if (rest.empty()) continue;
    std::string const prefix = find_prefix(std::string(usual), rest, saved);
    for (WantedKey const& tail : rest)
      for (std::string const& key : keys_saved(prefix, tail, saved))
        if (!matched.try_emplace(concat(usual, key), concat(prefix, key)).second)
          refuse_incompatible("tensor ", prefix, key, " is a parameter's and a part's of another");
  }
  ADAMANT_REAL_ASSERT(matched.size() >= wanted.size());
  return matched;
}

}  // namespace adamant::real
