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

/// The verdict, until it sees a violation, and where in the conversation everything happens.
class Witness final : public Observer {
 public:
  /// Looks as well after each operation; false: that is enough.
  using Watch = std::function<bool(Primitive const& operation, WorldView const& world)>;

  Witness(Verdict& verdict, Conversation const& conversation, Watch watch = {})
      : verdict_(verdict), conversation_(conversation), watch_(std::move(watch)) {}

  bool started(WorldView const& world) override { return look(verdict_.started(world)); }
  bool after(Primitive const& operation, WorldView const& world) override {
    bool const go_on = look(verdict_.after(operation, world));
    return (!watch_ || watch_(operation, world)) && go_on;
  }
  void finished(WorldView const& world) override {
    look(false, [&] { verdict_.finished(world); });
  }
  void ended(Leftovers const& left) override { verdict_.ended(left); }
  bool restarted(Primitive const& load, WorldView const& world) override {
    return look(verdict_.restarted(load, world));
  }
  void crashed(Primitive const& save, bool returned) override { verdict_.crashed(save, returned); }
  void damaged(Primitive const& load, DamagedFiles const& files) override {
    damage.emplace(conversation_.size(), files);
    verdict_.damaged(load, files);
  }
  void refused(Primitive const& load, EngineFailure const& why, WorldView const* world) override {
    look(false, [&] { verdict_.refused(load, why, world); });
  }

  std::map<std::size_t, DamagedFiles> damage;
  std::optional<std::size_t> seen_after;  // so many requests

 private:
  bool look(bool go_on) {
    if (!seen_after && !verdict_.violations().empty()) seen_after = conversation_.size();
    return go_on && !seen_after;
  }
  template <typename Judge>
  void look(bool go_on, Judge const& judge) {
    judge();
    look(go_on);
  }

  Verdict& verdict_;
  Conversation const& conversation_;
  Watch watch_;
};

/// Apart from texts, which may name paths and processes of one run.
bool is_same(Violation const& a, Violation const& b) {
  return a.law == b.law && a.breach == b.breach && a.operation == b.operation && a.rank == b.rank &&
         a.subject == b.subject && a.index == b.index && a.expected == b.expected &&
         a.actual == b.actual;
}

