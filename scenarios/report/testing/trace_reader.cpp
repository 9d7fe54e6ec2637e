#include "scenarios/report/testing/trace_reader.h"

#include <algorithm>
#include <cmath>

namespace adamant::scenarios {

namespace {

using nlohmann::json;

long long nanoseconds(json const& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

class Reader {
 public:
  ReadTrace read(std::string const& text) {
    json const document = json::parse(text);
    std::vector<json> events = document.at("traceEvents");
    auto const of_metadata = [](json const& event) { return event.at("ph") == "M"; };
    for (json const& event : events)
      if (of_metadata(event)) name(event);
    std::erase_if(events, of_metadata);
    std::stable_sort(events.begin(), events.end(), [](json const& a, json const& b) {
      return nanoseconds(a.at("ts")) < nanoseconds(b.at("ts"));
    });
    for (json const& event : events) take(event);
    for (auto const& [id, slice] : open_arrows_) complain("an arrow leads nowhere", slice);
    return std::move(trace_);
  }

 private:
  void complain(std::string const& what, json const& event) {
    trace_.mistakes.push_back(what + ": " + event.dump());
  }

  void name(json const& event) {
    if (event.at("name") == "process_name")
      trace_.processes[event.at("pid")] = event.at("args").at("name");
    if (event.at("name") != "thread_name") return;
    if (!trace_.threads.emplace(event.at("tid"), event.at("args").at("name")).second)
      complain("two threads have one number", event);
    trace_.process_of[event.at("tid")] = event.at("pid");
  }

  void take(json const& event) {
    int const thread = event.at("tid");
    if (!trace_.threads.contains(thread) || trace_.process_of[thread] != event.at("pid") ||
        !trace_.processes.contains(event.at("pid")))
      complain("a track without a name", event);
    std::string const phase = event.at("ph");
    if (phase == "X") return push(event, stacks_[thread]);
    if (phase == "i") return trace_.marks.push_back(event);
    if (phase == "s" || phase == "f") return take_arrow(event, stacks_[thread]);
    complain("an unknown phase", event);
  }

  static long long end_of(json const& slice) {
    return nanoseconds(slice.at("ts")) + nanoseconds(slice.at("dur"));
  }

  void push(json const& slice, std::vector<json>& stack) {
    while (!stack.empty() && end_of(stack.back()) <= nanoseconds(slice.at("ts"))) stack.pop_back();
    if (!stack.empty() && end_of(stack.back()) < end_of(slice))
      complain("a slice ends after the one around it", slice);
    stack.push_back(slice);
    trace_.slices.push_back(slice);
  }

  void take_arrow(json const& end, std::vector<json> const& stack) {
    long long const at = nanoseconds(end.at("ts"));
    if (stack.empty() || end_of(stack.back()) < at) return complain("an arrow without slice", end);
    int const id = end.at("id");
    if (end.at("ph") == "s") {
      if (!open_arrows_.emplace(id, stack.back()).second) complain("two arrows have one id", end);
      return;
    }
    if (end.value("bp", "") != "e") complain("an arrow to the next slice", end);
    auto const open = open_arrows_.find(id);
    if (open == open_arrows_.end()) return complain("an arrow from nowhere", end);
    trace_.arrows.push_back({end.at("cat"), open->second, stack.back()});
    open_arrows_.erase(open);
  }

  ReadTrace trace_;
  std::map<int, std::vector<json>> stacks_;  // of open slices, by thread
  std::map<int, json> open_arrows_;          // the slice of their begin, by id
};

}  // namespace

std::string ReadTrace::track_of(json const& event) const {
  return processes.at(event.at("pid")) + "/" + threads.at(event.at("tid"));
}

ReadTrace read_trace(std::string const& text) {
  return Reader().read(text);
}

}  // namespace adamant::scenarios
