#include "scenarios/peers/script/session_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/script/comparison.h"
#include "scenarios/peers/script/compressed.h"
#include "scenarios/peers/script/length.h"
#include "scenarios/peers/script/look_words.h"
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

/// How much room a script takes for what it says: each way has fewer lines than the one before it.
enum class Layout { roomy, packed, packed_imports, compressed };

class SessionScript {
 public:
  SessionScript(Session const& session, Layout layout)
      : session_(session),
        layout_(layout),
        look_(look_of(session)),
        exchanges_(until_shown(session, look_)),
        files_(exchanges_),
        requests_(session, look_, files_) {}

  std::string text() {
    Code program(python::wide_columns_max);
    write_program(program);
    write_verdict(program);
    Code body(python::wide_columns_max);
    python::Imports imports;
    write_constants(body);
    for (char const* const word : {"inf", "nan"})
      if (python::has_word(body.text(), word)) imports.add_from("math", word);
    body.blank(2);
    if (requests_.copies_files()) imports.add("shutil");
    if (layout_ == Layout::compressed && !files_.empty())
      for (char const* const module : {"base64", "zlib"}) imports.add(module);
    Helpers helpers = requests_.helpers();
    auto const [hello, rank, reply] = peer_bounds();
    helpers.seconds = std::max(hello, reply).count();
    write_helpers(helpers, body, imports);
    if ((body.text() + program.text()).find("struct.") != std::string::npos) imports.add("struct");
    Code head(python::wide_columns_max);
    write_head(head);
    bool const roomy = layout_ == Layout::roomy || layout_ == Layout::packed;
    imports.write(head, roomy ? python::Imports::Lines::each : python::Imports::Lines::one);
    return head.text() + body.text() + program.text();
  }

 private:
  void write_head(Code& head) const {
    PeerReply const hello{.json = exchanges_.front().reply.value_or(nlohmann::json::object()),
                          .where = "hello"};
    std::string const versions = without_quotes(replies::versions_of(hello));
    head.line(fmt::format("\"\"\"{}{}: {}.", without_quotes(hello.json.value("engine", "")),
                          versions.empty() ? "" : " (" + versions + ")", title_of(look_)));
    head.blank();
    head.line(fmt::format("It starts COMMAND, or its argument. {}", python::exit_statuses));
    if (session_.second)
      head.line(fmt::format("The second run is the first one with `{}`.", session_.violation->run));
    head.line("\"\"\"");
    head.blank();
  }

  void write_constants(Code& code) const {
    code.assign_text("COMMAND", "sys.argv[1:] or ", session_.command);
    if (is_about_request(look_)) code.line("ANY = (\"ok\", \"error\", \"died\", \"timed_out\")");
    if (look_.kind == Look::Kind::value) write_expected(code, *session_.violation, look_.expected);
    if (!look_.words.empty()) code.assign("ALIKE", words_of(look_));
    if (!files_.empty()) write_files(code);
    for (auto const& [name, literal] : requests_.constants()) code.assign_packed(name, literal);
  }

  void write_files(Code& code) const {
    code.assign_packed("HEADER", files_.header(), ".encode()");
    if (layout_ == Layout::compressed && names_in_loop() == "FILES")
      code.assign_packed("FILES", files_.names());
    if (layout_ == Layout::compressed)
      return write_compressed_text(code, "NUMBERS = ", files_.bytes(), "");
    python::Literal const numbers = files_.numbers();
    bool const roomy = layout_ == Layout::roomy && code.fits_by_item(numbers);
    roomy ? code.assign("FILES", numbers) : code.assign_packed("FILES", numbers);
  }

  void write_program(Code& code) {
    Block const with(code, "with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as here:");
    code.call("engine = subprocess.Popen", {"COMMAND", "shell=True", "text=True", "stdin=-1",
                                            "stdout=-1", "start_new_session=True"});
    code.line("signal.signal(signal.SIGALRM, lambda *_: os.killpg(engine.pid, signal.SIGKILL))");
    {
      Block const tried(code, "try:");
      if (!files_.empty()) write_writing(code);
      requests_.write(code);
    }
    Block const finally(code, "finally:");
    code.line("os.killpg(engine.pid, signal.SIGKILL)");
    code.line("engine.wait()");
  }

  static std::string loop_over(std::string const& names) {
    return fmt::format("for number, name in enumerate({}):", names);
  }

  /// The names of files where they are written, or those in a constant.
  std::string names_in_loop() const {
    Code code(python::wide_columns_max);
    code.indent();
    code.indent();
    std::string const names = python::flat(files_.names());
    return code.fits(loop_over(names)) ? names : "FILES";
  }

  void write_writing(Code& code) const {
    bool const packed = layout_ == Layout::compressed;
    std::size_t const size = files_.bytes().size() / files_.count();
    std::string const numbers = packed ? fmt::format("NUMBERS[{} * number :][:{}]", size, size)
                                       : "struct.pack(f\"<{len(numbers)}f\", *numbers)";
    Block const each(code,
                     packed ? loop_over(names_in_loop()) : "for name, numbers in FILES.items():");
    Block const with(code, "with open(f\"{here}/{name}\", \"wb\") as file:");
    code.line(
        fmt::format("file.write(len(HEADER).to_bytes(8, \"little\") + HEADER + {})", numbers));
  }

  void write_verdict(Code& code) const {
    if (!is_about_request(look_)) return write_verdict_of_state(code, session_, look_);
    code.line(
        fmt::format("print({})", python::quoted(look_.place + ": expected " + look_.expected)));
    code.line(fmt::format("print(f\"{}: actual   {{actual}}\")", look_.place));
    if (look_.kind == Look::Kind::no_answer) return code.line("sys.exit(actual == \"none\")");
    if (look_.kind == Look::Kind::no_failure) return write_exit_unless_noticed(code);
    code.line("alike = all(word in actual for word in ALIKE)");
    code.line("sys.exit(1 if alike else 2 if actual != \"no failure\" else 0)");
  }

  Session const& session_;
  Layout layout_;
  Look look_;
  Conversation exchanges_;
  HandedOver files_;
  SessionRequests requests_;
};

std::string text_of(Session const& session) {
  std::string shortest;
  for (Layout const layout :
       {Layout::roomy, Layout::packed, Layout::packed_imports, Layout::compressed}) {
    std::string text = SessionScript(session, layout).text();
    if (shortest.empty() || python::line_count(text) < python::line_count(shortest))
      shortest = std::move(text);
    if (python::line_count(shortest) <= script_lines_max) break;
  }
  return of_readable_length(std::move(shortest));
}

}  // namespace

}  // namespace script

std::string write_session_script(Scenario const& scenario, RunResult const& result,
                                 Violation const* violation) {
  script::refuse_what_did_not_run(result, violation);
  return script::text_of(script::record_session(scenario, result, violation));
}

}  // namespace adamant::scenarios
