// Pictures of real runs: what is in them, and that it can be read.
#include "scenarios/report/html/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scenarios/language/yaml/load.h"
#include "scenarios/report/html/finding.h"
#include "scenarios/report/html/grid.h"
#include "scenarios/report/html/testing/markup.h"
#include "scenarios/runner/run.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

std::string const bugs_folder = ADAMANT_SOURCE_DIR "/scenarios/corpus/bugs/";

RunResult run_traced(std::string const& file) {
  RunOptions options;
  options.lines = true;
  options.seed = 0;
  options.timelines = Timelines::all;
  return run_scenario(load_scenario_file(file), options);
}

/// The boxes of a picture, with the text in each.
struct Rect {
  int x, y, width, height;
  std::string caption;
  bool marked;
};

int number(Markup const& markup, std::string const& attribute) {
  return std::stoi(markup[attribute]);
}

std::vector<Rect> boxes_of(Markup const& svg) {
  std::vector<Rect> boxes;
  for (Markup const* const group : find_all(svg, "g")) {
    auto const rects = find_all(*group, "rect");
    if (rects.empty()) continue;
    Markup const& rect = *rects.front();
    boxes.push_back({number(rect, "x"), number(rect, "y"), number(rect, "width"),
                     number(rect, "height"), find_all(*group, "text").front()->text,
                     group->has_class("m")});
  }
  return boxes;
}

std::vector<Markup const*> of_class(Markup const& svg, std::string const& name,
                                    std::string const& classes) {
  return find_all(
      svg, [&](Markup const& each) { return each.name == name && each["class"] == classes; });
}

Scene scene_of(RunResult const& result, std::size_t violation = 0) {
  auto const scene = draw_scene(result.timeline, result.violations.at(violation));
  EXPECT_TRUE(scene.has_value());
  return scene.value_or(Scene{});
}

TEST(Scene, OfARaceHasBothAccessesAndTheMissingEdgeBetweenThem) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  RunResult const result = run_traced(bugs_folder + "step_skips_wait_for_reduction.yaml");
  Scene const scene = scene_of(result);
  Markup const svg = read_markup(to_svg(scene, "f1"));
  std::vector<std::string> marked;
  for (Rect const& box : boxes_of(svg))
    if (box.marked) marked.push_back(box.caption);
  std::sort(marked.begin(), marked.end());
  EXPECT_EQ(marked, (std::vector<std::string>{"adam_kernel", "mean_kernel"}));
  EXPECT_EQ(of_class(svg, "path", "x").size(), 1U);
  ASSERT_EQ(of_class(svg, "text", "x").size(), 1U);
  EXPECT_EQ(of_class(svg, "text", "x").front()->text, "missing");
  EXPECT_FALSE(of_class(svg, "path", "e").empty()) << "what enqueued them";
  EXPECT_FALSE(of_class(svg, "path", "w").empty()) << "what waits for what";
  EXPECT_EQ(find_all(svg, "desc").front()->text, scene.description);
  EXPECT_NE(scene.description.find("mean_kernel and adam_kernel touch"), std::string::npos);
}

TEST(Scene, OfADeadlockMarksWhatNeverEndsOnEveryRank) {
  Timeline timeline;
  for (int rank = 0; rank < 2; ++rank) {
    timeline.tracks.push_back({.kind = Track::Kind::host, .rank = rank, .name = "host"});
    timeline.events.push_back({.track = rank, .begin_ns = 0, .end_ns = 10, .name = "cudaMalloc"});
    timeline.events.push_back(
        {.track = rank, .begin_ns = 10, .end_ns = 20, .name = "ncclGroupEnd", .unfinished = true});
  }
  Violation const deadlock{.law = Law::order_deadlock, .breach = Breach::deadlock, .event = 1};
  auto const scene = draw_scene(timeline, deadlock);
  ASSERT_TRUE(scene.has_value());
  int marked = 0;
  for (Rect const& box : boxes_of(read_markup(to_svg(*scene, "f1")))) {
    EXPECT_EQ(box.marked, box.caption == "ncclGroupEnd") << box.caption;
    marked += int{box.marked};
  }
  EXPECT_EQ(marked, 2);
  EXPECT_NE(scene->key.find("never ends"), std::string::npos);
}

TEST(Scene, IsTheSameForTheSameRun) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  std::string const file = bugs_folder + "gather_skips_wait_for_step.yaml";
  EXPECT_EQ(scene_of(run_traced(file)), scene_of(run_traced(file)));
}

void expect_readable(Scene const& scene) {
  Markup const svg = read_markup(to_svg(scene, "f1"));
  std::set<std::string> moments;
  for (Markup const* const moment : of_class(svg, "text", "g s"))
    EXPECT_TRUE(moments.insert(moment->text).second) << moment->text << " twice";
  std::vector<Rect> const boxes = boxes_of(svg);
  EXPECT_LE(boxes.size(), window_events_max + 8) << "and the program's operations around them";
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    Rect const& a = boxes[i];
    EXPECT_GE(a.x, 0);
    EXPECT_LE(a.x + a.width, scene.width);
    EXPECT_LE(a.y + a.height, scene.height);
    std::size_t characters = 0;  // of UTF-8
    for (char const c : a.caption) characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    EXPECT_LE(static_cast<double>(characters) * 6.7, a.width) << a.caption;
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      Rect const& b = boxes[j];
      bool const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y ||
                         b.y + b.height <= a.y;
      EXPECT_TRUE(apart) << a.caption << " at " << a.x << " and " << b.caption << " at " << b.x;
    }
  }
}

// All catalogued bugs: pictures of many kinds.
TEST(Scene, HasFewBoxesWithinItOfWhichNoTwoOverlap) {
  int pictures = 0;
  for (auto const& entry : std::filesystem::directory_iterator(bugs_folder)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().string());
    RunResult const result = run_traced(entry.path().string());
    for (auto const& scene : draw_scenes(result)) {
      if (!scene) continue;
      expect_readable(*scene);
      ++pictures;
    }
  }
  EXPECT_GT(pictures, 100);
}

// Timelines as no engine has them today: what must not break a picture.
TEST(Scene, DrawsAnEdgeOnOneRowAndNothingOfWhatIsNotThere) {
  Timeline timeline{.tracks = {{.kind = Track::Kind::stream, .rank = 0, .name = "<s & \"t\">"}},
                    .events = {}};
  for (int i = 0; i < 2; ++i)
    timeline.events.push_back(
        {.kind = TimelineEvent::Kind::kernel, .begin_ns = 10, .end_ns = 10, .name = "k<int>&"});
  Violation race{.law = Law::order_race, .breach = Breach::unordered_accesses, .missing = "a < b"};
  race.accesses.resize(2);
  race.accesses[0].event = 0;
  race.accesses[1].event = 1;
  auto const scene = draw_scene(timeline, race);
  ASSERT_TRUE(scene.has_value());
  expect_readable(*scene);
  Markup const svg = read_markup(to_svg(*scene, "f1"));
  EXPECT_EQ(of_class(svg, "path", "x").size(), 1U);
  EXPECT_FALSE(draw_scene({}, race).has_value());
}

}  // namespace
}  // namespace adamant::scenarios
