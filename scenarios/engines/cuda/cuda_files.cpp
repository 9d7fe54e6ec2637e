#include "scenarios/engines/cuda/cuda_files.h"

namespace adamant::scenarios {

std::vector<std::string> CudaFiles::names_in(std::string_view directory) const {
  std::vector<std::string> names;
  std::string const path(directory);
  if (!storage_->exists(path)) return names;
  for (real::DirectoryEntry const& entry : storage_->list(path)) names.push_back(entry.name);
  return names;
}

}  // namespace adamant::scenarios
