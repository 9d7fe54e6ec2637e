#include "scenarios/language/yaml/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <utility>

#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/document.h"
#include "scenarios/language/yaml/file.h"

namespace adamant::scenarios {

namespace {

std::string message_of(std::string_view file_name, Problem const& problem) {
  return std::string(file_name) + ":" + std::to_string(problem.line) + ": " + problem.key + ": " +
         problem.message;
}

[[noreturn]] void fail(std::string_view file_name, std::vector<Problem> problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](Problem const& a, Problem const& b) { return a.line < b.line; });
  std::string text;
  for (Problem const& problem : problems) {
    if (!text.empty()) text += '\n';
    text += message_of(file_name, problem);
  }
  throw LoadError(text);
}

}  // namespace

void read_document(std::string_view text, std::string_view file_name, std::string_view what,
                   Reader& reader, std::function<void(Field const& document)> const& read) {
  std::vector<Problem> problems;
  try {
    Tree const tree = parse_tree(text);
    if (tree.root == nullptr)
      throw BadInput({1, "document", fmt::format("expected {}, found nothing", what)});
    read({tree.root, ""});
    problems = reader.problems();
  } catch (BadInput const& bad) {
    problems = reader.problems();
    problems.push_back(bad.problem);
  }
  if (!problems.empty()) fail(file_name, std::move(problems));
}

Scenario load_scenario_text(std::string_view text, std::string_view file_name,
                            LoadOptions const& options) {
  Reader reader(options.models_directory);
  Scenario scenario;
  read_document(text, file_name, "a scenario", reader, [&](Field const& document) {
    scenario = decode_scenario(reader, *document.node, options);
  });
  return scenario;
}

std::string read_scenario_text(std::istream& in) {
  std::string text(size_max + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::string read_scenario_text(std::filesystem::path const& path) {
  try {
    return read_file(path);
  } catch (BadInput const& bad) {
    fail(path.string(), {bad.problem});
  }
}

Scenario load_scenario_file(std::filesystem::path const& path, LoadOptions options) {
  if (options.checkpoints_directory.empty()) {
    options.checkpoints_directory = path.has_parent_path() ? path.parent_path() : ".";
  }
  return load_scenario_text(read_scenario_text(path), path.string(), options);
}

}  // namespace adamant::scenarios
