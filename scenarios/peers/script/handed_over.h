// The numbers of a session: what its requests hand over as files, as constants of a script.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/client/recording.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

class HandedOver {
 public:
  explicit HandedOver(Conversation const& exchanges);

  /// The constant with the files of an exchange: INITIAL, one file, of an open; GRADIENTS, a list
  /// of one for each rank, of a backward. Equal ones have one name. Empty where it has none.
  std::string const& name_of(std::size_t exchange) const { return names_[exchange]; }

  /// SHAPES, and all of these, in the order in which they are needed.
  std::vector<std::pair<std::string, python::Literal>> constants() const;
  std::size_t number_count() const;

 private:
  void add(Exchange const& exchange);

  std::vector<std::string> names_;                              // by exchange
  std::vector<std::pair<std::string, python::Literal>> files_;  // by name
  std::vector<python::Literal> shapes_;
};

}  // namespace adamant::scenarios::script
