// The ledger as text.
#include <fmt/format.h>

#include "scenarios/campaign/ledger.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

namespace {

std::string known_met(Tally const& tally) {
  if (tally.known.empty()) return "";
  std::string text = counted(tally.masked, "case") + " met known defects\n";
  for (auto const& [name, cases] : tally.known) text += fmt::format("{:>9}  {}\n", cases, name);
  return text;
}

std::string done_by_shards(Ledger const& ledger) {
  std::string text = fmt::format("seed {}, engine {}{}: {} in {} of {}\n", ledger.settings.seed,
                                 ledger.settings.engine,
                                 ledger.settings.bug.empty() ? "" : ", bug " + ledger.settings.bug,
                                 counted(ledger.tally.cases(), "case"), ledger.shards.size(),
                                 counted(ledger.settings.shards, "shard"));
  return text +
         fmt::format("schedules: {} fifo, {} random, {} pct\n",
                     ledger.schedules(Schedule::Strategy::fifo),
                     ledger.schedules(Schedule::Strategy::random),
                     ledger.schedules(Schedule::Strategy::pct)) +
         describe(ledger.tally.values) + known_met(ledger.tally);
}

std::string chances(Ledger const& ledger) {
  std::string text =
      fmt::format("\n{:<22} {:>9}  one more case does, at most\n", "law", "broken by");
  for (LedgerLaw const& law : ledger.laws)
    text += fmt::format("{:<22} {:>9}  {:.3g}\n", law.id, law.cases, law.at_most);
  return text;
}

std::string depths(Ledger const& ledger) {
  if (ledger.depths.empty()) return {};
  std::string text =
      fmt::format("\n{:>9} {:>9}  {:<26} share of cases with a missed one, at most\n", "pct depth",
                  "schedules", "one in all cases is missed");
  for (LedgerDepth const& depth : ledger.depths)
    text += fmt::format("{:>9} {:>9}  {:<26.3g} {:.3g}\n", depth.depth, depth.schedules,
                        depth.missed_at_most, depth.share_at_most);
  return text;
}

std::string marks(Ledger const& ledger) {
  if (!ledger.has_marks()) return {};
  std::string text = "\nwhat the simulated hardware did, and in how many cases\n";
  for (std::size_t mark = 0; mark < sim::mark_count; ++mark)
    text += fmt::format("{:>9}  {}\n", ledger.tally.marks[mark],
                        name_of(static_cast<sim::CoverageMark>(mark)));
  return text;
}

}  // namespace

std::string describe(Ledger const& ledger, Zeros zeros) {
  std::string text = done_by_shards(ledger);
  if (ledger.tally.cases() == 0) return text;
  return text + chances(ledger) + depths(ledger) + marks(ledger) + "\n" +
         describe(ledger.tally.seen, ledger.settings.lacking, zeros);
}

}  // namespace adamant::scenarios
