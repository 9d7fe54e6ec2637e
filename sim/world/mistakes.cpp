#include "sim/world/mistakes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace adamant::sim {
namespace {

constexpr std::int64_t kept_of_a_law = 64;

}  // namespace

std::string mistake_of(Violation const& violation) {
  std::string key = std::to_string(static_cast<int>(violation.breach));
  key += '|';
  key += name_of(violation.law);
  if (violation.law == Law::of_harness) key += '|' + std::to_string(violation.number);
  if (violation.accesses.empty()) key += '|' + violation.message;
  std::set<std::string> sides;  // which of two came first is the schedule's choice
  bool const is_pair = violation.breach == Breach::unordered_accesses;  // one edge is missing
  for (Access const& access : violation.accesses)
    sides.insert('|' + access.stream + '|' + access.name + (is_pair ? "" : '|' + access.kind));
  for (std::string const& side : sides) key += side;
  return key;
}

bool full(std::vector<Violation> const& found, Law law) {
  return std::count_if(found.begin(), found.end(), [&](Violation const& violation) {
           return violation.law == law;
         }) >= kept_of_a_law;
}

void fold(Violation& into, Violation const& again) {
  into.count += again.count;
  std::vector<int> both;
  std::set_union(into.ranks.begin(), into.ranks.end(), again.ranks.begin(), again.ranks.end(),
                 std::back_inserter(both));
  into.ranks = std::move(both);
}

void fold(std::vector<Violation>& found, std::vector<Violation> more) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < found.size(); ++i) known.emplace(mistake_of(found[i]), i);
  for (Violation& violation : more) {
    auto const [same, is_new] = known.try_emplace(mistake_of(violation), found.size());
    if (!is_new) {
      fold(found[same->second], violation);
    } else if (full(found, violation.law)) {
      known.erase(same);
    } else {
      found.push_back(std::move(violation));
    }
  }
}

}  // namespace adamant::sim
