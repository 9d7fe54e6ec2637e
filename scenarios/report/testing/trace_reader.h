// Reads a trace as ui.perfetto.dev does: events in the order of their times, and of the file where
// those are equal; slices of a thread on a stack; an arrow's ends at the slice that is on top.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace adamant::scenarios {

struct ReadArrow {
  std::string category;
  nlohmann::json from;  // slices
  nlohmann::json to;
};

struct ReadTrace {
  std::map<int, std::string> processes;
  std::map<int, std::string> threads;  // by number, which no two have
  std::map<int, int> process_of;       // by thread
  std::vector<nlohmann::json> slices;
  std::vector<nlohmann::json> marks;
  std::vector<ReadArrow> arrows;
  std::vector<std::string> mistakes;  // what such a reader would drop or misplace

  /// "rank 0/stream comm".
  std::string track_of(nlohmann::json const& event) const;
};

ReadTrace read_trace(std::string const& text);

}  // namespace adamant::scenarios
