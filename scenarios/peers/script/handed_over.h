// The numbers of a session: what its requests hand over as files, as constants of a script.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/client/recording.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// As literals: more than these nobody reads.
inline constexpr std::size_t literals_max = 400;
/// As base64: more than these are no example of anything.
inline constexpr std::size_t handed_over_max = 2048;

class HandedOver {
 public:
  /// Errors: NoScript where they are too many.
  explicit HandedOver(Conversation const& exchanges);

  /// The constant with the files of an exchange: INITIAL, one file, of an open; GRADIENTS, a list
  /// of one for each rank, of a backward. Equal ones have one name. Empty where it has none.
  std::string const& name_of(std::size_t exchange) const { return names_[exchange]; }

  /// SHAPES, and all of these, in the order in which they are needed.
  std::vector<std::pair<std::string, python::Literal>> constants() const;
  /// Is each tensor one text, base64 of its bytes, and no list of numbers?
  bool in_base64() const { return in_base64_; }

 private:
  python::Literal tensors_of(TensorFile const& file) const;
  void add(Exchange const& exchange);

  bool in_base64_;
  std::vector<std::string> names_;                              // by exchange
  std::vector<std::pair<std::string, python::Literal>> files_;  // by name
  std::vector<python::Literal> shapes_;
};

}  // namespace adamant::scenarios::script
