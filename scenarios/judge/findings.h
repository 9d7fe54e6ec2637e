// The violations that a verdict has found so far, and how much of intervals was used. What an
// operation shows alike on several ranks, or of several parameters, is one of them. Of each law it
// keeps the first few: enough to understand what is wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/interval/admissible.h"
#include "oracle/layout/some_elements.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// Does the list have as many of this law as are worth reading?
bool full(std::vector<Violation> const& violations, Law law);

/// Where a finding is, and what it is about.
struct Site {
  int rank = 0;
  Subject subject = {};
  std::int64_t index = -1;
};

/// A number that differs; `difference.index` is not used, `site.index` is.
Violation other_value(Law law, Site const& site, oracle::Difference const& difference);
/// A number outside of what it may be; values.interval.
Violation outside_value(Breach breach, Site const& site, oracle::Admissible const& admissible,
                        float actual);

/// What is said of the elements that are wrong.
WrongElements wrong_elements(std::vector<ElementRange> elements, oracle::Whereabouts const& of);

class RunFindings {
 public:
  /// What is kept: for reports, or one, by which it is known that there are any.
  enum class Keeps { the_first_few, whether_any };
  explicit RunFindings(Keeps keeps = Keeps::the_first_few) : keeps_(keeps) {}

  /// Entry of the program to which later findings belong; -1: outside of every operation.
  void at_operation(int entry) { operation_ = entry; }

  /// Its operation is the one that findings belong to now. Returns it, until the next one is added,
  /// or null where it was known already, is one too many, or nobody will read it.
  Violation* add(Violation violation);

  /// Forgets of the wrong values all but the first: what they say, one sentence does.
  void keep_first_value();

  bool any() const { return !violations_.empty(); }
  /// Would one more of this law be dropped?
  bool full(Law law) const {
    if (keeps_ == Keeps::whether_any) return any();
    return ::adamant::scenarios::full(violations_, law);
  }
  std::vector<Violation> const& violations() const { return violations_; }

  /// The largest part of an interval that was used so far: by what lies within.
  struct Used {
    double by_gradients = 0;
    double by_steps = 0;
  };
  Used const& used() const { return used_; }
  void note_used_by_gradient(double part) {
    used_.by_gradients = std::max(used_.by_gradients, part);
  }
  void note_used_by_step(double part) { used_.by_steps = std::max(used_.by_steps, part); }

 private:
  Keeps keeps_;
  int operation_ = -1;
  std::vector<Violation> violations_;
  Used used_;
};

}  // namespace adamant::scenarios
