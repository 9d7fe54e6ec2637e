#include "scenarios/program/known_met.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/report/text.h"

namespace adamant::scenarios {

void TimeSpent::add(SearchedCase const& ended) {
  all += ended.seconds;
  if (!ended.known.empty()) masked += ended.seconds;
}

KnownMet::KnownMet(KnownHere const& known, Tally const& tally, TimeSpent const& spent)
    : not_shown(known.not_shown()),
      of_other_versions(known.of_other_versions()),
      masked(tally.masked),
      share_of_time(spent.all > 0 ? spent.masked / spent.all : 0) {
  for (KnownDefect const& defect : known.defects()) {
    auto const met = tally.known.find(defect.name);
    defects.push_back(
        {defect.name, defect.cause, defect.thread, met == tally.known.end() ? 0 : met->second});
  }
}

StrictJson to_json(KnownMet const& known) {
  auto defects = StrictJson::object();
  for (KnownMet::Defect const& defect : known.defects) defects[defect.name] = defect.cases;
  return {{"cases", known.masked},
          {"share_of_time", known.share_of_time},
          {"defects", std::move(defects)},
          {"not_shown", known.not_shown},
          {"of_other_versions", known.of_other_versions}};
}

std::string describe(KnownMet const& known, std::uint64_t cases) {
  if (known.empty()) return "";
  std::string text =
      fmt::format("{} of {} met known defects of this engine, in {:.0f} % of the time\n",
                  known.masked, counted(cases, "case"), 100 * known.share_of_time);
  for (KnownMet::Defect const& defect : known.defects) {
    if (defect.cases == 0) continue;
    text += fmt::format("{:6}  {}: {}{}\n", defect.cases, defect.name, defect.cause,
                        defect.thread.empty() ? "" : " " + defect.thread);
  }
  if (!known.not_shown.empty())
    text += fmt::format("not seen here: {}\n", fmt::join(known.not_shown, ", "));
  if (!known.of_other_versions.empty())
    text += fmt::format("known of other versions, and seen here: {}\n",
                        fmt::join(known.of_other_versions, ", "));
  return text;
}

}  // namespace adamant::scenarios