/// An engine that failed broke a law where nobody else did.
void add_failure(std::vector<Violation>& seen, std::optional<EngineFailure> const& failure) {
  if (!failure || !failure->reason.empty() || !seen.empty()) return;
  seen.push_back({.law = Law::error_clean,
                  .breach = Breach::failed,
                  .operation = failure->operation,
                  .rank = failure->rank,
                  .subject = failure->call,
                  .text = failure->message});
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

class Recorder {
 public:
  explicit Recorder(Scenario const& scenario)
      : scenario_(scenario),
        seed_(scenario.seed.value_or(0)),
        program_(scenario),
        parameters_(parameter_specs(scenario)),
        verdict_(scenario, program_, parameters_, seed_),
        witness_(verdict_, session_.exchanges) {
    session_.command = command_of_peer(scenario.engine.name);
  }

  Session record(RunResult const& result, Violation const* violation) {
    std::string broke_off;
    try {
      run();
    } catch (PeerError const& error) {
      broke_off = error.what();
    }
    if (must_stop()) throw NoScript("the run that is to be recorded was interrupted");
    if (session_.exchanges.empty() || !session_.exchanges.front().reply)
      throw NoScript(fmt::format("the engine did not say hello once more: {}", broke_off));
    session_.room = room_of(session_.exchanges);
    expect_same(result, violation, broke_off);
    if (witness_.seen_after) session_.exchanges.resize(*witness_.seen_after);
    session_.damage = std::move(witness_.damage);
    return std::move(session_);
  }

 private:
  void run() {
    PeerClient client(scenario_.engine.name, session_.command, peer_bounds());
    client.record(session_.exchanges);
    PeerEngine engine(client);
    EngineTask const task{.scenario = scenario_,
                          .program = program_,
                          .parameters = parameters_,
                          .seed = seed_,
                          .schedule = scenario_.schedule,
                          .initial_values = {}};
    EngineEnd const end = engine.execute(task, witness_);
    failure_ = end.failure;
    seen_ = end.violations;
    auto const judged = verdict_.violations();
    seen_.insert(seen_.end(), judged.begin(), judged.end());
    add_failure(seen_, end.failure);
  }

  /// Errors: NoScript.
  void expect_same(RunResult const& result, Violation const* violation,
                   std::string const& broke_off) {
    if (violation != nullptr) {
      auto const found = std::ranges::find_if(
          seen_, [&](Violation const& other) { return is_same(*violation, other); });
      if (broke_off.empty() && found != seen_.end()) {
        session_.violation = *found;
        return;
      }
    } else if (result.outcome == Outcome::refused) {
      bool const refused = failure_ && !failure_->reason.empty();
      if (broke_off.empty() && refused) return;
    } else if (!broke_off.empty()) {
      return expect_no_answer();
    }
    throw NoScript(fmt::format("the scenario did not fail in this way once more{}{}",
                               broke_off.empty() ? "" : ": ", broke_off));
  }

  /// Silence, or that a rank could not show its state.
  void expect_no_answer() const {
    auto const& reply = session_.exchanges.back().reply;
    if (!reply || reply->value("outcome", "ok") != "ok") return;
    throw NoScript(fmt::format(
        "an answer of the engine is not what the protocol says: `adamant doctor --engine {}` "
        "examines it",
        shell_quoted(scenario_.engine.name)));
  }

  Scenario const& scenario_;
  std::uint64_t seed_;
  Program program_;
  std::vector<ParameterSpec> parameters_;
  Session session_;
  Verdict verdict_;
  Witness witness_;
  std::optional<EngineFailure> failure_;
  std::vector<Violation> seen_;
};

/// Two runs, one after the other, and what differs between them.
class RecorderOfTwo {
 public:
  /// `own` is what `scenario` is without its further runs.
  RecorderOfTwo(Scenario const& scenario, Scenario const& own, FurtherRun const& further)
      : scenario_(own), further_(further), recording_(scenario) {
    session_.command = command_of_peer(scenario.engine.name);
  }

  Session record(Violation const& violation) {
    try {
      PeerClient client(scenario_.engine.name, session_.command, peer_bounds());
      client.record(session_.exchanges);
      PeerEngine engine(client);
      run_first(engine);
      run_second(engine);
    } catch (PeerError const& error) {
      throw NoScript(
          fmt::format("the scenario did not fail in this way once more: {}", error.what()));
    }
    auto const found = std::ranges::find_if(differences_, [&](Violation const& other) {
      return other.law == violation.law && other.breach == violation.breach &&
             other.operation == violation.operation && other.subject == violation.subject;
    });
    if (found == differences_.end())
      throw NoScript("the scenario did not fail in this way once more");
    session_.violation = *found;
    cut();
    return std::move(session_);
  }

 private:
  void run(PeerEngine& engine, Scenario const& scenario, Witness::Watch watch) {
    Program const program(scenario);
    std::vector<ParameterSpec> const parameters = parameter_specs(scenario);
    std::uint64_t const seed = scenario.seed.value_or(0);
    Verdict verdict(scenario, program, parameters, seed);
    Witness witness(verdict, session_.exchanges, std::move(watch));
    engine.execute({.scenario = scenario,
                    .program = program,
                    .parameters = parameters,
                    .seed = seed,
                    .schedule = scenario.schedule,
                    .initial_values = {}},
                   witness);
  }

  void run_first(PeerEngine& engine) {
    run(engine, scenario_, [&](Primitive const& operation, WorldView const& world) {
      recording_.after(operation, world);
      looks_.push_back(session_.exchanges.size());
      return true;
    });
    session_.second = session_.exchanges.size();
  }

  void run_second(PeerEngine& engine) {
    HeldTo held(recording_, further_, engine.capabilities().same_files);
    run(engine, further_.scenario, [&](Primitive const& operation, WorldView const& world) {
      held.after(operation, world);
      compared_ += further_.has_inserted(operation.entry) ? 0 : 1;
      end_ = session_.exchanges.size();
      return held.violations().empty();
    });
    differences_ = held.violations();
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
  std::vector<Violation> differences_;
};

/// A run that differs when the same process makes it again.
class RecorderOfRepetition {
 public:
  explicit RecorderOfRepetition(Scenario const& scenario) : scenario_(scenario) {
    session_.command = command_of_peer(scenario.engine.name);
  }

  Session record(Violation const& violation) {
    try {
      PeerClient client(scenario_.engine.name, session_.command, peer_bounds());
      client.record(session_.exchanges);
      PeerEngine engine(client);
      std::uint64_t const first = digest_of_run(engine);
      std::size_t const end = session_.exchanges.size();
      if (digest_of_run(engine) == first)
        throw NoScript("the scenario did not fail in this way once more: it came to the same");
      session_.exchanges.resize(end);
      session_.damage.erase(session_.damage.lower_bound(end), session_.damage.end());
    } catch (PeerError const& error) {
      throw NoScript(
          fmt::format("the scenario did not fail in this way once more: {}", error.what()));
    }
    session_.violation = violation;
    session_.room = room_of(session_.exchanges);
    return std::move(session_);
  }

 private:
  /// Notes what is done to files, and judges nothing.
  class Onlooker final : public Observer {
   public:
    explicit Onlooker(Session& session) : session_(session) {}

    bool started(WorldView const& /*world*/) override { return true; }
    bool after(Primitive const& /*operation*/, WorldView const& /*world*/) override { return true; }
    void finished(WorldView const& /*world*/) override {}
    void ended(Leftovers const& /*left*/) override {}
    void damaged(Primitive const& /*load*/, DamagedFiles const& files) override {
      session_.damage.emplace(session_.exchanges.size(), files);
    }

   private:
    Session& session_;
  };

  std::uint64_t digest_of_run(PeerEngine& engine) {
    Program const program(scenario_);
    std::vector<ParameterSpec> const parameters = parameter_specs(scenario_);
    Onlooker onlooker(session_);
    EngineEnd const end = engine.execute({.scenario = scenario_,
                                          .program = program,
                                          .parameters = parameters,
                                          .seed = scenario_.seed.value_or(0),
                                          .schedule = scenario_.schedule,
                                          .initial_values = {}},
                                         onlooker);
    return end.digest;
  }

  Scenario const& scenario_;
  Session session_;
};

/// Nobody says in which of a scenario's runs the engine broke off.
Session record_broken_off(Scenario const& scenario, RunResult const& result) {
  std::vector<Scenario> runs = {own_run(scenario)};
  for (FurtherRun& run : further_runs(scenario)) runs.push_back(std::move(run.scenario));
  std::string why_not;
  for (Scenario const& run : runs) {
    try {
      return Recorder(run).record(result, nullptr);
    } catch (NoScript const& reason) {
      if (why_not.empty()) why_not = reason.what();
    }
  }
  throw NoScript(why_not);
}

}  // namespace

Session record_session(Scenario const& scenario, RunResult const& result,
                       Violation const* violation) {
  if (violation == nullptr && result.outcome != Outcome::refused)
    return record_broken_off(scenario, result);
  Scenario const own = own_run(scenario);
  if (violation == nullptr) {
    auto const refused = further_run_refused(scenario, result);
    return Recorder(refused ? refused->scenario : own).record(result, nullptr);
  }
  if (violation->law == Law::determinism_digest)
    return RecorderOfRepetition(own).record(*violation);
  auto const further = further_run_called(scenario, violation->run);
  if (!further) return Recorder(own).record(result, violation);
  if (is_about_two_runs(violation->law))
    return RecorderOfTwo(scenario, own, *further).record(*violation);
  Violation of_run = *violation;
  of_run.operation = entry_in(*further, of_run.operation);
  return Recorder(further->scenario).record(result, &of_run);
}

}  // namespace adamant::scenarios::script
