#include "scenarios/report/html/grid.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace adamant::scenarios {

namespace {

using Kind = TimelineEvent::Kind;

constexpr int padding = 8;  // of a caption in its box, on both sides together
constexpr int caption_characters_max = 17;
constexpr int width_min = 26;
constexpr int between_moments = 7;
constexpr int between_ends = 2;  // of what ends and what begins at one time
constexpr int left_out_width = 34;

/// A place on the axis. What takes no time is given room between what ends then and what begins
/// then, in the order in which one comes after the other.
struct Moment {
  std::uint64_t ns = 0;
  int step = 0;
  auto operator<=>(Moment const&) const = default;
};
constexpr int last_step = std::numeric_limits<int>::max();

std::string without(std::string const& name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

bool takes_no_time(TimelineEvent const& event) {
  return event.begin_ns == event.end_ns;
}

class Arrangement {
 public:
  Arrangement(Timeline const& timeline, Window const& window)
      : timeline_(timeline), window_(window) {}

  Grid arrange() {
    make_rows();
    make_moments();
    find_left_out();
    place_columns();
    make_boxes();
    make_lanes();
    place_left_out();
    return std::move(grid_);
  }

 private:
  TimelineEvent const& event(int number) const {
    return timeline_.events[static_cast<std::size_t>(number)];
  }

  /// By rank; of a rank its host, then its streams.
  void make_rows() {
    for (int const number : window_.events) grid_.tracks.push_back(event(number).track);
    auto const key = [&](int number) {
      Track const& track = timeline_.tracks[static_cast<std::size_t>(number)];
      return std::tuple(track.rank, track.kind, number);
    };
    auto& tracks = grid_.tracks;
    std::sort(tracks.begin(), tracks.end(), [&](int a, int b) { return key(a) < key(b); });
    tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
    for (std::size_t row = 0; row < tracks.size(); ++row)
      row_of_[tracks[row]] = static_cast<int>(row);
  }

  /// Steps of what takes no time: after those that it comes after, and after its row's last.
  void make_moments() {
    std::map<std::pair<int, std::uint64_t>, int> last;  // by track and time
    for (int const number : window_.events) {
      TimelineEvent const& of = event(number);
      if (!takes_no_time(of)) {
        moments_[number] = {Moment{of.begin_ns, last_step}, Moment{of.end_ns, 0}};
        continue;
      }
      int& step = last[{of.track, of.begin_ns}];
      for (int const before : of.after) {
        auto const known = moments_.find(before);
        if (known == moments_.end() || known->second.second.ns != of.begin_ns) continue;
        if (takes_no_time(event(before))) step = std::max(step, known->second.second.step);
      }
      moments_[number] = {Moment{of.begin_ns, step + 1}, Moment{of.begin_ns, step + 2}};
      step += 2;
    }
  }

  /// The window's events of each row in the order of time, but for spans around others.
  std::map<int, std::vector<int>> by_row() const {
    std::map<int, std::vector<int>> rows;
    for (int const number : window_.events)
      if (event(number).kind != Kind::program_operation)
        rows[row_of_.at(event(number).track)].push_back(number);
    for (auto& [row, events] : rows)
      std::sort(events.begin(), events.end(),
                [&](int a, int b) { return moments_.at(a) < moments_.at(b); });
    return rows;
  }

  /// Between two neighbours of the window: what of the track lies between them.
  void find_left_out() {
    for (auto const& [row, events] : by_row())
      for (std::size_t i = 1; i < events.size(); ++i)
        if (int const count = count_between(events[i - 1], events[i]); count > 0)
          gaps_.push_back({row, events[i - 1], events[i], count});
  }

  int count_between(int left, int right) const {
    int const track = event(left).track;
    auto const after = std::pair(event(left).begin_ns, left);
    auto const before = std::pair(event(right).begin_ns, right);
    int count = 0;
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) {
      TimelineEvent const& of = timeline_.events[i];
      int const number = static_cast<int>(i);
      if (of.track != track || of.kind == Kind::program_operation) continue;
      if (of.kind == Kind::note || of.kind == Kind::violation) continue;
      if (std::pair(of.begin_ns, number) > after && std::pair(of.begin_ns, number) < before &&
          moments_.count(number) == 0)
        ++count;
    }
    return count;
  }

  /// From the left to the right, each as near as its captions let it.
  void place_columns() {
    for (auto const& [number, moments] : moments_) x_[moments.first] = x_[moments.second] = 0;
    int x = 0;
    std::uint64_t ns = x_.begin()->first.ns;
    for (auto& [moment, place] : x_) {
      x += moment == x_.begin()->first ? 0 : moment.ns == ns ? between_ends : between_moments;
      ns = moment.ns;
      for (auto const& [number, moments] : moments_)
        if (moments.second == moment) x = std::max(x, x_[moments.first] + width_wanted(number));
      for (Gap const& gap : gaps_)
        if (moments_[gap.right].first == moment)
          x = std::max(x, x_[moments_[gap.left].second] + left_out_width);
      place = x;
    }
    grid_.width = x;
  }

  int width_wanted(int number) const {
    int const characters =
        std::min<int>(caption_characters_max, static_cast<int>(caption_of(event(number)).size()));
    return std::max(width_min, static_cast<int>(characters * character_width) + padding);
  }

  void make_boxes() {
    for (int const number : window_.events) {
      auto const& [begin, end] = moments_[number];
      grid_.boxes.push_back({.event = number,
                             .row = row_of_[event(number).track],
                             .x = x_[begin],
                             .width = x_[end] - x_[begin]});
    }
  }

  void place_left_out() {
    for (Gap const& gap : gaps_) {
      int const left = x_[moments_[gap.left].second];
      int const right = x_[moments_[gap.right].first];
      grid_.left_out.push_back({.row = gap.row,
                                .lane = grid_.box_of(gap.left)->lane,
                                .x = (left + right) / 2,
                                .events = gap.count});
    }
  }

  /// Each below those of its row that it overlaps, the longest on top.
  void make_lanes() {
    std::vector<Box*> order;
    for (Box& box : grid_.boxes) order.push_back(&box);
    std::stable_sort(order.begin(), order.end(), [](Box const* a, Box const* b) {
      return std::pair(a->x, -a->width) < std::pair(b->x, -b->width);
    });
    std::map<std::pair<int, int>, int> until;  // by row and lane
    grid_.lanes.assign(grid_.tracks.size(), 1);
    for (Box* const box : order) {
      while (until.count({box->row, box->lane}) > 0 && until[{box->row, box->lane}] > box->x)
        ++box->lane;
      until[{box->row, box->lane}] = box->x + box->width;
      int& lanes = grid_.lanes[static_cast<std::size_t>(box->row)];
      lanes = std::max(lanes, box->lane + 1);
    }
  }

  struct Gap {
    int row;
    int left;
    int right;
    int count;
  };

  Timeline const& timeline_;
  Window const& window_;
  std::map<int, int> row_of_;                         // by track
  std::map<int, std::pair<Moment, Moment>> moments_;  // by event: its begin and its end
  std::vector<Gap> gaps_;
  std::map<Moment, int> x_;
  Grid grid_;
};

}  // namespace

Box const* Grid::box_of(int event) const {
  auto const found =
      std::find_if(boxes.begin(), boxes.end(), [&](Box const& box) { return box.event == event; });
  return found == boxes.end() ? nullptr : &*found;
}

std::string caption_of(TimelineEvent const& event) {
  switch (event.kind) {
    case Kind::record:
      return "record";
    case Kind::wait:
      return "wait";
    case Kind::fill:
      return "fill";
    case Kind::copy:
      return "copy";
    case Kind::call:
      return event.name == "adamant_sim_launch" ? "launch" : without(event.name, "cuda");
    default:
      return without(event.name, "nccl");
  }
}

Grid lay_out(Timeline const& timeline, Window const& window) {
  return Arrangement(timeline, window).arrange();
}

}  // namespace adamant::scenarios
