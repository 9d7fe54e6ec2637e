#include "scenarios/peers/client/recording.h"

#include "scenarios/peers/client/process.h"

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

std::vector<TensorTypes> types_in(nlohmann::json const& reply) {
  std::vector<TensorTypes> types;
  auto const ranks = reply.find("ranks");
  if (ranks == reply.end() || !ranks->is_array()) return types;
  for (auto const& rank : *ranks) {
    TensorTypes& found = types.emplace_back();
    if (!rank.is_object() || !rank.contains("file") || !rank["file"].is_string()) continue;
    try {
      for (auto const& [name, tensor] : read_tensor_file(rank["file"].get<std::string>()))
        found.emplace(name, tensor.format);
    } catch (PeerError const&) {
      found.clear();  // whoever reads the reply says what is wrong with it
    }
  }
  return types;
}

}  // namespace adamant::scenarios
