#include "sim/world/circle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/world/world.h"

namespace adamant::sim {
namespace {

constexpr std::size_t no_node = SIZE_MAX;

// That one agent waits for another.
struct Edge {
  std::size_t to = no_node;
  bool of_meeting = false;  // of whose rank a part is missing
};

struct Node {
  Host const* host = nullptr;  // or
  Stream const* stream = nullptr;
  std::vector<Edge> edges = {};

  Agent const& agent() const {
    return host != nullptr ? static_cast<Agent const&>(*host) : *stream;
  }
  int rank() const { return host != nullptr ? host->rank : stream->rank; }
};

class Waits {
 public:
  explicit Waits(World& world);
  /// The numbers of the nodes from `start` to the last before it again; empty: it is in none.
  std::vector<std::size_t> circle_from(std::size_t start) const;
  std::string describe(std::vector<std::size_t> const& circle) const;
  std::size_t count() const { return nodes_.size(); }

 private:
  void add_edges(Node& node) const;
  void add_edge(Node& from, Agent const* to, bool of_meeting) const;
  void add_edges(Node& from, std::vector<Awaited> const& all, bool of_meeting) const;
  std::string state_of(Node const& node) const;
  std::string whom(Node const& from, Edge const& edge) const;

  World& world_;
  std::vector<Node> nodes_;            // by rank, of each the host first
  std::vector<std::size_t> of_agent_;  // by its index; no_node where it does not wait
};

Waits::Waits(World& world) : world_(world), of_agent_(world.agent_count(), no_node) {
  for (auto const& host : world.hosts()) {
    if (host->fiber.alive() && host->waits_in != nullptr) nodes_.push_back({.host = host.get()});
  }
  for (Stream const& stream : world.streams()) {
    if (stream.head() != nullptr) nodes_.push_back({.stream = &stream});
  }
  std::stable_sort(nodes_.begin(), nodes_.end(),
                   [](Node const& a, Node const& b) { return a.rank() < b.rank(); });
  for (std::size_t i = 0; i < nodes_.size(); ++i) of_agent_[nodes_[i].agent().index] = i;
  for (Node& node : nodes_) add_edges(node);
}

void Waits::add_edges(Node& node) const {
  if (node.host != nullptr) {
    Host const& host = *node.host;
    Ticket const* const ticket = host.waits_for_ticket;
    add_edge(node, ticket != nullptr ? ticket->stream : host.waits_for_stream, false);
    if (host.wait.whom) add_edges(node, host.wait.whom(), false);
    return;
  }
  StreamOperation const& head = *node.stream->head();
  if (head.meeting != nullptr) return add_edges(node, head.meeting->missing(), true);
  if (head.kind == OperationKind::wait) add_edge(node, head.ticket->stream, false);
}

void Waits::add_edges(Node& from, std::vector<Awaited> const& all, bool of_meeting) const {
  for (Awaited const& awaited : all) {
    if (awaited.stream != nullptr) {
      add_edge(from, awaited.stream, of_meeting);
    } else {
      add_edge(from, awaited.host, of_meeting);
    }
  }
}

void Waits::add_edge(Node& from, Agent const* to, bool of_meeting) const {
  if (to == nullptr || of_agent_[to->index] == no_node) return;
  from.edges.push_back({of_agent_[to->index], of_meeting});
}

std::vector<std::size_t> Waits::circle_from(std::size_t start) const {
  std::vector<std::size_t> came_from(nodes_.size(), no_node);
  std::deque<std::size_t> next = {start};
  while (!next.empty() && came_from[start] == no_node) {
    std::size_t const at = next.front();
    next.pop_front();
    for (Edge const& edge : nodes_[at].edges) {
      if (came_from[edge.to] != no_node) continue;
      came_from[edge.to] = at;
      next.push_back(edge.to);
    }
  }
  if (came_from[start] == no_node) return {};
  std::vector<std::size_t> circle;
  std::size_t at = start;
  do {
    at = came_from[at];
    circle.push_back(at);
  } while (at != start);
  std::reverse(circle.begin(), circle.end());
  return circle;
}

// ---- words --------------------------------------------------------------------------------------

std::string Waits::state_of(Node const& node) const {
  if (node.host != nullptr) {
    std::string text = fmt::format("waits in {}", node.host->waits_in);
    if (node.host->held_back_by == 0) return text;
    return text + " inside of what " + world_.record(node.host->held_back_by).name + " opened";
  }
  StreamOperation const& head = *node.stream->head();
  std::string text = fmt::format("is at {}", world_.record(head.id).name);
  return head.meeting != nullptr ? text + " " + head.meeting->describe() : text;
}

std::string Waits::whom(Node const& from, Edge const& edge) const {
  Node const& to = nodes_[edge.to];
  std::string const rank = fmt::format("rank {}", to.rank());
  if (to.host != nullptr || edge.of_meeting) return rank;
  bool const is_own = from.host != nullptr && from.rank() == to.rank();
  return fmt::format("{} stream `{}`", is_own ? "its" : rank + "'s", to.stream->name);
}

std::string Waits::describe(std::vector<std::size_t> const& circle) const {
  Node const& first = nodes_[circle.front()];
  std::string text = fmt::format("rank {}", first.rank());
  if (first.stream != nullptr) text += fmt::format("'s stream `{}`", first.stream->name);
  text += " " + state_of(first);
  for (std::size_t i = 0; i < circle.size(); ++i) {
    Node const& from = nodes_[circle[i]];
    std::size_t const next = circle[(i + 1) % circle.size()];
    Edge const& edge = *std::find_if(from.edges.begin(), from.edges.end(),
                                     [&](Edge const& each) { return each.to == next; });
    Node const& to = nodes_[next];
    text += (from.host != nullptr ? " for " : ", which waits for ") + whom(from, edge);
    if (i + 1 == circle.size()) break;
    bool const is_queued = edge.of_meeting && to.stream != nullptr;
    text += is_queued ? fmt::format(", whose stream `{}` {} first", to.stream->name, state_of(to))
                      : ", which " + state_of(to);
  }
  return text;
}

}  // namespace

std::string describe_circle(World& world) {
  Waits const waits(world);
  for (std::size_t start = 0; start < waits.count(); ++start) {
    std::vector<std::size_t> const circle = waits.circle_from(start);
    if (!circle.empty()) return waits.describe(circle);
  }
  return {};
}

}  // namespace adamant::sim
