// Lines of a test's own source, which its comments mark, and those that violations name.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "sim/sim.h"
#include "sim/testing/judging.h"

namespace adamant::sim {

inline std::string place(Location const& location) {
  return location.file + ":" + std::to_string(location.line);
}

inline Violation first_of(Report const& report) {
  EXPECT_EQ(report.unlocated, "");
  return report.ok() ? Violation{} : report.violations.front();
}

inline Violation first_violation(std::function<void()> const& program, int ranks = 1) {
  return first_of(run(ranks, [&](int) { program(); }));
}

/// What a violation says of other calls: what they did, by whom, where.
inline std::string related(Violation const& violation) {
  std::string text;
  for (Related const& call : violation.related)
    text += call.what + " by " + std::to_string(call.rank) + " at " + place(call.at) + "; ";
  return text;
}

/// The lines of one source that end with `// <- mark`.
class Marks {
 public:
  explicit Marks(std::string file) : file_(std::move(file)) {}

  std::string place(std::string const& mark) const {
    return file_ + ":" + std::to_string(marked_line(file_, mark));
  }
  /// As related() says of a violation with this call alone.
  std::string related(std::string const& what, int rank, std::string const& mark) const {
    return what + " by " + std::to_string(rank) + " at " + place(mark) + "; ";
  }

 private:
  std::string file_;
};

}  // namespace adamant::sim
