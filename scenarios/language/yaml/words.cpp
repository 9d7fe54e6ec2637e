#include "scenarios/language/yaml/words.h"

#include <algorithm>
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

}  // namespace

std::string suggest(std::string_view found, std::span<std::string_view const> words) {
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
  return nearest.empty() ? "" : " (did you mean `" + std::string(nearest) + "`?)";
}

}  // namespace adamant::scenarios
