// The numbers of a session: what its requests hand over as files, as constants of a script.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/client/recording.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// More than these are no example of anything.
inline constexpr std::size_t handed_over_max = 2048;

/// Files of safetensors that have the same tensors in the same order, each by what it is called in
/// the script. What is handed over twice is one file.
class HandedOver {
 public:
  /// Errors: NoScript where they are too many, or where tensors differ from file to file.
  explicit HandedOver(Conversation const& exchanges);

  /// The file of an open: "initial", "initial-2".
  std::string const& initial(std::size_t exchange) const { return at_[exchange].initial; }
  /// The number of a backward's gradients, which are "gradients-NUMBER-RANK" of each rank.
  std::size_t backward(std::size_t exchange) const { return at_[exchange].backward; }
  std::size_t count() const { return files_.size(); }
  bool empty() const { return files_.empty(); }

  /// What is in all of them, as the text at the head of each.
  python::Literal header() const;
  /// The numbers of each by its name.
  python::Literal numbers() const;
  /// Their names, in an order, and in it the bytes of their numbers.
  python::Literal names() const;
  std::vector<std::byte> bytes() const;

 private:
  struct At {
    std::string initial = "";
    std::size_t backward = 0;
  };
  using File = std::vector<std::byte>;

  void add(Exchange const& exchange);
  void add_initial(File const& file);
  void add_gradients(std::vector<File> const& files);
  void keep(std::string name, File file);
  File numbers_of(TensorFile const& file);

  TensorFile tensors_;  // the first file
  std::vector<At> at_;  // by exchange
  std::vector<std::pair<std::string, File>> files_;
  std::vector<std::vector<File>> backwards_;  // by number
};

}  // namespace adamant::scenarios::script
