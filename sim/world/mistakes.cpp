#include "sim/world/mistakes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace adamant::sim {
namespace {

constexpr std::int64_t kept_of_a_law = 64;
constexpr std::int64_t leaks_apart_max = 256;
constexpr char words_for_further_leaks[] =
    "more buffers than are told apart by their lines are never freed";

std::int64_t count_of(std::vector<Violation> const& found, Law law) {
  return std::count_if(found.begin(), found.end(),
                       [&](Violation const& violation) { return violation.law == law; });
}

// Callers count: what allocates for many is a helper, and seldom the mistake.
std::string mistake_and_line_of(Violation const& violation) {
  bool const of_line = violation.law == Law::memory_leak && violation.at.known();
  return of_line ? "leak|" + describe(violation.at) : mistake_of(violation);
}

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

Violation further_leak(Violation leak) {
  leak.about.clear();
  leak.message = words_for_further_leaks;
  leak.at = {};
  return leak;
}

bool full(std::vector<Violation> const& found, Violation const& violation) {
  bool const is_further_leak =
      violation.law == Law::memory_leak && violation.message == words_for_further_leaks;
  return !is_further_leak && count_of(found, violation.law) >= kept_of_a_law;
}

bool stands_apart(std::vector<Violation> const& found, Violation const& violation) {
  return violation.law == Law::memory_leak && count_of(found, Law::memory_leak) < leaks_apart_max;
}

void fold(Violation& into, Violation const& again) {
  into.count += again.count;
  into.bytes += again.bytes;
  std::vector<int> both;
  std::set_union(into.ranks.begin(), into.ranks.end(), again.ranks.begin(), again.ranks.end(),
                 std::back_inserter(both));
  into.ranks = std::move(both);
}

void fold(std::vector<Violation>& found, std::vector<Violation> more) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < found.size(); ++i) known.emplace(mistake_and_line_of(found[i]), i);
  for (Violation& violation : more) {
    bool const is_leak = violation.law == Law::memory_leak;
    if (!known.contains(mistake_and_line_of(violation)) && full(found, violation)) {
      if (!is_leak) continue;
      violation = further_leak(std::move(violation));
    }
    auto const [same, is_new] = known.try_emplace(mistake_and_line_of(violation), found.size());
    if (is_new)
      found.push_back(std::move(violation));
    else
      fold(found[same->second], violation);
  }
}

}  // namespace adamant::sim
