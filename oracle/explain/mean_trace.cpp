#include "oracle/explain/mean_trace.h"

#include <string>

#include "oracle/reduce/sum_bound.h"

namespace adamant::oracle {

Term trace_mean(Trace& trace, Summed const& summed) {
  Term sum;
  for (std::size_t i = 0; i < summed.addends.size(); ++i) {
    std::string const number = std::to_string(i);
    Term const x = trace.given("x" + number, summed.addends[i]);
    sum = i == 0 ? x : trace.sum("sum to x" + number, sum, x);
  }
  Term const mean = trace.quotient("mean", sum, trace.given("n", summed.divisor));
  bool const rounds = summed.format != NumberFormat::fp32;
  Term stored = rounds ? trace.rounded("stored mean", mean, summed.format) : mean;
  if (!summed.older) return stored;
  stored = trace.sum("older + mean", trace.given("older", *summed.older), stored);
  return rounds ? trace.rounded("stored", stored, summed.format) : stored;
}

Admissible mean_of_any_order(Summed const& summed) {
  MeanBounds bounds(1, summed.format);
  for (float const& x : summed.addends) bounds.add({&x, 1});
  Admissible const mean = bounds.at(0, summed.divisor);
  return summed.older ? add_to(*summed.older, mean, summed.format) : mean;
}

}  // namespace adamant::oracle
