#include "scenarios/search/hunt_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include "scenarios/search/minimize/weight.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

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
  if (!hunted.minimized.empty()) {
    text += fmt::format(
        "; minimised to {} in {:.1f} s",
        counted(static_cast<std::uint64_t>(operations_of(commonest(hunted))), "operation"),
        median_minimize_seconds(hunted));
    if (alike(hunted) < hunted.minimized.size())
      text += fmt::format(", {} of {} alike", alike(hunted), hunted.minimized.size());
  }
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

std::size_t alike_to(Hunted const& hunted, std::string const& text) {
  return static_cast<std::size_t>(
      std::count_if(hunted.minimized.begin(), hunted.minimized.end(),
                    [&](HuntMinimized const& minimized) { return minimized.text == text; }));
}

}  // namespace

HuntMinimized const& commonest(Hunted const& hunted) {
  auto const rank = [&](HuntMinimized const& minimized) {
    return std::tuple(hunted.minimized.size() - alike_to(hunted, minimized.text),
                      weight_of(minimized.finding.scenario), std::string_view(minimized.text));
  };
  return *std::min_element(hunted.minimized.begin(), hunted.minimized.end(),
                           [&](auto const& a, auto const& b) { return rank(a) < rank(b); });
}

std::size_t alike(Hunted const& hunted) {
  return alike_to(hunted, commonest(hunted).text);
}

std::int64_t operations_of(HuntMinimized const& minimized) {
  return operation_count(minimized.finding.scenario.program);
}

double median_minimize_seconds(Hunted const& hunted) {
  std::vector<double> seconds;
  for (HuntMinimized const& minimized : hunted.minimized) seconds.push_back(minimized.seconds);
  return median(std::move(seconds));
}

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
  } else if (hunted.searches.empty()) {
    text = fmt::format("        {:<34} not searched\n", hunted.bug.id);
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
  bool const minimized = !hunted.minimized.empty();
  json["minimized_file"] = hunted.path.empty() ? Json() : Json(hunted.path);
  json["minimized_operations"] = minimized ? Json(operations_of(commonest(hunted))) : Json();
  json["minimize_runs"] = minimized ? Json(commonest(hunted).finding.runs) : Json();
  json["minimize_seconds"] = minimized ? Json(median_minimize_seconds(hunted)) : Json();
  json["minimized"] = hunted.minimized.size();
  json["minimized_alike"] = minimized ? Json(alike(hunted)) : Json(0);
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
  Reported reported{.result = std::move(result), .replay = replay};
  if (hunted.searches.empty()) reported.lacking = "not searched: it was interrupted before";
  return reported;
}

}  // namespace adamant::scenarios
