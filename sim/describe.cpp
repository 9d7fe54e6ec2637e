#include "sim/describe.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adamant::sim {

std::string describe(Location const& location) {
  if (!location.known()) return "";
  std::string text = fmt::format("{}:{}", location.file, location.line);
  if (!location.function.empty()) text += " in " + location.function;
  for (Location const& caller : location.callers) {
    text += &caller == &location.callers.front() ? ", from " : ", ";
    text += fmt::format("{}:{}", caller.file, caller.line);
  }
  return text;
}

std::string missing_wait(Access const& host, Access const& operation) {
  auto const line_of = [](Location const& location) {
    return fmt::format("{}:{}", location.file, location.line);
  };
  std::string const who = host.at.known() ? line_of(host.at) : "the host";
  Location const& enqueued = operation.enqueued_at;
  return fmt::format("{} {}s before {}{} has ended; nothing between them waits", who, host.kind,
                     operation.operation, enqueued.known() ? " of " + line_of(enqueued) : "");
}

std::string heading_of(Violation const& violation) {
  bool const of_rank = violation.rank != Violation::no_rank;
  return fmt::format("{}: {}{}", name_of(violation.law),
                     of_rank ? fmt::format("rank {}: ", violation.rank) : "", violation.message);
}

namespace {

std::string line_of(std::string_view what, Location const& location) {
  return location.known() ? fmt::format("{} {}\n", what, describe(location)) : "";
}

// Both accesses of a conflict are of one buffer.
std::string describe_buffers(std::vector<Access> const& accesses) {
  std::string text;
  std::string last;
  for (Access const& access : accesses) {
    if (std::exchange(last, access.buffer) == access.buffer) continue;
    text += line_of("  allocated at", access.allocated_at);
    text += line_of("  freed at", access.freed_at);
  }
  return text;
}

}  // namespace

namespace {

std::string describe_repetitions(Violation const& violation) {
  std::string text = fmt::format("  found {} times", violation.count);
  if (!violation.ranks.empty())
    text += fmt::format(", on {} {}", violation.ranks.size() == 1 ? "rank" : "ranks",
                        fmt::join(violation.ranks, ", "));
  if (violation.bytes > 0) text += fmt::format("; {} bytes in all", violation.bytes);
  return text + "\n";
}

std::string describe(Violation const& violation) {
  std::string text = heading_of(violation) + "\n";
  if (violation.waiting.empty()) text += line_of("  at", violation.at);
  for (Waiting const& waiting : violation.waiting) {
    text += line_of(fmt::format("  rank {} waits at", waiting.rank), waiting.at);
  }
  for (Related const& related : violation.related) {
    text += line_of(fmt::format("  {} by rank {} at", related.what, related.rank), related.at);
  }
  for (Access const& access : violation.accesses) {
    text += "  " + access.kind +
            (access.buffer.empty() ? ""
                                   : fmt::format(" of bytes {} to {} of {}", access.begin,
                                                 access.end, access.buffer));
    text += fmt::format("\n    by {} on stream `{}` of rank {}\n", access.operation, access.stream,
                        access.rank);
    text += line_of("    at", access.at);
    text += line_of("    enqueued at", access.enqueued_at);
    text += line_of("    captured at", access.captured_at);
  }
  text += describe_buffers(violation.accesses);
  if (!violation.missing.empty()) text += "  missing: " + violation.missing + "\n";
  if (violation.count > 1) text += describe_repetitions(violation);
  return text;
}

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Of a run without violations: what was done, and what could not be judged.
std::string describe_clean(Report const& report) {
  std::string text =
      "nothing found in " + counted(static_cast<std::uint64_t>(report.schedules), "schedule") +
      " of " + counted(static_cast<std::uint64_t>(report.ranks), "rank") +
      (report.schedules == 1 ? ": " : "; in the last: ") + counted(report.operations, "operation");
  if (!report.checked) return text + ", accesses not judged (unchecked)\n";
  text += ", " + fmt::format("{} access{}\n", report.accesses, report.accesses == 1 ? "" : "es");
  return text;
}

}  // namespace

std::string describe(Report const& report) {
  std::string text;
  for (Violation const& violation : report.violations) text += describe(violation);
  for (Violation const& warning : report.warnings) text += "warning: " + describe(warning);
  if (!report.unlocated.empty()) text += "source lines are missing: " + report.unlocated + "\n";
  if (report.different_values > 1) {
    text += fmt::format(
        "values depend on the schedule: {} different results in {} schedules; a sum of floats in "
        "another order is enough\n",
        report.different_values, report.schedules);
  }
  return report.ok() ? text + describe_clean(report) : text;
}

}  // namespace adamant::sim
