#include "scenarios/peers/script/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/judge/verdict.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/further_run.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/two_runs.h"

namespace adamant::scenarios::script {

namespace {

/// What an engine is given of a scenario. REQUIRES: that outlives it.
struct Given {
  explicit Given(Scenario const& of)
      : scenario(of), seed(of.seed.value_or(0)), program(of), parameters(parameter_specs(of)) {}

  EngineTask task() const {
    return {.scenario = scenario,
            .program = program,
            .parameters = parameters,
            .seed = seed,
            .schedule = scenario.schedule,
            .initial_values = {}};
  }

  Scenario const& scenario;
  std::uint64_t seed;
  Program program;
  std::vector<ParameterSpec> parameters;
};

/// Notes what is done to files, and where in the conversation, and judges nothing.
class Onlooker : public Observer {
 public:
  explicit Onlooker(Conversation const& conversation) : conversation_(conversation) {}

  bool started(WorldView const& /*world*/) override { return true; }
  bool after(Primitive const& /*operation*/, WorldView const& /*world*/) override { return true; }
  void finished(WorldView const& /*world*/) override {}
  void ended(Leftovers const& /*left*/) override {}
  void damaged(Primitive const& /*load*/, DamagedFiles const& files) override {
    damage.emplace(conversation_.size(), files);
  }

  std::map<std::size_t, DamagedFiles> damage;

 protected:
  Conversation const& conversation_;
};

/// The verdict, until it sees a violation, and where in the conversation that happens.
class Witness final : public Onlooker {
 public:
  /// Looks as well after each operation; false: that is enough.
  using Watch = std::function<bool(Primitive const& operation, WorldView const& world)>;

  Witness(Given const& given, Conversation const& conversation, Watch watch = {})
      : Onlooker(conversation),
        verdict_(given.scenario, given.program, given.parameters, given.seed),
        watch_(std::move(watch)) {}

  bool started(WorldView const& world) override { return look(verdict_.started(world)); }
  bool after(Primitive const& operation, WorldView const& world) override {
    bool const go_on = look(verdict_.after(operation, world));
    return (!watch_ || watch_(operation, world)) && go_on;
  }
  void finished(WorldView const& world) override {
    verdict_.finished(world);
    look(false);
  }
  void ended(Leftovers const& left) override { verdict_.ended(left); }
  bool restarted(Primitive const& load, WorldView const& world) override {
    return look(verdict_.restarted(load, world));
  }
  void crashed(Primitive const& save, bool returned) override { verdict_.crashed(save, returned); }
  void damaged(Primitive const& load, DamagedFiles const& files) override {
    Onlooker::damaged(load, files);
    verdict_.damaged(load, files);
  }
  void refused(Primitive const& load, EngineFailure const& why, WorldView const* world) override {
    verdict_.refused(load, why, world);
    look(false);
  }

  std::vector<Violation> const& violations() const { return verdict_.violations(); }

  std::optional<std::size_t> seen_after;  // so many requests

 private:
  bool look(bool go_on) {
    if (!seen_after && !verdict_.violations().empty()) seen_after = conversation_.size();
    return go_on && !seen_after;
  }

  Verdict verdict_;
  Watch watch_;
};

/// A process of the engine's own; the session has all that is said to it.
class RecordedEngine {
 public:
  RecordedEngine(Scenario const& scenario, Session& session)
      : client_(scenario.engine.name, session.command = command_of_peer(scenario.engine.name),
                peer_bounds()),
        engine_(recorded(client_, session)) {}

  PeerEngine* operator->() { return &engine_; }

 private:
  static PeerClient& recorded(PeerClient& client, Session& session) {
    client.record(session.exchanges);
    return client;
  }

