// What one rank tells the others while they save and load: numbers and words, one after the other.
// Who takes them asks for the same in the same order, on any machine of the same program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adamant::real {

class Message {
 public:
  Message() = default;
  explicit Message(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  void add_number(std::uint64_t value);
  void add_word(std::string_view word);

  // REQUIRES of both: it is what comes next.
  std::uint64_t take_number();
  std::string take_word();
  bool at_end() const { return taken_ == bytes_.size(); }

  std::vector<std::byte> const& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t taken_ = 0;
};

}  // namespace adamant::real
