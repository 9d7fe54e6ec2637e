// The numbers of a script that drives an engine's class: initial values and gradients, as nested
// lists under names of constants.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/client/recording.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

class DriverNumbers {
 public:
  /// Errors: NoScript where they are too many.
  explicit DriverNumbers(Conversation const& exchanges);

  /// The constant with what an exchange hands over: INITIAL of an open, GRADIENTS, with a set for
  /// each rank, of a backward. Equal ones have one name. Empty where it has none.
  std::string const& name_of(std::size_t exchange) const { return names_[exchange]; }
  /// Names of parameters in the order in which INITIAL has them, that of the first world.
  std::vector<std::string> const& order() const { return order_; }
  std::vector<std::pair<std::string, python::Literal>> const& constants() const { return named_; }

 private:
  python::Literal set_of(TensorFile const& file) const;
  void add(Exchange const& exchange);

  std::vector<std::string> order_;
  std::vector<std::string> names_;  // by exchange
  std::vector<std::pair<std::string, python::Literal>> named_;
};

}  // namespace adamant::scenarios::script
