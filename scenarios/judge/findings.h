// The violations that a verdict has found so far, as reports with numbers written out. Of each law
// it keeps the first few: enough to understand what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/interval/admissible.h"
#include "oracle/types.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// A number in hexadecimal floating point, exactly.
std::string hexadecimal(float x);
/// A number in as many decimal digits as tell it from its neighbours.
std::string decimal(float x);

/// "embed.weight" for the parameter itself, "embed.weight/exp_avg" for what belongs to it.
std::string tensor_name(ParameterSpec const& spec, TensorKind kind);

/// Does `reports` have as many of this law as are worth reading?
bool full(std::vector<ViolationReport> const& reports, std::string_view law);

class Findings {
 public:
  /// Entry of the program to which later findings belong; -1: outside of every operation.
  void at_operation(int entry) { operation_ = entry; }

  /// Where a finding is.
  struct Place {
    int rank = 0;
    std::string tensor = "";
    std::int64_t index = -1;
  };

  /// What differs, in words.
  struct Text {
    std::string expected;
    std::string actual;
    std::string message;
  };

  void add(std::string_view law, Place const& place, Text const& text);
  /// An element that differs; `difference.index` is not used, `place.index` is.
  void add_values(std::string_view law, Place const& place, oracle::Difference const& difference);
  /// An element outside of what it may be; values.interval.
  void add_outside(Place const& place, oracle::Admissible const& admissible, float actual,
                   std::string message);
  void add(ViolationReport report);

  bool any() const { return !reports_.empty(); }
  /// Would one more of this law be dropped?
  bool full(std::string_view law) const { return ::adamant::scenarios::full(reports_, law); }
  std::vector<ViolationReport> const& reports() const { return reports_; }

 private:
  int operation_ = -1;
  std::vector<ViolationReport> reports_;
};

}  // namespace adamant::scenarios
