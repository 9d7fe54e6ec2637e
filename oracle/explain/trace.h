// Operations on single numbers, one after the other, with what each of them rounded away: what the
// oracle does to one element, told. It computes the same bits as the code that it tells of, which a
// test holds it to, and knows no optimizer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/types.h"

namespace adamant::oracle {

/// A number under the name that formulas have for it.
struct Term {
  std::string name;
  double value = 0;  // mostly a binary32, which a binary64 holds

  float fp32() const { return static_cast<float>(value); }
};

/// One operation and the rounding that follows it.
struct Rounding {
  std::string result = "";   // its name
  std::string formula = "";  // of the names of its inputs
  std::vector<Term> inputs = {};
  std::optional<double> exact = {};     // the exact result, where binary64 holds it
  std::optional<double> distance = {};  // from it to the value, in steps of the format; nothing
                                        // where one of them is not finite
  std::string format = "";              // rounded to; empty: nothing was rounded
  double value = 0;
};

class Trace {
 public:
  /// What is known already; nothing is computed.
  Term given(std::string name, double value);

  // Of binary32, rounded once to it.
  Term sum(std::string name, Term const& a, Term const& b);
  Term difference(std::string name, Term const& a, Term const& b);
  Term product(std::string name, Term const& a, Term const& b);
  Term quotient(std::string name, Term const& a, Term const& b);
  Term root(std::string name, Term const& a);
  /// a b + c, rounded once.
  Term fused(std::string name, Term const& a, Term const& b, Term const& c);

  /// A number as a format keeps it, as `value` says.
  struct Kept {
    std::string_view format;
    int significant_bits;
    double smallest;
  };
  Term kept(std::string name, Term const& x, float value, Kept const& as);
  Term rounded(std::string name, Term const& x, NumberFormat format);
  /// What does not round, or is computed in binary64: a choice, a correction, a bound.
  Term noted(std::string name, std::string formula, std::vector<Term> inputs, double value,
             std::string format = "");

  std::vector<Rounding> const& roundings() const { return roundings_; }

 private:
  /// `exact`: in binary64; `rest`: what the exact result has beyond that.
  struct Exact {
    double value = 0;
    double rest = 0;
  };
  Term take(std::string name, std::string formula, std::vector<Term> inputs, float value,
            Exact const& exact);
  Term add(Rounding rounding);

  std::vector<Rounding> roundings_;
};

}  // namespace adamant::oracle
