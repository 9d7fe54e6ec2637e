// An element as reports name it, `weight/exp_avg[17]`, and a number of it that was traced, in
// words.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/explain/trace.h"
#include "oracle/types.h"

namespace adamant::oracle {

struct NoSuchElement : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is asked for: an element of a tensor, a parameter's counter, or the norm.
struct Element {
  enum class What { number, steps, norm };
  What what = What::number;
  int parameter = 0;
  TensorKind kind = TensorKind::parameter;
  std::int64_t index = 0;
  std::string part = "";  // of how it is stored, "scale" and so on; empty: the number
};

/// Errors: NoSuchElement, with what there is.
Element element_of(std::string_view text, std::vector<ParameterSpec> const& parameters);

/// In hexadecimal, exactly; then in decimal digits enough for a binary32.
std::string in_both_notations(double x);

/// A line for what was known, two for an operation.
std::string text_of(Rounding const& rounding);

}  // namespace adamant::oracle
