#include "scenarios/language/words.h"

namespace adamant::scenarios {

std::string list_words(std::span<std::string_view const> words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  return list;
}

}  // namespace adamant::scenarios
