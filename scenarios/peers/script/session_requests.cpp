#include "scenarios/peers/script/session_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/peers/script/look_words.h"
#include "scenarios/peers/script/older_save.h"

namespace adamant::scenarios::script {

namespace {

using Json = nlohmann::json;
using python::Block;
using python::Code;
using python::Literal;

/// In the room of a run.
constexpr char const* saved_in = "/checkpoints/";

std::string outcome_of(Exchange const& exchange) {
  return exchange.reply ? exchange.reply->value("outcome", "") : "";
}

bool is_look_at_rows(Exchange const& exchange) {
  return exchange.verb == "state" && exchange.fields["whole"] == false;
}

std::string numbered(char const* stem, std::size_t index) {
  return index == 0 ? stem : fmt::format("{}_{}", stem, index + 1);
}

/// What the second object has otherwise than the first, which has no other keys.
Json changes(Json const& from, Json const& to) {
  Json changed = Json::object();
  for (auto const& [key, value] : to.items())
    if (from[key] != value) changed[key] = value;
  return changed;
}

std::string gradients_of(std::size_t ranks) {
  return fmt::format("[f\"{{here}}/gradients-{}-{{rank}}\" for rank in range({})]",
                     gradients_number, ranks);
}

/// Verbs behind which nobody has looked at a world, in the order in which they come.
std::vector<std::string> quiet_verbs(Session const& session, std::size_t end) {
  std::vector<std::string> verbs;
  for (std::size_t i = 0; i <= end; ++i) {
    std::string const& verb = session.exchanges[i].verb;
    bool const changes = verb != "hello" && verb != "state" && verb != "close" && verb != "finish";
    if (!changes && std::ranges::find(verbs, verb) == verbs.end()) verbs.push_back(verb);
  }
  if (std::ranges::find(verbs, "state") == verbs.end()) verbs.emplace_back("state");
  return verbs;
}

/// What a load restores of a parameter, as keys of files say it.
std::vector<std::string> restored_parts(Session const& session) {
  auto const opened = std::ranges::find(session.exchanges, "open", &Exchange::verb);
  Json const& precision = opened->fields["precision"];
  std::vector<std::string> parts = {""};
  if (precision["main"] != "none") parts.emplace_back("/main");
  for (char const* const moment : {"exp_avg", "exp_avg_sq"}) {
    parts.push_back(fmt::format("/{}", moment));
    if (precision[moment] == "fp8") parts.push_back(fmt::format("/{}/scale", moment));
  }
  return parts;
}

SessionStep lines_of(std::vector<std::string> lines) {
  return {.lines = std::move(lines)};
}

}  // namespace

SessionRequests::SessionRequests(Session const& session, Look const& look, HandedOver const& files)
    : session_(session), look_(look), files_(files) {
  helpers_.quiet = quiet_verbs(session, look.at);
  helpers_.element = look.reads_numbers;
  helpers_.missing_is_0 = look.misses_tensors;
  helpers_.header = look.reads_headers;
  helpers_.digests = look.reads_files;
  if (look.kind == Look::Kind::either) helpers_.found = restored_parts(session);
  helpers_.all = look.kind == Look::Kind::repeated;
}

void SessionRequests::write(Code& code) {
  std::vector<SessionStep> all = steps();
  if (look_.kind != Look::Kind::repeated) return write_steps(code, all);
  write_steps(code, {all.front()});
  all.erase(all.begin());
  code.line("runs = [], []");
  Block const run(code, "for run, seen in enumerate(runs):");
  write_steps(code, all);
}

std::vector<SessionStep> SessionRequests::steps() {
  std::vector<SessionStep> steps;
  for (std::size_t i = 0; i <= look_.at; ++i) {
    add_damage(i, steps);
    bool const acts = is_act(i);
    steps.push_back(is_observed(i) ? observed(i) : request(i, acts));
    add_kept_files(i, steps);
    if (acts) ++i;  // the state is part of it
    for (Kept const& kept : look_.kept)
      if (kept.at == i) steps.push_back(lines_of(kept.lines));
  }
  if (!look_.lines.empty()) steps.push_back(lines_of(look_.lines));
  return steps;
}

/// Is it a request with the look at its world behind it, neither of them anything special?
bool SessionRequests::is_act(std::size_t i) const {
  if (i >= look_.at || is_observed(i + 1) || !is_look_at_rows(at(i + 1))) return false;
  return outcome_of(at(i)) == "ok" && wanted(i).empty() && !is_quiet(at(i).verb);
}

bool SessionRequests::is_quiet(std::string const& verb) const {
  return std::ranges::find(helpers_.quiet, verb) != helpers_.quiet.end();
}

SessionStep SessionRequests::request(std::size_t i, bool acts) {
  helpers_.looks = helpers_.looks || acts;
  SessionStep step{.call = call_of(i, acts)};
  if (at(i).verb == "backward") step.gradients = files_.backward(i);
  std::size_t const shown = i + (acts ? 1 : 0);
  bool const keeps =
      std::ranges::any_of(look_.kept, [&](Kept const& kept) { return kept.at == shown; });
  bool const of_state = acts || at(i).verb == "state";
  if (look_.kind == Look::Kind::repeated && of_state) {
    step.call =
        python::call("shown", {python::atom(python::quoted(at(i).verb)), std::move(step.call)});
    step.before = "seen += ";
  } else if ((keeps || shown == look_.at) && !look_.reads_files) {
    step.before = "state = ";
  }
  return step;
}

SessionStep SessionRequests::observed(std::size_t i) {
  Literal call = call_of(i, true);
  if (at(i).verb == "backward") call = with_number(std::move(call), files_.backward(i));
  call.items.insert(call.items.begin() + 1, python::atom("*ANY"));
  Code code(python::wide_columns_max - 8);  // it stands two levels further in
  if (look_.kind == Look::Kind::no_answer) {
    {
      Block const tried(code, "try:");
      code.statement(call);
      code.line("actual = \"an answer\"");
    }
    Block const failed(code,
                       "except (OSError, ValueError, LookupError, TypeError, AssertionError):");
    code.line("actual = \"none\"");
  } else {
    code.assign("reply", call);
    code.line(
        "failed = [rank for rank in reply.get(\"ranks\") or [reply] if rank[\"outcome\"] != "
        "\"ok\"]");
    code.line(
        "failed.sort(key=lambda rank: ANY.index(rank[\"outcome\"]))  # those first that say why");
    code.line("actual = str(failed[0]) if failed else \"no failure\"");
  }
  return lines_of(python::lines_in(code.text()));
}

/// `acts`: ask() may ask for a state behind it.
Literal SessionRequests::call_of(std::size_t i, bool acts) {
  Exchange const& exchange = at(i);
  std::vector<Literal> arguments = {python::atom(python::quoted(exchange.verb))};
  std::vector<std::string> outcomes = wanted(i);
  if (outcomes.empty() && !acts && !is_quiet(exchange.verb)) outcomes = {"ok"};
  for (std::string const& outcome : outcomes)
    arguments.push_back(python::atom(python::quoted(outcome)));
  if (exchange.verb == "open") arguments.push_back(opened_as(exchange));
  for (auto const& [key, value] : exchange.fields.items()) {
    if (key == "initial")
      arguments.push_back(
          python::argument(key, python::atom("here + " + python::quoted("/" + files_.initial(i)))));
    else if (key == "gradients")
      arguments.push_back(python::argument(key, python::atom(gradients_of(value.size()))));
    else if (key == "prefix")
      arguments.push_back(python::argument(key, python::atom("here + \"/state\"")));
    else if (exchange.verb != "open")
      arguments.push_back(python::argument(key, literal_of(value)));
  }
  return python::call("ask", std::move(arguments));
}

// A crash strikes where it is wanted, or the save is over before. What is observed may be anything.
std::vector<std::string> SessionRequests::wanted(std::size_t i) const {
  if (is_observed(i)) return {};
  if (at(i).fields.contains("crash")) return {"ok", "died"};
  std::string const outcome = outcome_of(at(i));
  return outcome == "ok" ? std::vector<std::string>{} : std::vector{outcome};
}

/// The fields of an open, but for its file: a constant, or the first one's with few changes.
Literal SessionRequests::opened_as(Exchange const& exchange) {
  Json fields = exchange.fields;
  fields.erase("initial");
  if (!opens_.empty() && fields != opens_.front()) {
    constexpr std::size_t changes_max = 60;  // which leave room for the request on its line
    Literal changed = literal_of(changes(opens_.front(), fields));
    changed.prefix = "**(OPEN | ";
    if (std::string const text = python::flat(changed); text.size() <= changes_max)
      return python::atom(text + ")");
  }
  auto found = std::ranges::find(opens_, fields);
  if (found == opens_.end()) found = opens_.insert(opens_.end(), std::move(fields));
  return python::atom("**" + numbered("OPEN", static_cast<std::size_t>(found - opens_.begin())));
}

std::vector<std::pair<std::string, Literal>> SessionRequests::constants() const {
  std::vector<std::pair<std::string, Literal>> constants;
  for (std::size_t i = 0; i < opens_.size(); ++i) {
    bool const first = i == 0;
    Literal literal = literal_of(first ? opens_[i] : changes(opens_[0], opens_[i]));
    if (!first) literal.prefix = "OPEN | ";
    constants.emplace_back(numbered("OPEN", i), std::move(literal));
  }
  return constants;
}

Literal SessionRequests::literal_of(Json const& value) const {
  if (value.is_null()) return python::atom("None");
  if (value.is_boolean()) return python::atom(value.get<bool>() ? "True" : "False");
  if (value.is_string()) return python::atom(path_or_text(value.get<std::string>()));
  if (!value.is_structured()) return python::atom(value.dump());
  std::vector<Literal> items;
  for (auto const& [key, item] : value.items())
    items.push_back(value.is_object() ? python::keyed(key, literal_of(item)) : literal_of(item));
  return value.is_object() ? python::dictionary(std::move(items)) : python::list(std::move(items));
}

std::string SessionRequests::path_or_text(std::string const& text) const {
  auto const is_in = [&](std::string const& room) {
    return !room.empty() && text.starts_with(room + saved_in);
  };
  auto const behind = [&](std::string const& room) {
    return text.substr(room.size() + std::string_view(saved_in).size());
  };
  if (is_in(session_.room)) return in_room("checkpoint", behind(session_.room));
  if (is_in(session_.second_room)) return in_room("again", behind(session_.second_room));
  return python::quoted(text);
}

/// The path of a checkpoint as an expression. A run that is made twice has its checkpoints twice.
std::string SessionRequests::in_room(std::string_view kind, std::string const& path) const {
  std::string const name = fmt::format("{}-{}", kind, path);
  if (look_.kind == Look::Kind::repeated) return "f" + python::quoted("{here}/run-{run}-" + name);
  return "here + " + python::quoted("/" + name);
}

void SessionRequests::add_damage(std::size_t i, std::vector<SessionStep>& steps) {
  auto const found = session_.damage.find(i);
  if (found == session_.damage.end()) return;
  Code code(python::wide_columns_max - 8);
  write_damage(code, found->second,
               {.path = [&](std::string const& file) { return in_room("checkpoint", file); },
                .older = [&](std::string const& file) { return in_room("older", file); },
                .flip =
                    [&](FileDamage const& damage) {
                      helpers_.flip = true;
                      return fmt::format("flip({}, {})", in_room("checkpoint", damage.file),
                                         damage.at);
                    }});
  steps.push_back(lines_of(python::lines_in(code.text())));
}

void SessionRequests::add_kept_files(std::size_t i, std::vector<SessionStep>& steps) {
  auto const checkpoint = kept_for_later(session_, i);
  if (!checkpoint) return;
  copies_files_ = true;
  steps.push_back(
      lines_of({fmt::format("shutil.copytree({}, {}, dirs_exist_ok=True)",
                            in_room("checkpoint", *checkpoint), in_room("older", *checkpoint))}));
}

}  // namespace adamant::scenarios::script
