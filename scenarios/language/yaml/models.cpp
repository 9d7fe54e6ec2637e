#include "scenarios/language/yaml/decode.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "scenarios/language/yaml/file.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

fs::path or_default(fs::path const& directory) {
  return directory.empty() ? default_models_directory() : directory;
}

std::vector<Param> decode_model(Node const& root) {
  Reader reader;
  std::vector<Param> params;
  static constexpr std::array<std::string_view, 4> keys{"model", "about", "source", "params"};
  MapReader const map(reader, {&root, ""}, keys);
  if (auto const name = map.require("model")) read_value(reader, *name, kinds::Name{});
  for (std::string_view const key : {"about", "source"})
    if (auto const text = map.find(key)) read_value(reader, *text, kinds::Text{});
  if (auto const list = map.require("params")) decode_param_list(reader, *list, params);
  if (!reader.problems().empty()) throw BadInput(reader.problems().front());
  return params;
}

}  // namespace

fs::path default_models_directory() {
  std::error_code error;
  fs::path const program = fs::read_symlink("/proc/self/exe", error);
  fs::path const installed = program.parent_path().parent_path() / "share/adamant/models";
  if (!error && fs::is_directory(installed, error)) return installed;
  return ADAMANT_MODELS_SOURCE_DIRECTORY;
}

std::optional<std::vector<Param>> find_model(fs::path const& directory, std::string const& name) {
  fs::path const path = or_default(directory) / (name + ".yaml");
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    Tree const tree = parse_tree(read_file(path));
    if (tree.root == nullptr) throw BadInput({1, "document", "the file is empty"});
    return decode_model(*tree.root);
  } catch (BadInput const& bad) {
    Problem problem = bad.problem;
    problem.message = "in " + path.string() + ": " + problem.message;
    throw BadInput(std::move(problem));
  }
}

std::string known_models(fs::path const& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto const& entry : fs::directory_iterator(or_default(directory), error)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  std::string list;
  for (std::string const& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

}  // namespace adamant::scenarios
