#include "scenarios/peers/client/recording.h"

namespace adamant::scenarios {

std::vector<TensorFile> files_of(nlohmann::json const& fields) {
  std::vector<TensorFile> files;
  if (fields.contains("initial"))
    files.push_back(read_tensor_file(fields["initial"].get<std::string>()));
  if (fields.contains("gradients"))
    for (auto const& path : fields["gradients"])
      files.push_back(read_tensor_file(path.get<std::string>()));
  return files;
}

}  // namespace adamant::scenarios
