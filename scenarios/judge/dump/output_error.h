// An output that cannot be written: what was tried, on which path, and why the system refused.
#pragma once

#include <filesystem>
#include <stdexcept>

namespace adamant::scenarios {

class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Can files be made in `directory`, or it itself, as far as that is known before? Makes nothing.
///
/// Errors: OutputError.
void expect_writable(std::filesystem::path const& directory);

}  // namespace adamant::scenarios
