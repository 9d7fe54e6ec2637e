#include "scenarios/judge/dump/output_error.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace adamant::scenarios {

void expect_writable(std::filesystem::path const& directory) {
  std::error_code unknown;
  auto existing = std::filesystem::absolute(directory, unknown);
  while (!std::filesystem::exists(existing, unknown) && existing.has_relative_path())
    existing = existing.parent_path();
  bool const is_directory = std::filesystem::is_directory(existing, unknown);
  if (!is_directory)
    throw OutputError(directory.string() + ": cannot be made: " + existing.string() +
                      " is no directory");
  if (::access(existing.c_str(), W_OK | X_OK) != 0)
    throw OutputError(directory.string() + ": " + existing.string() +
                      " cannot be written: " + std::generic_category().message(errno));
}

}  // namespace adamant::scenarios
