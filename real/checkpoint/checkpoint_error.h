// What save and load throw when a checkpoint is not what it has to be. Messages read: file: tensor:
// what was found, what was expected; what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace adamant::real {

class CheckpointError : public std::runtime_error {
 public:
  enum class Kind {
    damaged,       // not what was written: missing, left over, overlapping, cut short, changed
    incompatible,  // whole, but of another model, format or grouping
  };

  CheckpointError(Kind kind, std::string const& message)
      : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// A verb was called of an engine whose last load failed when its state was half replaced.
class NoStateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Puts a message together; plain `+` of temporaries draws a false warning from g++ 12.
template <typename... Parts>
std::string concat(Parts const&... parts) {
  std::string text;
  (text.append(parts), ...);
  return text;
}

template <typename... Parts>
[[noreturn]] void refuse_damaged(Parts const&... parts) {
  throw CheckpointError(CheckpointError::Kind::damaged, concat(parts...));
}

template <typename... Parts>
[[noreturn]] void refuse_incompatible(Parts const&... parts) {
  throw CheckpointError(CheckpointError::Kind::incompatible, concat(parts...));
}

/// "[3, 4]".
template <typename Numbers>
std::string text_of_shape(Numbers const& numbers) {
  std::string text = "[";
  for (auto const number : numbers) {
    if (text.size() > 1) text.append(", ");
    text.append(std::to_string(number));
  }
  return text.append("]");
}

}  // namespace adamant::real
