// Which processes there are, for tests that must leave none.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace adamant::scenarios {

struct RunningProcess {
  pid_t id = 0;
  pid_t parent = 0;
  pid_t group = 0;
};

/// All but those that have ended and are not waited for yet. One that ends meanwhile is left out.
inline std::vector<RunningProcess> running_processes() {
  std::vector<RunningProcess> running;
  for (auto const& entry : std::filesystem::directory_iterator("/proc")) {
    std::string const name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    auto const end_of_command = line.rfind(") ");  // which may contain anything
    if (end_of_command == std::string::npos) continue;
    char state = 'Z';
    RunningProcess process{.id = std::stoi(name)};
    std::istringstream rest(line.substr(end_of_command + 2));
    if (rest >> state >> process.parent >> process.group && state != 'Z')
      running.push_back(process);
  }
  return running;
}

inline bool is_running(pid_t id) {
  auto const running = running_processes();
  return std::any_of(running.begin(), running.end(),
                     [id](RunningProcess const& process) { return process.id == id; });
}

/// Is there anybody in this process group?
inline bool has_members(pid_t group) {
  auto const running = running_processes();
  return std::any_of(running.begin(), running.end(),
                     [group](RunningProcess const& process) { return process.group == group; });
}

inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (RunningProcess const& process : running_processes())
    if (process.parent == parent) children.push_back(process.id);
  return children;
}

}  // namespace adamant::scenarios
