#include "scenarios/peers/script/driver_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/comparison.h"
#include "scenarios/peers/script/driver_calls.h"
#include "scenarios/peers/script/imports.h"
#include "scenarios/peers/script/length.h"
#include "scenarios/peers/script/look_words.h"

namespace adamant::scenarios {

namespace script {

namespace {

using python::Block;
using python::Code;

class DriverScript {
 public:
  DriverScript(Scenario const& scenario, Session const& session, bool packed)
      : engine_(scenario.engine.name),
        class_(*capabilities_of_peer(engine_).engine_class),
        session_(session),
        look_(look_of(session)),
        numbers_({session.exchanges.begin(),
                  session.exchanges.begin() + static_cast<std::ptrdiff_t>(look_.at) + 1}),
        packed_(packed),
        calls_(session, look_, numbers_, packed) {
    if (look_.kind == Look::Kind::no_answer)
      throw NoScript("the engine ends or does not answer, and a script would end with it");
    bool const other_type =
        look_.reads_numbers == NumberFormat::fp8 || look_.reads_numbers == NumberFormat::remainder;
    if (other_type || (look_.reads_numbers && look_.misses_tensors))
      throw NoScript("it shows in numbers that adamant_torch does not read from a file");
  }

  std::string text() {
    Code body;
    write_constants(body);
    body.blank();
    write_program(body);
    body.blank();
    write_verdict(body);
    Code head;
    write_head(head);
    write_imports(head, body.text());
    return head.text() + body.text();
  }

 private:
  void write_head(Code& head) const {
    Capabilities const& capabilities = capabilities_of_peer(engine_);
    head.line(fmt::format("\"\"\"{}: {}.", without_quotes(capabilities.engine),
                          without_quotes(title_of(look_))));
    head.blank();
    head.line("It imports the engine's class, and needs what that needs and adamant_torch.");
    head.line(std::string(python::exit_statuses));
    if (std::string const versions = without_quotes(versions_of_peer(engine_)); !versions.empty())
      head.line(fmt::format("Written with {}.", versions));
    if (session_.second)
      head.line(fmt::format("The second run is the first one with `{}`.", session_.violation->run));
    head.line("\"\"\"");
    head.blank();
  }

  void write_imports(Code& head, std::string const& body) const {
    python::Imports imports;
    imports.add("sys");
    for (char const* const module : {"json", "os", "shutil", "struct"})
      if (body.find(fmt::format("{}.", module)) != std::string::npos) imports.add(module);
    for (char const* const word : {"inf", "nan"})
      if (python::has_word(body, word)) imports.add_from("math", word);
    if (body.find("torch.zeros(") != std::string::npos) imports.add("torch");
    for (char const* const name : {"Driver", "failures_end_with"})
      imports.add_installed("adamant_torch.driving", name);
    if (is_about_request(look_)) imports.add_installed("adamant_torch.driving", "Failed");
    for (char const* const name : {"digests", "element", "found", "header"})
      if (body.find(fmt::format("{}(", name)) != std::string::npos)
        imports.add_installed("adamant_torch.shown", name);
    if (is_of_adapter()) imports.add_installed(class_.module, imported());
    imports.write(head, packed_ ? python::Imports::Lines::one : python::Imports::Lines::each);
    if (!is_of_adapter()) write_import(head);
    head.blank();
  }

  /// Driver's own imports have imported it.
  bool is_of_adapter() const { return class_.module.starts_with("adamant_torch."); }
  std::string imported() const { return class_.name.substr(0, class_.name.find('.')); }

  void write_import(Code& head) const {
    head.blank();
    if (!class_.path.empty())
      head.line(fmt::format("sys.path.insert(0, {})", python::quoted(class_.path)));
    head.line(fmt::format("from {} import {}", class_.module, imported()));
  }

  void write_constants(Code& code) const {
    if (look_.kind == Look::Kind::value) write_expected(code, *session_.violation, look_.expected);
    auto named = numbers_.constants();
    for (auto& constant : calls_.constants()) named.push_back(std::move(constant));
    for (auto const& [name, literal] : named)
      packed_ ? code.assign_packed(name, literal) : code.assign(name, literal);
  }

  void write_program(Code& code) {
    bool const is_late =
        std::ranges::find(look_.words, "'outcome': 'timed_out'") != look_.words.end();
    std::string const bound =
        is_late ? fmt::format(", timeout_seconds={}", peer_bounds().rank.count()) : "";
    Block const with(
        code,
        fmt::format("with failures_end_with(2), Driver({}{}) as driver:", class_.name, bound));
    calls_.write(code);
  }

  void write_verdict(Code& code) const {
    if (!is_about_request(look_)) return write_verdict_of_state(code, session_, look_);
    bool const of_damage = look_.kind == Look::Kind::no_failure;
    std::string const expected = of_damage ? look_.expected : "no failure";
    code.line(fmt::format("print({})", python::quoted(look_.place + ": expected " + expected)));
    code.line(fmt::format("print(f\"{}: actual   {{actual}}\")", look_.place));
    if (of_damage) return write_exit_unless_noticed(code);
    code.assign("alike", words_of(look_));
    code.line("shows = all(word in actual for word in alike)");
    code.line("sys.exit(1 if shows else 2 if actual != \"no failure\" else 0)");
  }

  std::string const& engine_;
  EngineClass const& class_;
  Session const& session_;
  Look look_;
  DriverNumbers numbers_;
  bool packed_;
  DriverCalls calls_;
};

/// Before anything runs once more.
void refuse_undriven(Scenario const& scenario, RunResult const& result,
                     Violation const* violation) {
  if (!capabilities_of_peer(scenario.engine.name).engine_class)
    throw NoScript("the engine names no class of Python that could be imported");
  refuse_what_did_not_run(result, violation);
  if (violation != nullptr && violation->law == Law::determinism_digest)
    throw NoScript("the same run differs when it is repeated, and nothing says in what");
}

}  // namespace

}  // namespace script

std::string write_driver_script(Scenario const& scenario, RunResult const& result,
                                Violation const* violation) {
  script::refuse_undriven(scenario, result, violation);
  auto const session = script::record_session(scenario, result, violation);
  std::string text = script::DriverScript(scenario, session, false).text();
  if (python::line_count(text) > script_lines_max)
    text = script::DriverScript(scenario, session, true).text();
  return of_readable_length(std::move(text));
}

}  // namespace adamant::scenarios
