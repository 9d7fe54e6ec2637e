// What one operation did to an element, from the model before it and after it. It knows no run: who
// asks has the models, and of another arithmetic what was seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/explain/element.h"
#include "oracle/explain/mean_trace.h"
#include "oracle/explain/step_trace.h"
#include "oracle/explain/trace.h"
#include "oracle/interval/admissible.h"
#include "oracle/model/model.h"

namespace adamant::oracle {

struct Told {
  std::string text = "";  // of what is not computed
  std::vector<Rounding> roundings = {};
  std::optional<Admissible> interval = {};  // where no single value is right
  std::optional<float> value = {};          // afterwards; nothing: it is not there
};

class Telling {
 public:
  /// Errors: NoSuchElement where `after` has no such tensor.
  Telling(Element element, Model const& after);

  /// Under its own order.
  Told step(Model const& before) const;
  /// Under another one; nothing was seen where the step passes over the element.
  enum class Order { torch, any };
  Told step(Order order, std::optional<SeenStep> const& seen) const;
  /// `saved`: the model of which the checkpoint is, or null.
  Told load(Model const* saved) const;
  Told backward(Summed const& summed, bool rounds) const;
  Told clip() const;
  /// All else that changes it.
  Told other(std::string text) const;

 private:
  Told told(Trace const& trace, std::string text = "") const;
  ElementOf place() const;

  Element element_;
  Model const& after_;
};

/// The element in a model, or nothing.
std::optional<float> value_in(Model const& model, Element const& element);

}  // namespace adamant::oracle
