#include "scenarios/language/yaml/suggest.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace adamant::scenarios {

namespace {

/// How many single-character edits lead from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto const replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

/// The names of PyTorch, Megatron and DeepSpeed, and ours for the same.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"float8", "fp8"},
    {"float8_e4m3fn", "fp8"},
    {"learning_rate", "lr"},
    {"beta1", "betas"},
    {"beta2", "betas"},
    {"adam_beta1", "betas"},
    {"adam_beta2", "betas"},
    {"epsilon", "eps"},
    {"adam_eps", "eps"},
    {"decay", "weight_decay"},
    {"wd", "weight_decay"},
    {"clip_grad", "clip"},
    {"max_grad_norm", "clip"},
    {"gradient_clipping", "clip"},
    {"max_norm", "clip"},
    {"initial_scale", "loss_scale"},
    {"exp_avgs", "exp_avg"},
    {"master", "main"},
    {"main_params", "main"},
    {"parameters", "params"},
    {"dtype", "param"}};

std::string_view known_elsewhere_as(std::string_view found) {
  if (found.starts_with("torch.")) found.remove_prefix(6);
  auto const* const other =
      std::ranges::find(other_names, found, &std::pair<std::string_view, std::string_view>::first);
  return other == std::end(other_names) ? found : other->second;
}

std::string_view nearest_of(std::string_view found, std::span<std::string_view const> words) {
  constexpr std::size_t longest = 40;  // no word of the format is near to anything longer
  std::string_view nearest;
  std::size_t best = 1 + std::max<std::size_t>(found.size() / 3, 1);
  for (std::string_view const word : words) {
    if (found.size() > longest) break;
    // Letters in another order are one slip, and all of them are there.
    bool const shuffled = std::is_permutation(found.begin(), found.end(), word.begin(), word.end());
    auto const distance = shuffled ? 0 : edit_distance(found, word);
    if (distance < best) {
      best = distance;
      nearest = word;
    }
  }
  return nearest;
}

}  // namespace

std::string suggest(std::string_view found, std::span<std::string_view const> words) {
  std::string lower(found);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  std::string_view const own = known_elsewhere_as(lower);
  bool const is_other_name = std::ranges::find(words, own) != words.end();
  std::string_view const meant = is_other_name ? own : nearest_of(found, words);
  return meant.empty() ? "" : " (did you mean `" + std::string(meant) + "`?)";
}

}  // namespace adamant::scenarios
