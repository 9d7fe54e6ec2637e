#include "scenarios/peers/script/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "scenarios/judge/verdict.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/report/words/words.h"

namespace adamant::scenarios::script {

namespace {

/// The verdict, until it sees a violation, and where in the conversation everything happens.
class Witness final : public Observer {
 public:
  Witness(Verdict& verdict, Conversation const& conversation)
      : verdict_(verdict), conversation_(conversation) {}

  bool started(WorldView const& world) override { return look(verdict_.started(world)); }
  bool after(Primitive const& operation, WorldView const& world) override {
    return look(verdict_.after(operation, world));
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
    find_room();
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

  void find_room() {
    for (Exchange const& exchange : session_.exchanges)
      if (session_.room.empty() && exchange.fields.contains("initial"))
        session_.room = std::filesystem::path(exchange.fields["initial"].get<std::string>())
                            .parent_path()
                            .string();
  }

  /// Errors: NoScript.
  void expect_same(RunResult const& result, Violation const* violation,
                   std::string const& broke_off) {
    if (violation != nullptr) {
      auto const found = std::ranges::find_if(
          seen_, [&](Violation const& other) { return is_same(*violation, other); });
      if (broke_off.empty() && found != seen_.end()) {
        session_.violation = *found;
        std::ranges::copy_if(seen_, std::back_inserter(session_.all), [&](Violation const& other) {
          return other.law == found->law && other.operation == found->operation;
        });
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
        "an answer of the engine is not what the protocol says: `adamant doctor --engine '{}'` "
        "examines it",
        scenario_.engine.name));
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

}  // namespace

Session record_session(Scenario const& scenario, RunResult const& result,
                       Violation const* violation) {
  return Recorder(scenario).record(result, violation);
}

}  // namespace adamant::scenarios::script
