// Engines that answer nonsense, half a line, too late or never, or that die: an error that names
// the request, nothing that is left of them, and the next scenario runs.
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;

/// How an engine misbehaves at which request, and what has to be said of it.
struct Case {
  char const* how;
  char const* text;
};

std::ostream& operator<<(std::ostream& out, Case const& at) {
  return out << at.how;
}

class HostileEngine : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!python_runs(""))
      GTEST_SKIP() << "there is no " << python_program() << " (ADAMANT_PYTHON names another)";
    set_peer_bounds({.hello = 5s, .rank = 2s, .reply = 2s});
  }
  void TearDown() override { set_peer_bounds({}); }

  /// Misbehaves once; from then on it is the stub.
  std::string engine() const {
    return "exec:exec " + python_program() +
           " " ADAMANT_SOURCE_DIR "/scenarios/peers/client/testing/hostile_engine.py " +
           GetParam().how + " " + (scratch_ / "once").string();
  }

  /// The stub takes steps without gradients, and nothing else.
  static Scenario scenario() {
    Scenario scenario = small_scenario();
    scenario.program = {operation(Step{})};
    return scenario;
  }

  /// What came of a run, in words: "" where it passed.
  std::string run() const {
    try {
      RunOptions options;
      options.engine = engine();
      RunResult const result = run_scenario(scenario(), options);
      std::string text = message_of(result);
      for (Violation const& violation : result.violations) text += in_one_line(violation);
      return text;
    } catch (PeerError const& error) {
      return error.what();
    } catch (MachineLacks const& error) {
      return error.what();
    }
  }

  Scratch scratch_;
};

TEST_P(HostileEngine, IsAnErrorThatSaysWhereAndTheNextScenarioRuns) {
  std::string const said = run();
  EXPECT_NE(said.find(GetParam().text), std::string::npos) << said;
  EXPECT_EQ(run(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Each, HostileEngine,
    ::testing::Values(
        Case{"nonsense open", "(open): its answer is no JSON object: `Traceback"},
        Case{"no_object step", "(step): its answer is no JSON object: `[1, 2]`"},
        Case{"no_text open", "(open): its answer is no JSON object"},
        Case{"half_a_line step",
             "(step): it sent half a line, but not the rest within 2 s (--peer-timeout)"},
        Case{"half_a_line_and_out open", "(open): half a line came (20 bytes), then it ended"},
        Case{"never hello", "(hello): it did not answer within 5 s (--peer-timeout)"},
        Case{"late open", "(open): it did not answer within 2 s (--peer-timeout)"},
        Case{"never state", "(state): it did not answer within 2 s (--peer-timeout)"},
        Case{"never close", "(close): it did not answer within 2 s (--peer-timeout)"},
        Case{"exits open", "(open): it ended with exit status 3; it wrote: out of coffee"},
        Case{"killed step", "(step): it was killed by signal 9"},
        Case{"wrong_id open", "(open): its answer has id 77"},
        Case{"twice open", "(state): its answer has id"},
        Case{"no_outcome step", "(step): its answer has no outcome"},
        Case{"closes_output open", "(open): it closed its output"},
        Case{"endless_line open", "(open): it sent"},
        Case{"wrong_version hello", "request 0 (hello): it speaks version 2"},
        Case{"no_capabilities hello", "the field `capabilities`"},
        Case{"unknown_arithmetic hello", "voodoo"},
        Case{"option_without_values hello", "at least one value"},
        Case{"misspelt_capability hello",
             "reply.capabilities.empty_tensor: unknown key (did you mean `empty_tensors`?); "
             "known: "},
        Case{"no_layout hello",
             "reply.capabilities.layouts: expected a list with at least one value, found []"},
        Case{"one_odd_error step", "an error without type and text: {\"error\":\"out of paper\""},
        Case{"known_without_path hello", "reply.known: expected a text, found 3"},
        Case{"class_without_name hello", "reply.engine_class: expected the field `name`"},
        Case{"class_that_is_code hello",
             "reply.engine_class.name: expected a name that Python can import"},
        Case{"script_without_words hello",
             "reply.script: expected a command, word by word, found []"},
        Case{"fewer_ranks state", "(state): reply.ranks: expected"},
        Case{"other_rows state", "state of rank 0"}, Case{"one_died step", "signal 11"},
        Case{"one_late step", "order.deadlock"}, Case{"one_error step", "shape '[2]' is odd"},
        Case{"bare_number state",
             "(state): its answer has NaN at /ranks/0/scale/norm: JSON has no such number, write "
             "it as \"nan\""},
        Case{"raises step",
             "in raises\n    raise RuntimeError(\"out of tea\")\nRuntimeError: out of tea"},
        Case{"no_file state", "state of rank 0"},
        Case{"lying_header state", "its header should be 1099511627776 bytes long"},
        Case{"lying_offsets state", "should lie at"},
        Case{"lying_shape state", "has the shape [1]"},
        Case{"deep hello", "(hello): its answer is nested deeper than 64 lists and objects"},
        Case{"deep state", "(state): its answer is nested deeper than 64 lists and objects"},
        Case{"deep_id step", "(step): its answer is nested deeper than 64 lists and objects"},
        Case{"cut_count state", "shards[0].steps: expected an integer of 64 bits, found 4.9"},
        Case{"vast_count state",
             "shards[0].steps: expected an integer of 64 bits, found 9223372036854775808"},
        Case{"pipe state", "expected a safetensors file; it is no regular file"},
        Case{"zeros state", "expected a safetensors file; it is no regular file"},
        Case{"directory state", "expected a safetensors file; it is no regular file"},
        Case{"loses_a_bit state", "values.bitwise"}));

}  // namespace
}  // namespace adamant::scenarios
