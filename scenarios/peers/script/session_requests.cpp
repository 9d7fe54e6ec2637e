#include "scenarios/peers/script/session_requests.h"

#include <fmt/format.h>

#include <algorithm>

namespace adamant::scenarios::script {

namespace {

using Json = nlohmann::json;
using python::Block;
using python::Code;
using python::Literal;

std::string outcome_of(Exchange const& exchange) {
  return exchange.reply ? exchange.reply->value("outcome", "") : "";
}

bool is_look_at_rows(Exchange const& exchange) {
  return exchange.verb == "state" && exchange.fields["whole"] == false;
}

bool is_whole_save(Exchange const& exchange) {
  return exchange.verb == "save" && outcome_of(exchange) == "ok" &&
         !exchange.fields.contains("crash");
}

std::string checkpoint_of(FileDamage const& damage) {
  return damage.file.substr(0, damage.file.find('/'));
}

std::string in_checkpoints(std::string const& file) {
  return "here + " + python::quoted("/checkpoints/" + file);
}

std::string among_older(std::string const& file) {
  return "here + " + python::quoted("/older/" + file);
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

}  // namespace

void SessionRequests::write(Code& code) {
  for (std::size_t i = 0; i <= look_.at; ++i) {
    write_damage(code, i);
    bool const acts = is_act(i);
    write_request(code, i, acts);
    keep_files(code, i);
    if (acts) ++i;  // the state is part of it
    for (Kept const& kept : look_.kept)
      for (std::size_t k = 0; kept.at == i && k < kept.lines.size(); ++k) code.line(kept.lines[k]);
  }
  for (std::string const& line : look_.lines) code.line(line);
  helpers_.element = look_.reads_numbers;
  helpers_.header = look_.reads_headers;
}

/// Is it a request with the look at its world behind it, neither of them anything special?
bool SessionRequests::is_act(std::size_t i) const {
  if (i >= look_.at || is_observed(i + 1) || !is_look_at_rows(at(i + 1))) return false;
  return outcome_of(at(i)) == "ok" && wanted(i).empty();
}

void SessionRequests::write_request(Code& code, std::size_t i, bool acts) {
  helpers_.act = helpers_.act || acts;
  Literal call = python::call(acts ? "act" : "ask", arguments_of(i));
  if (is_observed(i)) return write_observed(code, std::move(call));
  std::size_t const shown = i + (acts ? 1 : 0);
  bool const keeps =
      std::ranges::any_of(look_.kept, [&](Kept const& kept) { return kept.at == shown; });
  if ((keeps || shown == look_.at) && !look_.reads_files)
    code.assign("state", call);
  else
    code.statement(call);
}

void SessionRequests::write_observed(Code& code, Literal call) {
  call.items.insert(call.items.begin() + 1, python::atom("*ANY"));
  if (look_.kind != Look::Kind::no_answer) {
    helpers_.failure = true;
    return code.assign("actual", python::call("failure", {std::move(call)}));
  }
  {
    Block const tried(code, "try:");
    code.statement(call);
    code.line("actual = \"an answer\"");
  }
  Block const failed(code, "except (OSError, ValueError, LookupError, TypeError):");
  code.line("actual = \"none\"");
}

std::vector<Literal> SessionRequests::arguments_of(std::size_t i) {
  Exchange const& exchange = at(i);
  std::vector<Literal> arguments = {python::atom(python::quoted(exchange.verb))};
  for (std::string const& outcome : wanted(i))
    arguments.push_back(python::atom(python::quoted(outcome)));
  bool const in_constant = packed_ && exchange.verb == "open";
  if (in_constant) arguments.push_back(python::atom("**" + opened_as(exchange)));
  for (auto const& [key, value] : exchange.fields.items()) {
    if (key == "initial" || key == "gradients")
      arguments.push_back(python::argument(key, written(i, key == "initial")));
    else if (key == "prefix")
      arguments.push_back(python::argument(key, python::atom("here + \"/state\"")));
    else if (!in_constant)
      arguments.push_back(python::argument(key, literal_of(value)));
  }
  return arguments;
}

Literal SessionRequests::written(std::size_t i, bool one) {
  helpers_.write = true;
  std::string const& name = files_.name_of(i);
  return python::atom(one ? fmt::format("write({})[0]", name) : fmt::format("write(*{})", name));
}

// A crash strikes where it is wanted, or the save is over before. What is observed may be anything.
std::vector<std::string> SessionRequests::wanted(std::size_t i) const {
  if (is_observed(i)) return {};
  if (at(i).fields.contains("crash")) return {"ok", "died"};
  std::string const outcome = outcome_of(at(i));
  return outcome == "ok" ? std::vector<std::string>{} : std::vector{outcome};
}

/// The constant with the fields of an open, but for its file.
std::string SessionRequests::opened_as(Exchange const& exchange) {
  Json fields = exchange.fields;
  fields.erase("initial");
  auto found = std::ranges::find(opens_, fields);
  if (found == opens_.end()) found = opens_.insert(opens_.end(), std::move(fields));
  return numbered("OPEN", static_cast<std::size_t>(found - opens_.begin()));
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
    return !room.empty() && text.starts_with(room + "/");
  };
  if (is_in(session_.room)) return "here + " + python::quoted(text.substr(session_.room.size()));
  if (!is_in(session_.second_room)) return python::quoted(text);
  std::string path = text.substr(session_.second_room.size());
  constexpr std::string_view saved = "/checkpoints/";
  if (path.starts_with(saved)) path.replace(0, saved.size(), "/again/");
  return "here + " + python::quoted(path);
}

void SessionRequests::write_damage(Code& code, std::size_t i) {
  auto const found = session_.damage.find(i);
  if (found == session_.damage.end()) return;
  for (FileDamage const& damage : found->second) {
    std::string const path = in_checkpoints(damage.file);
    if (damage.how == Fault::Then::flip_byte) {
      helpers_.flip = true;
      code.line(fmt::format("flip({}, {})", path, damage.at));
    } else if (damage.how == Fault::Then::truncate) {
      code.line(fmt::format("os.truncate({}, {})", path, damage.at));
    } else if (damage.how == Fault::Then::remove_file) {
      code.line(fmt::format("os.remove({})", path));
    } else {
      code.call("shutil.copy", {among_older(damage.file), path});
    }
  }
}

// What a stale file is taken from: the save before the last one.
void SessionRequests::keep_files(Code& code, std::size_t i) {
  if (!is_whole_save(at(i))) return;
  for (auto const& [load, damages] : session_.damage)
    for (FileDamage const& damage : damages) {
      if (damage.how != Fault::Then::stale_file || save_before_last(damage, load) != i) continue;
      std::string const checkpoint = checkpoint_of(damage);
      copies_files_ = true;
      return code.call("shutil.copytree",
                       {in_checkpoints(checkpoint), among_older(checkpoint), "dirs_exist_ok=True"});
    }
}

std::optional<std::size_t> SessionRequests::save_before_last(FileDamage const& damage,
                                                             std::size_t load) const {
  std::string const directory = session_.room + "/checkpoints/" + checkpoint_of(damage);
  int saves = 0;
  for (std::size_t i = load; i-- > 0;)
    if (is_whole_save(at(i)) && at(i).fields["directory"] == directory && ++saves == 2) return i;
  return std::nullopt;
}

}  // namespace adamant::scenarios::script
