#include "scenarios/search/hunt_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace adamant::scenarios {

namespace {

using Json = nlohmann::ordered_json;

/// Searches that missed it would have gone on.
template <typename Value>
double median_over(Hunted const& hunted, Value HuntEnd::*member) {
  std::vector<double> values;
  for (HuntEnd const& end : hunted.searches) {
    values.push_back(end.found ? static_cast<double>(end.*member)
                               : std::numeric_limits<double>::infinity());
  }
  return median(std::move(values));
}

int missed(Hunted const& hunted) {
  return static_cast<int>(std::count_if(hunted.searches.begin(), hunted.searches.end(),
                                        [](HuntEnd const& end) { return !end.found; }));
}

std::string remarks(Hunted const& hunted) {
  std::string text;
  auto const count = hunted.searches.size();
  if (hunted.minimized)
    text += fmt::format("; minimised to {} operation{} in {:.1f} s", hunted.minimized->operations,
                        hunted.minimized->operations == 1 ? "" : "s", hunted.minimized->seconds);
  if (int const others = other_law_first(hunted); others > 0)
    text += fmt::format("; another law first in {} of {}", others, count);
  if (int const without = missed(hunted); without > 0 && is_found(hunted))
    text += fmt::format("; missed in {} of {}", without, count);
  return text;
}

std::set<std::string> deaths(Hunted const& hunted) {
  std::set<std::string> all;
  for (HuntEnd const& end : hunted.searches)
    if (!end.death.empty()) all.insert(end.death);
  return all;
}

}  // namespace

double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_found(Hunted const& hunted) {
  return !hunted.searches.empty() &&
         median_over(hunted, &HuntEnd::seconds) < std::numeric_limits<double>::infinity();
}

double median_seconds(Hunted const& hunted) {
  return median_over(hunted, &HuntEnd::seconds);
}
std::uint64_t median_cases(Hunted const& hunted) {
  return static_cast<std::uint64_t>(median_over(hunted, &HuntEnd::cases));
}

int other_law_first(Hunted const& hunted) {
  return static_cast<int>(
      std::count_if(hunted.searches.begin(), hunted.searches.end(), [&](HuntEnd const& end) {
        return !end.first_law.empty() && end.first_law != hunted.bug.law;
      }));
}

std::string describe(Hunted const& hunted) {
  std::string text;
  if (is_found(hunted)) {
    text =
        fmt::format("found   {:<34} {:>6} cases {:>8.3f} s  {}{}\n", hunted.bug.id,
                    median_cases(hunted), median_seconds(hunted), hunted.bug.law, remarks(hunted));
  } else {
    text = fmt::format("MISSED  {:<34} {} of {} searches did not find {} broken{}\n", hunted.bug.id,
                       missed(hunted), hunted.searches.size(), hunted.bug.law, remarks(hunted));
  }
  for (std::string const& death : deaths(hunted)) text += "        " + death + "\n";
  return text;
}

Json to_json(Hunted const& hunted) {
  bool const found = is_found(hunted);
  Json json{{"bug", std::string(hunted.bug.id)},         {"source", std::string(hunted.bug.source)},
            {"law", std::string(hunted.bug.law)},        {"found", found},
            {"searches", hunted.searches.size()},        {"missed", missed(hunted)},
            {"other_law_first", other_law_first(hunted)}};
  json["cases"] = found ? Json(median_cases(hunted)) : Json();
  json["seconds"] = found ? Json(median_seconds(hunted)) : Json();
  auto const& minimized = hunted.minimized;
  json["minimized_file"] = minimized && !minimized->path.empty() ? Json(minimized->path) : Json();
  json["minimized_operations"] = minimized ? Json(minimized->operations) : Json();
  json["minimize_runs"] = minimized ? Json(minimized->runs) : Json();
  json["minimize_seconds"] = minimized ? Json(minimized->seconds) : Json();
  if (auto const all = deaths(hunted); !all.empty()) json["deaths"] = all;
  return json;
}

Reported reported(Hunted const& hunted, std::string const& replay) {
  RunResult result;
  result.name = hunted.bug.id;
  result.engine = "sim";
  result.expected = "violates " + std::string(hunted.bug.law);
  result.met = is_found(hunted);
  result.outcome = result.met ? Outcome::violated : Outcome::pass;
  if (result.met) result.wall_seconds = median_seconds(hunted);
  return {.result = std::move(result), .replay = replay};
}

}  // namespace adamant::scenarios
