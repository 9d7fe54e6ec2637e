#include "scenarios/report/html/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/report/html/grid.h"
#include "scenarios/report/markup.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

using Kind = TimelineEvent::Kind;

constexpr int axis_height = 22;
constexpr int gutter = 132;  // for the names of rows
constexpr int gutter_characters = 18;
constexpr int lane_height = box_height + 4;
constexpr int between_rows = 34;  // a label has room there
constexpr int edge_inset = 4;     // of an edge's end from the end of its box
constexpr int margin = 12;
constexpr int tick_width = 84;
constexpr int least_width = 420;
constexpr int width_wanted = 1130;  // of a page on a screen that is not narrow
constexpr std::size_t fewest_events = 6;

std::string_view class_of(Kind kind) {
  switch (kind) {
    case Kind::kernel:
    case Kind::host_function:
      return "k";
    case Kind::copy:
    case Kind::fill:
      return "y";
    case Kind::collective:
      return "c";
    case Kind::call:
      return "h";
    case Kind::program_operation:
      return "o";
    default:
      return "z";
  }
}

std::string microseconds(std::uint64_t ns) {
  std::string text = fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string shortened(std::string const& text, int width) {
  auto const fits = static_cast<std::size_t>(std::max(1.0, width / character_width));
  return text.size() <= fits ? text : text.substr(0, fits - 1) + "…";
}

class Drawing {
 public:
  Drawing(Timeline const& timeline, Violation const& violation, Window const& window)
      : timeline_(timeline),
        violation_(violation),
        window_(window),
        grid_(lay_out(timeline, window)) {
    int y = axis_height;
    for (int const lanes : grid_.lanes) {
      tops_.push_back(y);
      y += lanes * lane_height + between_rows;
    }
    height_ = y - between_rows + margin;
    width_ = std::max(least_width, gutter + grid_.width + margin);
  }

  Scene draw() {
    draw_rows();
    draw_axis();
    for (Box const& box : grid_.boxes) draw_edges(box);
    draw_meetings();
    for (Box const& box : grid_.boxes) draw_box(box);
    for (LeftOut const& gap : grid_.left_out) draw_left_out(gap);
    draw_missing();
    return {.title = title(),
            .description = description(),
            .body = std::move(body_),
            .key = key(),
            .width = width_,
            .height = height_};
  }

 private:
  TimelineEvent const& event(int number) const {
    return timeline_.events[static_cast<std::size_t>(number)];
  }
  int left(Box const& box) const { return gutter + box.x; }
  int right(Box const& box) const { return left(box) + box.width; }
  int top(Box const& box) const {
    return tops_[static_cast<std::size_t>(box.row)] + box.lane * lane_height;
  }
  int bottom(Box const& box) const { return top(box) + box_height; }
  int row_bottom(int row) const {
    auto const at = static_cast<std::size_t>(row);
    return tops_[at] + grid_.lanes[at] * lane_height;
  }

  // ---- the frame -------------------------------------------------------------------------------

  void draw_rows() {
    for (std::size_t row = 0; row < tops_.size(); ++row) {
      Track const& track = timeline_.tracks[static_cast<std::size_t>(grid_.tracks[row])];
      std::string const name = fmt::format("rank {} {}", track.rank, track.name);
      body_ +=
          fmt::format(R"(<path class="r" d="M{} {}H{}"/><text class="t" x="0" y="{}">{}</text>)",
                      gutter, tops_[row] + box_height / 2, width_ - margin, tops_[row] + 16,
                      escaped(shortened(name, gutter_characters * 7)));
    }
  }

  /// When what is marked began; then the first and the last moment, where there is room.
  void draw_axis() {
    std::map<int, std::uint64_t> moments;
    for (int const number : window_.marked)
      if (Box const* const box = grid_.box_of(number))
        add_tick(moments, left(*box), event(number).begin_ns);
    for (Box const& box : grid_.boxes) add_tick(moments, left(box), event(box.event).begin_ns);
    for (auto const& [x, ns] : moments)
      body_ += fmt::format(
          R"(<path class="a" d="M{0} {1}V{2}"/><text class="g s" x="{0}" y="10">{3} µs</text>)", x,
          axis_height - 8, height_ - margin, microseconds(ns));
  }

  void add_tick(std::map<int, std::uint64_t>& moments, int x, std::uint64_t ns) const {
    if (x + tick_width > width_) return;
    for (auto const& [other, at] : moments)
      if (at == ns || std::abs(other - x) < tick_width) return;
    moments[x] = ns;
  }

  // ---- events ----------------------------------------------------------------------------------

  bool is_marked(int number) const {
    return std::find(window_.marked.begin(), window_.marked.end(), number) != window_.marked.end();
  }

  void draw_box(Box const& box) {
    TimelineEvent const& of = event(box.event);
    std::string classes(class_of(of.kind));
    if (is_marked(box.event)) classes += " m";
    if (of.unfinished) classes += " u";
    body_ += fmt::format(
        R"(<g class="{}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="3"/>)"
        R"(<text x="{}" y="{}">{}</text></g>)",
        classes, escaped(in_full(of)), left(box), top(box), box.width, box_height, left(box) + 4,
        top(box) + 16, escaped(shortened(caption_of(of), box.width - 6)));
    kinds_.insert(of.unfinished ? "u" : std::string(class_of(of.kind)));
    draw_number(box);
  }

  static std::string in_full(TimelineEvent const& of) {
    std::string text = of.name + ", " + microseconds(of.begin_ns);
    if (of.unfinished)
      text += " µs, never ends";
    else if (of.end_ns != of.begin_ns)
      text += " to " + microseconds(of.end_ns) + " µs";
    else
      text += " µs";
    return of.operation < 0 ? text : text + fmt::format(", operation {}", of.operation);
  }

  void draw_left_out(LeftOut const& gap) {
    int const y = tops_[static_cast<std::size_t>(gap.row)] + gap.lane * lane_height;
    body_ += fmt::format(R"(<text class="g" x="{}" y="{}">+{}</text>)", gutter + gap.x, y + 16,
                         gap.events);
  }

  /// Of the two accesses, as the text beside the picture has them.
  void draw_number(Box const& box) {
    if (!has_pair()) return;
    for (std::size_t i = 0; i < 2; ++i)
      if (window_.marked[i] == box.event)
        body_ += fmt::format(
            R"(<g class="n"><circle cx="{0}" cy="{1}" r="8"/><text x="{0}" y="{2}">{3}</text></g>)",
            left(box), top(box), top(box) + 4, i + 1);
  }

  bool has_pair() const {
    return violation_.accesses.size() == 2 && window_.marked.size() == 2 &&
           window_.marked[0] != window_.marked[1];
  }

  // ---- edges -----------------------------------------------------------------------------------

  struct Point {
    int x;
    int y;
  };

  /// From above or below into a box, with its head.
  static std::string curve(Point from, Point to) {
    int const middle = (from.y + to.y) / 2;
    int const head = to.y > from.y ? -5 : 5;
    return fmt::format("M{0} {1}C{0} {2} {3} {2} {3} {4}m-3 {5}l3 {6} 3 {5}", from.x, from.y,
                       middle, to.x, to.y, head, -head);
  }

  std::string path_between(Box const& from, Point from_point, Box const& to, Point to_point) const {
    bool const down = to.row > from.row;
    from_point.y = down ? bottom(from) : top(from);
    to_point.y = down ? top(to) : bottom(to);
    return curve(from_point, to_point);
  }

  /// Those that order it after what another row did; on one row, order is seen.
  void draw_edges(Box const& to) {
    for (int const before : event(to.event).after) {
      Box const* const from = grid_.box_of(before);
      if (from == nullptr || from->row == to.row) continue;
      bool const enqueued = event(before).kind == Kind::call;
      Kind const kind = event(to.event).kind;
      bool const waits = kind == Kind::wait || kind == Kind::call;
      Point const begin{enqueued ? left(*from) + from->width / 2 : right(*from) - edge_inset, 0};
      Point const end{waits && !enqueued ? right(to) - edge_inset : left(to) + edge_inset, 0};
      kinds_.insert(enqueued ? "e" : "w");
      body_ += fmt::format(R"(<path class="{}" d="{}"/>)", enqueued ? "e" : "w",
                           path_between(*from, begin, to, end));
    }
  }

  /// The members of one collective.
  void draw_meetings() {
    std::map<int, Box const*> last;
    for (Box const& box : grid_.boxes) {
      int const meeting = event(box.event).meeting;
      if (meeting < 0) continue;
      Box const*& other = last[meeting];
      if (other != nullptr && other->row != box.row)
        body_ +=
            fmt::format(R"(<path class="l" d="M{} {}L{} {}"/>)", left(*other) + other->width / 2,
                        bottom(*other), left(box) + box.width / 2, top(box));
      other = &box;
    }
  }

  /// From the end of what had to come first to the beginning of the other. In the run that is shown
  /// it may lead back in time: that is what is wrong.
  void draw_missing() {
    if (!has_pair() || violation_.missing.empty()) return;
    Box const& from = *grid_.box_of(window_.marked[0]);
    Box const& to = *grid_.box_of(window_.marked[1]);
    Point const begin{right(from) - edge_inset, 0};
    Point const end{left(to) + edge_inset, 0};
    std::string const path =
        from.row == to.row ? fmt::format("M{0} {1}C{0} {2} {3} {2} {3} {1}m-3 -5l3 5 3 -5", begin.x,
                                         top(from), top(from) - between_rows + 4, end.x)
                           : path_between(from, begin, to, end);
    Point const label = label_between(from, begin, to, end);
    kinds_.insert("x");
    body_ += fmt::format(R"(<path class="x" d="{}"/><text class="x" x="{}" y="{}">missing</text>)",
                         path, label.x, label.y);
  }

  /// In the free strip below or above where the edge begins.
  Point label_between(Box const& from, Point begin, Box const& to, Point end) const {
    bool const down = to.row > from.row;
    int const y = down ? row_bottom(from.row) + 15 : tops_[static_cast<std::size_t>(from.row)] - 13;
    bool const next = std::abs(to.row - from.row) < 2;
    return {next ? (begin.x + end.x) / 2 : begin.x, y};
  }

  // ---- words -----------------------------------------------------------------------------------

  std::string title() const {
    return fmt::format("Timeline of {}, {}", id_of(violation_.law), moment_in_words(violation_));
  }

  std::string description() const {
    return fmt::format(
        "A row for each host and stream. Time runs from left to right, in order and not to scale; "
        "{} of {} events are shown. {}",
        grid_.boxes.size(), timeline_.events.size(), in_one_line(violation_));
  }

  std::string key() const {
    constexpr std::pair<std::string_view, std::string_view> meanings[] = {
        {"e", "enqueues"}, {"w", "waits for"}, {"x", "missing"}, {"u", "never ends"}};
    std::string text;
    for (auto const& [kind, meaning] : meanings)
      if (kinds_.count(std::string(kind)) > 0)
        text += fmt::format(R"(<span class="key {}">{}</span> )", kind, meaning);
    return text;
  }

  Timeline const& timeline_;
  Violation const& violation_;
  Window const& window_;
  Grid grid_;
  std::vector<int> tops_;  // by row
  int width_ = 0;
  int height_ = 0;
  std::string body_;
  std::set<std::string> kinds_;
};

}  // namespace

std::optional<Scene> draw_scene(Timeline const& timeline, Violation const& violation) {
  if (timeline.empty()) return std::nullopt;
  for (std::size_t events = window_events_max;; events -= 2) {
    Window const window = window_of(timeline, violation, events);
    if (window.marked.empty()) return std::nullopt;
    Scene scene = Drawing(timeline, violation, window).draw();
    if (scene.width <= width_wanted || events <= fewest_events) return scene;
  }
}

std::string to_svg(Scene const& scene, std::string const& id) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
      R"(role="img" aria-labelledby="{2}-t {2}-d"><title id="{2}-t">{3}</title>)"
      R"(<desc id="{2}-d">{4}</desc>{5}</svg>)",
      scene.width, scene.height, id, escaped(scene.title), escaped(scene.description), scene.body);
}

}  // namespace adamant::scenarios
