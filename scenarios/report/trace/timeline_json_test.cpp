#include "scenarios/report/trace/timeline_json.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

TEST(TimelineJson, KeepsTimelineAndMarks) {
  RunResult result;
  result.timeline.tracks = {{.kind = Track::Kind::stream, .rank = 3, .name = "comm"},
                            {.kind = Track::Kind::copy_engine, .rank = 3, .name = "engine"}};
  result.timeline.events = {
      {.kind = TimelineEvent::Kind::kernel, .track = 0, .begin_ns = 1, .end_ns = 2, .name = "k"},
      {.kind = TimelineEvent::Kind::copy,
       .track = 0,
       .copy_engine = 1,
       .begin_ns = 5,
       .end_ns = 1ULL << 60U,
       .name = "c",
       .operation = 4,
       .bytes = 64,
       .after = {0},
       .meeting = 2,
       .unfinished = true}};
  result.violations.resize(2);
  result.violations[0].accesses.resize(2);
  result.violations[0].accesses[0].event = 0;
  result.violations[0].accesses[1].event = 1;
  result.violations[1].event = 1;
  RunResult read = result;
  read.timeline = {};
  for (Violation& violation : read.violations) {
    violation.event = -1;
    for (Access& access : violation.accesses) access.event = -1;
  }
  add_timeline(read, nlohmann::ordered_json::parse(timeline_to_json(result).dump()));
  EXPECT_EQ(read.timeline, result.timeline);
  EXPECT_EQ(read.violations, result.violations);
}

TEST(TimelineJson, RefusesNumbersOfWhatIsNotThere) {
  using Json = StrictJson;
  auto const event = [](int track, int engine, Json const& after) {
    return Json::array({10, track, engine, 0, 1, "c", -1, 0, after, -1, false});
  };
  auto const read = [](Json const& events, int mark) {
    RunResult result;
    result.violations.resize(1);
    Json json{{"tracks", Json::array({Json::array({0, 0, "host"})})}, {"events", events}};
    json["marks"] = Json::array({mark});
    add_timeline(result, json);
  };
  Json const none = Json::array();
  Json const good = event(0, -1, none);
  EXPECT_NO_THROW(read(Json::array({good, event(0, 0, Json::array({0}))}), 1));
  EXPECT_NO_THROW(read(Json::array({event(0, -1, Json::array({1})), good}), 1))
      << "a wait begins before what it waits for";
  for (Json const& wrong :
       {event(1, -1, none), event(-1, -1, none), event(0, 1, none), event(0, -2, none),
        event(0, -1, Json::array({2})), event(0, -1, Json::array({-1}))})
    EXPECT_THROW(read(Json::array({good, wrong}), 1), std::invalid_argument) << wrong;
  for (int const mark : {-2, 1})
    EXPECT_THROW(read(Json::array({good}), mark), std::invalid_argument) << mark;
}

}  // namespace
}  // namespace adamant::scenarios
