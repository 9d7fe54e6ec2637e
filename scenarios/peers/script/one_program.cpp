#include "scenarios/peers/script/one_program.h"

#include <string>
#include <utility>
#include <vector>

namespace adamant::scenarios::script {

namespace {

using Passages = std::vector<Passage>;

/// The number of the first backward that only the second run has; 0: it has none.
std::int64_t first_of_second(Passages const& second) {
  for (Passage const& passage : second)
    for (Act const& act : passage.acts)
      if (act.kind == Act::Kind::backward) return act.backward;
  return 0;
}

/// With numbers of backwards from 0 on, and the side in the place of a checkpoint's prefix.
Passages on_either_side(Passages passages, std::int64_t first_backward, std::string_view prefix) {
  for (Passage& passage : passages)
    for (Act& act : passage.acts) {
      if (act.kind == Act::Kind::backward) act.backward -= first_backward;
      if (!act.checkpoint.empty()) act.checkpoint.replace(0, prefix.size(), "{side}-");
    }
  return passages;
}

}  // namespace

void unite(Plan& plan) {
  if (plan.worlds.size() != 2 || plan.alone()) return;
  World& first = plan.worlds.front();
  World& second = plan.worlds.back();
  std::int64_t const begin = first_of_second(second.passages);
  Passages one = on_either_side(first.passages, 0, "");
  Passages other = on_either_side(second.passages, begin, of_second_run);
  if (one != other) return;
  plan.one_program = true;
  plan.second_backwards = begin;
  first.passages = std::move(one);
  second.passages = std::move(other);
}

}  // namespace adamant::scenarios::script