  PeerClient client_;
  PeerEngine engine_;
};

[[noreturn]] void refuse_other_end(std::string const& what) {
  throw NoScript(fmt::format("the scenario did not fail in this way once more{}{}",
                             what.empty() ? "" : ": ", what));
}

/// Apart from texts, which may name paths and processes of one run.
bool is_same(Violation const& a, Violation const& b) {
  return a.law == b.law && a.breach == b.breach && a.operation == b.operation && a.rank == b.rank &&
         a.subject == b.subject && a.index == b.index && a.expected == b.expected &&
         a.actual == b.actual;
}

/// The directory with the files of a run, whose requests these are.
std::string room_of(std::span<Exchange const> exchanges) {
  for (Exchange const& exchange : exchanges)
    if (exchange.fields.contains("initial"))
      return std::filesystem::path(exchange.fields["initial"].get<std::string>())
          .parent_path()
          .string();
  return "";
}

// ---- one run ----

/// What one run showed.
struct Seen {
  std::vector<Violation> violations;
  std::optional<EngineFailure> failure;
  std::string broke_off = "";             // the engine did, saying this
  std::optional<std::size_t> after = {};  // so many requests
};

/// An engine that failed broke a law where nobody else did.
void add_failure(Seen& seen) {
  auto const& failure = seen.failure;
  if (!failure || !failure->reason.empty() || !seen.violations.empty()) return;
  seen.violations.push_back({.law = Law::error_clean,
                             .breach = Breach::failed,
                             .operation = failure->operation,
                             .rank = failure->rank,
                             .subject = failure->call,
                             .text = failure->message});
}

Seen run_once(Scenario const& scenario, Session& session) {
  Seen seen;
  Given const given(scenario);
  Witness witness(given, session.exchanges);
  try {
    EngineEnd const end = RecordedEngine(scenario, session)->execute(given.task(), witness);
    seen = {.violations = end.violations, .failure = end.failure};
    auto const& judged = witness.violations();
    seen.violations.insert(seen.violations.end(), judged.begin(), judged.end());
    add_failure(seen);
  } catch (PeerError const& error) {
    seen.broke_off = error.what();
  }
  if (must_stop()) throw NoScript("the run that is to be recorded was interrupted");
  if (session.exchanges.empty() || !session.exchanges.front().reply)
    throw NoScript(fmt::format("the engine did not say hello once more: {}", seen.broke_off));
  session.room = room_of(session.exchanges);
  session.damage = std::move(witness.damage);
  seen.after = witness.seen_after;
  return seen;
}

/// Silence, or that a rank could not show its state.
void expect_no_answer(Session const& session, Scenario const& scenario) {
  auto const& reply = session.exchanges.back().reply;
  if (!reply || reply->value("outcome", "ok") != "ok") return;
  throw NoScript(fmt::format(
      "an answer of the engine is not what the protocol says: `adamant doctor --engine {}` "
      "examines it",
      shell_quoted(scenario.engine.name)));
}

Session record(Scenario const& scenario, RunResult const& result, Violation const* violation) {
  Session session;
  Seen const seen = run_once(scenario, session);
  bool const broke_off = !seen.broke_off.empty();
  if (violation != nullptr) {
    auto const found = std::ranges::find_if(
        seen.violations, [&](Violation const& other) { return is_same(*violation, other); });
    if (broke_off || found == seen.violations.end()) refuse_other_end(seen.broke_off);
    session.violation = *found;
  } else if (result.outcome == Outcome::refused) {
    bool const refused = seen.failure && !seen.failure->reason.empty();
    if (broke_off || !refused) refuse_other_end(seen.broke_off);
  } else {
    if (!broke_off) refuse_other_end("");
    expect_no_answer(session, scenario);
  }
  if (seen.after) session.exchanges.resize(*seen.after);
  return session;
}

/// Nobody says in which of a scenario's runs the engine broke off.
Session record_broken_off(Scenario const& scenario, RunResult const& result) {
  std::vector<Scenario> runs = {own_run(scenario)};
  for (FurtherRun& run : further_runs(scenario)) runs.push_back(std::move(run.scenario));
  std::string why_not;
  for (Scenario const& run : runs) {
    try {
      return record(run, result, nullptr);
    } catch (NoScript const& reason) {
      if (why_not.empty()) why_not = reason.what();
    }
  }
  throw NoScript(why_not);
}

// ---- several runs ----

/// Two runs, one after the other, and what differs between them.
class RecorderOfTwo {
 public:
  /// `own` is what `scenario` is without its further runs.
  RecorderOfTwo(Scenario const& scenario, Scenario const& own, FurtherRun const& further)
      : scenario_(own), further_(further), recording_(scenario) {}

