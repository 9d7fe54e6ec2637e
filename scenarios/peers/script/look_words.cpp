#include "scenarios/peers/script/look_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "scenarios/peers/script/comparison.h"
#include "scenarios/peers/script/no_script.h"

namespace adamant::scenarios::script {

std::string without_quotes(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\\' || c < ' '; });
  return text;
}

std::string title_of(Look const& look) {
  switch (look.kind) {
    case Look::Kind::ranks:
      return "ranks disagree about " + look.place;
    case Look::Kind::runs:
      return look.place + " differs between two runs";
    case Look::Kind::repeated:
      return look.place + " differs when it is repeated";
    case Look::Kind::either:
      return "what a load restores is of neither save";
    case Look::Kind::failure:
      return "a " + look.place + " fails that has to succeed";
    case Look::Kind::no_failure:
      return "damage is not reported as such";
    case Look::Kind::no_answer:
      return "a " + look.place + " is not answered";
    case Look::Kind::value:
      break;
  }
  return look.place + " is not what it has to be";
}

void write_verdict_of_state(python::Code& code, Session const& session, Look const& look) {
  switch (look.kind) {
    case Look::Kind::ranks:
      return write_comparison_of_ranks(code, look.first, session.violation->rank, look.place);
    case Look::Kind::runs:
      return write_comparison_of_runs(code, *session.violation, look.place);
    case Look::Kind::repeated:
      return write_first_difference(code);
    case Look::Kind::either:
      return write_comparison_with_both(code);
    default:
      return write_comparison(code, *session.violation, look.place);
  }
}

python::Literal words_of(Look const& look) {
  std::vector<python::Literal> words;
  for (std::string const& word : look.words) words.push_back(python::atom(python::quoted(word)));
  return python::list(std::move(words));
}

void write_damage(python::Code& code, DamagedFiles const& damages, DamageCalls const& calls) {
  for (FileDamage const& damage : damages) {
    std::string const path = calls.path(damage.file);
    if (damage.how == Fault::Then::flip_byte)
      code.line(calls.flip(damage));
    else if (damage.how == Fault::Then::truncate)
      code.line(fmt::format("os.truncate({}, {})", path, damage.at));
    else if (damage.how == Fault::Then::remove_file)
      code.line(fmt::format("os.remove({})", path));
    else
      code.call("shutil.copy", {calls.older(damage.file), path});
  }
}

void refuse_what_did_not_run(RunResult const& result, Violation const* violation) {
  if (violation == nullptr && result.outcome == Outcome::refused && !result.failed_at)
    throw NoScript(fmt::format("the scenario was refused before anything ran ({}): {}",
                               result.reason, result.message));
}

}  // namespace adamant::scenarios::script
