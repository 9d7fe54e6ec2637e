#include <algorithm>
#include <system_error>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

#include "scenarios/language/yaml/file.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/problem.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

/// Ends the parsing of a document as soon as the answer is known.
struct Answer {
  bool is_scenario;
};

/// Watches the keys of a document's outermost map for `adamant`, and nothing else.
class KeyWatcher : public YAML::EventHandler {
 public:
  void OnDocumentStart(YAML::Mark const&) override {}
  void OnDocumentEnd() override {}
  void OnNull(YAML::Mark const&, YAML::anchor_t) override { finish_node(); }
  void OnAlias(YAML::Mark const&, YAML::anchor_t) override { finish_node(); }
  void OnScalar(YAML::Mark const&, std::string const&, YAML::anchor_t,
                std::string const& value) override {
    if (depth_ == 0) throw Answer{false};
    if (depth_ == 1 && nodes_ % 2 == 0 && value == "adamant") throw Answer{true};
    finish_node();
  }
  void OnSequenceStart(YAML::Mark const&, std::string const&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    if (depth_ == 0) throw Answer{false};
    ++depth_;
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(YAML::Mark const&, std::string const&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    ++depth_;
  }
  void OnMapEnd() override { close(); }

 private:
  void close() {
    --depth_;
    finish_node();
  }
  void finish_node() {
    if (depth_ == 1) ++nodes_;
  }

  int depth_ = 0;
  std::int64_t nodes_ = 0;  // of the outermost map: keys and values by turns
};

bool has_version_key(std::string const& text) {
  try {
    check_bytes(text);
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    KeyWatcher watcher;
    parser.HandleNextDocument(watcher);
    return false;
  } catch (Answer const& answer) {
    return answer.is_scenario;
  } catch (BadInput const&) {
    return true;  // loading it will say what is wrong
  } catch (YAML::Exception const&) {
    return true;
  }
}

[[noreturn]] void fail(fs::path const& path, std::string const& message) {
  throw LoadError(path.string() + ":1: document: " + message);
}

/// A pipe would be waited for, and a device may have no end: only files are found. A link to
/// nowhere is, too, so that reading it says what is wrong.
bool is_yaml(fs::directory_entry const& entry) {
  auto const extension = entry.path().extension();
  std::error_code error;
  auto const type = entry.status(error).type();
  return (extension == ".yaml" || extension == ".yml") &&
         (type == fs::file_type::regular || type == fs::file_type::not_found);
}

std::vector<fs::path> find_below(fs::path const& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (is_yaml(*entry) && is_scenario(entry->path())) found.push_back(entry->path());
  }
  if (error) fail(directory, "cannot be read: " + error.message());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

bool is_scenario(fs::path const& path) {
  try {
    return has_version_key(read_file(path));
  } catch (BadInput const&) {
    return true;
  }
}

std::vector<fs::path> find_scenarios(fs::path const& path) {
  std::error_code error;
  auto const status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail(path, "there is no such file or directory");
  if (error) fail(path, "cannot be read: " + error.message());
  if (!fs::is_directory(status)) return {path};
  auto found = find_below(path);
  if (found.empty()) fail(path, "there is no scenario in this directory");
  return found;
}

}  // namespace adamant::scenarios