  Session record(Violation const& violation) {
    RecordedEngine engine(scenario_, session_);
    run(engine, scenario_, [&](Primitive const& operation, WorldView const& world) {
      recording_.after(operation, world);
      looks_.push_back(session_.exchanges.size());
      return true;
    });
    session_.second = session_.exchanges.size();
    HeldTo held(recording_, further_, engine->capabilities().same_files);
    run(engine, further_.scenario, [&](Primitive const& operation, WorldView const& world) {
      held.after(operation, world);
      compared_ += further_.has_inserted(operation.entry) ? 0 : 1;
      end_ = session_.exchanges.size();
      return held.violations().empty();
    });
    auto const found = std::ranges::find_if(held.violations(), [&](Violation const& other) {
      return other.law == violation.law && other.breach == violation.breach &&
             other.operation == violation.operation && other.subject == violation.subject;
    });
    if (found == held.violations().end()) refuse_other_end("");
    session_.violation = *found;
    cut();
    return std::move(session_);
  }

 private:
  void run(RecordedEngine& engine, Scenario const& scenario, Witness::Watch watch) {
    Given const given(scenario);
    Witness witness(given, session_.exchanges, std::move(watch));
    engine->execute(given.task(), witness);
  }

  /// Leaves what comes behind the two moments that are compared, but for the end of the first
  /// world.
  void cut() {
    Conversation& all = session_.exchanges;
    auto const at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
    session_.room = room_of({at(0), at(*session_.second)});
    session_.second_room = room_of({at(*session_.second), at(end_)});
    std::size_t const shown = looks_[compared_ - 1];
    all.erase(at(end_), all.end());
    bool const closes = at(*session_.second - 1)->verb == "close";
    all.erase(at(shown), at(*session_.second - (closes ? 1 : 0)));
    session_.second = shown + (closes ? 1 : 0);
  }

  Scenario const& scenario_;
  FurtherRun const& further_;
  Session session_;
  Recording recording_;
  std::vector<std::size_t>
      looks_;                 // so many exchanges were there after each operation of the first
  std::size_t compared_ = 0;  // operations of the second run that the first has, too
  std::size_t end_ = 0;
};

/// A run that differs when the same process makes it again: the first one.
Session record_repetition(Scenario const& scenario, Violation const& violation) {
  Session session;
  Given const given(scenario);
  Onlooker onlooker(session.exchanges);
  RecordedEngine engine(scenario, session);
  std::uint64_t const first = engine->execute(given.task(), onlooker).digest;
  std::size_t const end = session.exchanges.size();
  session.damage = onlooker.damage;
  if (engine->execute(given.task(), onlooker).digest == first)
    refuse_other_end("it came to the same");
  session.exchanges.resize(end);
  session.violation = violation;
  session.room = room_of(session.exchanges);
  return session;
}

}  // namespace

Session record_session(Scenario const& scenario, RunResult const& result,
                       Violation const* violation) {
  if (violation == nullptr && result.outcome != Outcome::refused)
    return record_broken_off(scenario, result);
  Scenario const own = own_run(scenario);
  if (violation == nullptr) {
    auto const refused = further_run_refused(scenario, result);
    return record(refused ? refused->scenario : own, result, nullptr);
  }
  auto const further = violation->law == Law::determinism_digest
                           ? std::nullopt
                           : further_run_called(scenario, violation->run);
  try {
    if (violation->law == Law::determinism_digest) return record_repetition(own, *violation);
    if (further && is_about_two_runs(violation->law))
      return RecorderOfTwo(scenario, own, *further).record(*violation);
  } catch (PeerError const& error) {
    refuse_other_end(error.what());
  }
  if (!further) return record(own, result, violation);
  Violation of_run = *violation;
  of_run.operation = entry_in(*further, of_run.operation);
  return record(further->scenario, result, &of_run);
}

}  // namespace adamant::scenarios::script
