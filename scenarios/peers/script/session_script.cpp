#include "scenarios/peers/script/session_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/script/comparison.h"
#include "scenarios/peers/script/session_requests.h"

namespace adamant::scenarios {

namespace script {

namespace {

using python::Block;
using python::Code;

Conversation until_shown(Session const& session, Look const& look) {
  auto const begin = session.exchanges.begin();
  return {begin, begin + static_cast<std::ptrdiff_t>(look.at) + 1};
}

bool has_checkpoints(Conversation const& exchanges) {
  return std::ranges::any_of(exchanges, [](Exchange const& exchange) {
    return exchange.verb == "save" || exchange.verb == "load";
  });
}

/// What an engine says of itself, in a docstring.
std::string without_quotes(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\\' || c < ' '; });
  return text;
}

class SessionScript {
 public:
  SessionScript(Session const& session, bool packed)
      : session_(session),
        look_(look_of(session)),
        exchanges_(until_shown(session, look_)),
        files_(exchanges_),
        packed_(packed || files_.in_base64()),
        requests_(session, look_, files_, packed_) {}

  std::string text() {
    Code program;
    write_program(program);
    write_verdict(program);
    Code body;
    python::Imports imports;
    write_constants(body);
    for (char const* const word : {"inf", "nan"})
      if (python::has_word(body.text(), word)) imports.add_from("math", word);
    body.line("ids = iter(range(1_000_000))");
    body.blank(2);
    if (requests_.copies_files()) imports.add("shutil");
    Helpers helpers = requests_.helpers();
    helpers.base64 = files_.in_base64();
    helpers.digests = look_.reads_files;
    write_helpers(helpers, body, imports);
    Code head;
    write_head(head);
    imports.write(head);
    head.blank();
    return head.text() + body.text() + program.text();
  }

 private:
  void write_head(Code& head) const {
    std::string what = look_.place + " is not what it has to be";
    if (look_.kind == Look::Kind::ranks) what = "ranks disagree about " + look_.place;
    if (look_.kind == Look::Kind::runs) what = look_.place + " differs between two runs";
    if (look_.kind == Look::Kind::failure) what = "a " + look_.place + " fails that has to succeed";
    if (look_.kind == Look::Kind::no_failure) what = "damage is not reported as such";
    if (look_.kind == Look::Kind::no_answer) what = "a " + look_.place + " is not answered";
    PeerReply const hello{.json = exchanges_.front().reply.value_or(nlohmann::json::object()),
                          .where = "hello"};
    std::string const versions = replies::versions_of(hello);
    head.line(fmt::format("\"\"\"{}: {}.", without_quotes(hello.json.value("engine", "")), what));
    head.blank();
    head.line(
        "A recorded session of the engine's protocol. It needs the standard library of Python "
        "3.10,");
    head.line(
        "starts COMMAND, or the command that it is given, and ends with 1 where the defect shows, "
        "with 0");
    head.line("where it does not, and with 2 where anything else fails.");
    if (!versions.empty()) head.line(fmt::format("Recorded with {}.", without_quotes(versions)));
    if (session_.second)
      head.line(fmt::format("The second run is the first one with `{}`.", session_.violation->run));
    head.line("\"\"\"");
    head.blank();
  }

  void write_constants(Code& code) const {
    code.line("COMMAND = " + python::quoted(session_.command));
    auto const [hello, rank, reply] = peer_bounds();
    code.line(fmt::format("SECONDS = {}", std::max(hello, reply).count()));
    if (is_about_request(look_)) code.line("ANY = (\"ok\", \"error\", \"died\", \"timed_out\")");
    if (look_.kind == Look::Kind::value) write_expected(code, *session_.violation, look_.expected);
    if (!look_.words.empty()) code.assign("ALIKE", words());
    auto named = files_.constants();
    for (auto& constant : requests_.constants()) named.push_back(std::move(constant));
    if (packed_) return code.assign_packed(named);
    for (auto const& [name, literal] : named) code.assign(name, literal);
  }

  python::Literal words() const {
    std::vector<python::Literal> words;
    for (std::string const& word : look_.words) words.push_back(python::atom(python::quoted(word)));
    return python::list(std::move(words));
  }

  void write_program(Code& code) {
    Block const with(code, "with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as here:");
    if (has_checkpoints(exchanges_)) code.line("os.mkdir(here + \"/checkpoints\")");
    if (has_checkpoints(exchanges_) && session_.second) code.line("os.mkdir(here + \"/again\")");
    code.call("engine = subprocess.Popen", {"sys.argv[1:] or COMMAND", "shell=True", "text=True",
                                            "stdin=-1", "stdout=-1", "start_new_session=True"});
    code.line("signal.signal(signal.SIGALRM, lambda *_: os.killpg(engine.pid, signal.SIGKILL))");
    code.line("signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))");
    {
      Block const tried(code, "try:");
      requests_.write(code);
    }
    {
      Block const except(code, "except Exception as error:");
      code.line("print(f\"another failure: {error!r}\")");
      code.line("sys.exit(2)");
    }
    Block const finally(code, "finally:");
    code.line("os.killpg(engine.pid, signal.SIGKILL)");
    code.line("engine.wait()");
  }

  void write_verdict(Code& code) const {
    if (look_.kind == Look::Kind::value)
      return write_comparison(code, *session_.violation, look_.place);
    if (look_.kind == Look::Kind::ranks)
      return write_comparison_of_ranks(code, look_.first, session_.violation->rank, look_.place);
    if (look_.kind == Look::Kind::runs)
      return write_comparison_of_runs(code, *session_.violation, look_.place);
    if (look_.kind == Look::Kind::either) return write_comparison_with_both(code, look_.place);
    code.line(
        fmt::format("print({})", python::quoted(look_.place + ": expected " + look_.expected)));
    code.line(fmt::format("print(f\"{}: actual   {{actual}}\")", look_.place));
    if (look_.kind == Look::Kind::no_answer) return code.line("sys.exit(actual == \"none\")");
    if (look_.kind == Look::Kind::no_failure)
      return code.line("sys.exit(\"damaged_checkpoint\" not in actual)");
    code.line("alike = all(word in actual for word in ALIKE)");
    code.line("sys.exit(1 if alike else 2 if actual != \"no failure\" else 0)");
  }

  Session const& session_;
  Look look_;
  Conversation exchanges_;
  HandedOver files_;
  bool packed_;
  SessionRequests requests_;
};

}  // namespace

}  // namespace script

std::string write_session_script(Scenario const& scenario, RunResult const& result,
                                 Violation const* violation) {
  if (violation == nullptr && result.outcome == Outcome::refused && !result.failed_at)
    throw NoScript(fmt::format("the scenario was refused before anything ran ({}): {}",
                               result.reason, result.message));
  if (violation != nullptr && violation->law == Law::determinism_digest)
    throw NoScript("the same run differs when it is repeated, and nothing says in what");
  auto const session = script::record_session(scenario, result, violation);
  std::string text = script::SessionScript(session, false).text();
  bool const is_long = python::line_count(text) > session_lines_max;
  return is_long ? script::SessionScript(session, true).text() : text;
}

}  // namespace adamant::scenarios
