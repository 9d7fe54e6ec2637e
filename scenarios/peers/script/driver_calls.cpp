#include "scenarios/peers/script/driver_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/look_words.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/peers/script/older_save.h"

namespace adamant::scenarios::script {

namespace {

using Json = nlohmann::json;
using python::Block;
using python::Code;
using python::Literal;

/// In an iteration, behind its backward.
constexpr auto follow_backward = std::to_array<std::string_view>({"clip", "step", "zero_grad"});

/// On one line, on two with all arguments on the second, else with one a line.
void write_method(Code& code, std::string_view method, std::vector<Literal> const& arguments) {
  std::vector<std::string> texts;
  for (Literal const& argument : arguments) {
    std::string text = python::source_of(argument);
    text.pop_back();  // the end of the line
    bool const breaks = text.find('\n') != std::string::npos || !code.fits("    " + text + ",");
    if (breaks) return code.statement(python::call(method, arguments));
    texts.push_back(std::move(text));
  }
  code.call(method, texts);
}

void refuse_others(Exchange const& exchange, std::initializer_list<std::string_view> known) {
  for (auto const& [key, value] : exchange.fields.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw NoScript(fmt::format("Driver.{} has no argument for `{}`", exchange.verb, key));
}

/// Settings as arguments of a call, but for the name.
std::vector<Literal> settings_in(Json const& group) {
  std::vector<Literal> arguments;
  for (auto const& [key, value] : group.items())
    if (key != "name") arguments.push_back(python::argument(key, literal_of_json(value)));
  return arguments;
}

std::string in_path(std::string const& file) {
  return fmt::format("driver.path({})", python::quoted(file));
}

std::string older(std::string const& file) {
  return in_path("older/" + file);
}

}  // namespace

DriverCalls::DriverCalls(Session const& session, Look const& look, DriverNumbers const& numbers,
                         bool packed)
    : session_(session), look_(look), numbers_(numbers) {
  Json const hello = at(0).reply.value_or(Json::object());
  for (std::size_t i = 1; i <= look_.at; ++i) {
    if (is_left_out(i)) continue;
    expect_wanted(i);
    steps_.push_back(i);
    if (at(i).verb == "open")
      opened_.push_back(open_arguments(at(i).fields, numbers_.order(), hello["options"]));
  }
  in_constant_ = packed || opened_.size() > 1;
}

bool DriverCalls::is_kept(std::size_t i) const {
  return i == look_.at ||
         std::ranges::any_of(look_.kept, [&](Kept const& kept) { return kept.at == i; });
}

/// A request and nothing more: it is not looked at, and nothing is done to files before it.
bool DriverCalls::is_plain(std::size_t i) const {
  return !is_kept(i) && !session_.damage.contains(i);
}

// An open closes the world that was there.
bool DriverCalls::is_left_out(std::size_t i) const {
  if (is_kept(i)) return false;
  if (at(i).verb == "state") return true;
  return at(i).verb == "close" && i < look_.at && at(i + 1).verb == "open";
}

/// A crash strikes where it is wanted, or the save is over before.
void DriverCalls::expect_wanted(std::size_t i) const {
  if (is_observed(i)) return;
  std::string const outcome = at(i).reply ? at(i).reply->value("outcome", "") : "";
  if (outcome == "ok" || (at(i).fields.contains("crash") && outcome == "died")) return;
  throw NoScript("a request before the one that shows it fails as well");
}

std::vector<std::pair<std::string, Literal>> DriverCalls::constants() const {
  if (!in_constant_) return {};
  std::vector<Literal> items;
  for (OpenArgument const& argument : opened_.front())
    if (!argument.usual) items.push_back(python::keyed(argument.name, argument.value));
  return {{"OPEN", python::dictionary(std::move(items))}};
}

void DriverCalls::write(Code& code) {
  for (std::size_t step = 0; step < steps_.size();) {
    std::size_t const length = iteration_at(step);
    std::size_t const count = repetitions(step, length);
    if (count > 1)
      write_loop(code, step, length, count);
    else
      write_step(code, steps_[step]);
    step += count > 1 ? length * count : 1;
  }
}

/// How many steps from this one on are an iteration; 0: it is no backward.
std::size_t DriverCalls::iteration_at(std::size_t step) const {
  auto const is = [&](std::size_t s, auto const& wanted) {
    return s < steps_.size() && is_plain(steps_[s]) && wanted(at(steps_[s]).verb);
  };
  if (!is(step, [](std::string const& verb) { return verb == "backward"; })) return 0;
  std::size_t length = 1;
  while (is(step + length, [](std::string const& verb) {
    return std::ranges::find(follow_backward, verb) != follow_backward.end();
  }))
    ++length;
  return length;
}

/// Whatever its gradients are.
std::string DriverCalls::text_of_iteration(std::size_t step, std::size_t length) const {
  std::string text;
  for (std::size_t s = step; s < step + length; ++s) {
    auto [method, arguments] = call_of(steps_[s], "gradients");
    text += python::source_of(python::call(method, std::move(arguments)));
  }
  return text;
}

std::size_t DriverCalls::repetitions(std::size_t step, std::size_t length) const {
  if (length == 0) return 1;
  std::string const text = text_of_iteration(step, length);
  std::size_t count = 1;
  while (iteration_at(step + count * length) == length &&
         text_of_iteration(step + count * length, length) == text)
    ++count;
  return count;
}

void DriverCalls::write_loop(Code& code, std::size_t step, std::size_t length, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < count; ++n)
    names.push_back(numbers_.name_of(steps_[step + n * length]));
  bool const same = std::ranges::count(names, names.front()) == std::ssize(names);
  if (same)
    code.line(fmt::format("for _ in range({}):", count));
  else
    code.call("for gradients in ", names, ":");
  code.indent();
  for (std::size_t s = step; s < step + length; ++s) {
    auto const [method, arguments] = call_of(steps_[s], same ? names.front() : "gradients");
    write_method(code, method, arguments);
  }
  code.dedent();
}

void DriverCalls::write_step(Code& code, std::size_t i) {
  write_damage(code, i);
  bool const shows = at(i).verb == "state" && !is_observed(i);
  if (!shows || !look_.reads_files) {
    auto const call = call_of(i, numbers_.name_of(i));
    if (is_observed(i))
      write_observed(code, call);
    else
      write_method(code, (shows ? "state = " : "") + call.method, call.arguments);
  }
  keep_older(code, i);
  write_lines(code, i);
}

void DriverCalls::write_observed(Code& code, MethodCall const& call) const {
  {
    Block const tried(code, "try:");
    write_method(code, call.method, call.arguments);
    code.line("actual = \"no failure\"");
  }
  Block const failed(code, "except Failed as error:");
  code.line("actual = str(error)");
}

void DriverCalls::write_lines(Code& code, std::size_t i) const {
  if (look_.reads_files) {
    auto const [checkpoint, pattern] = files_like(*session_.violation);
    std::string const directory = i == look_.at ? "again-" + checkpoint : checkpoint;
    if (is_kept(i))
      code.line(fmt::format("{} = digests({}, {})", i == look_.at ? "actual" : "expected",
                            in_path(directory), python::quoted(pattern)));
    return;
  }
  for (Kept const& kept : look_.kept)
    for (std::size_t k = 0; kept.at == i && k < kept.lines.size(); ++k) code.line(kept.lines[k]);
  for (std::size_t k = 0; i == look_.at && k < look_.lines.size(); ++k) code.line(look_.lines[k]);
}

DriverCalls::MethodCall DriverCalls::call_of(std::size_t i, std::string const& gradients) const {
  Exchange const& exchange = at(i);
  std::string const& verb = exchange.verb;
  if (verb == "open") return call_of_open(i);
  if (verb == "backward") return call_of_backward(exchange, gradients);
  if (verb == "set") return call_of_set(exchange);
  if (verb == "save" || verb == "load") return call_of_files(exchange);
  MethodCall call{.method = "driver." + verb, .arguments = {}};
  if (verb == "state") {
    refuse_others(exchange, {"prefix", "whole"});
    if (exchange.fields["whole"] == true) call.arguments = {python::atom("whole=True")};
  } else if (verb == "zero_grad") {
    refuse_others(exchange, {"set_to_none"});
    if (exchange.fields.value("set_to_none", true) == false)
      call.arguments = {python::atom("set_to_none=False")};
  } else {
    refuse_others(exchange, {});
  }
  return call;
}

DriverCalls::MethodCall DriverCalls::call_of_open(std::size_t i) const {
  auto const number = static_cast<std::size_t>(std::count_if(
      steps_.begin(), std::ranges::find(steps_, i), [&](auto s) { return at(s).verb == "open"; }));
  std::vector<OpenArgument> const& opened = opened_[number];
  MethodCall call{.method = "driver.open", .arguments = {python::atom(numbers_.name_of(i))}};
  if (!in_constant_) {
    for (OpenArgument const& argument : opened)
      if (!argument.usual)
        call.arguments.push_back(python::argument(argument.name, argument.value));
    return call;
  }
  std::vector<Literal> changed;
  for (std::size_t a = 0; a < opened.size(); ++a)
    if (python::source_of(opened[a].value) != python::source_of(opened_.front()[a].value))
      changed.push_back(python::keyed(opened[a].name, opened[a].value));
  if (changed.empty()) {
    call.arguments.push_back(python::atom("**OPEN"));
  } else {
    Literal with = python::dictionary(std::move(changed));
    with.prefix = "**OPEN | ";
    call.arguments.push_back(std::move(with));
  }
  return call;
}

DriverCalls::MethodCall DriverCalls::call_of_backward(Exchange const& exchange,
                                                      std::string const& gradients) const {
  refuse_others(exchange, {"gradients", "without", "loss_scale", "overflow"});
  MethodCall call{.method = "driver.backward", .arguments = {python::atom(gradients)}};
  auto const add = [&](char const* name) {
    call.arguments.push_back(python::argument(name, literal_of_json(exchange.fields[name])));
  };
  if (exchange.fields.contains("without") && !exchange.fields["without"].empty()) add("without");
  if (exchange.fields.value("loss_scale", 1.0) != 1.0) add("loss_scale");
  if (exchange.fields.contains("overflow")) add("overflow");
  return call;
}

DriverCalls::MethodCall DriverCalls::call_of_set(Exchange const& exchange) const {
  refuse_others(exchange, {"groups", "clip", "loss_scale"});
  MethodCall call{.method = "driver.set", .arguments = {}};
  std::vector<Literal> groups;
  for (Json group : exchange.fields.value("groups", Json::array())) {
    std::string const name = group["name"].get<std::string>();
    group.erase("name");
    if (name.empty())
      call.arguments = settings_in(group);
    else
      groups.push_back(python::keyed(name, literal_of_json(group)));
  }
  for (char const* const key : {"clip", "loss_scale"})
    if (exchange.fields.contains(key))
      call.arguments.push_back(python::argument(key, literal_of_json(exchange.fields[key])));
  if (!groups.empty())
    call.arguments.push_back(python::argument("groups", python::dictionary(std::move(groups))));
  return call;
}

DriverCalls::MethodCall DriverCalls::call_of_files(Exchange const& exchange) const {
  refuse_others(exchange, {"directory", "crash"});
  std::string const name = checkpoint_in(exchange.fields["directory"].get<std::string>());
  MethodCall call{.method = "driver." + exchange.verb,
                  .arguments = {python::atom(python::quoted(name))}};
  if (!exchange.fields.contains("crash")) return call;
  Json const& crash = exchange.fields["crash"];
  call.arguments.push_back(
      python::atom(fmt::format("crash=({}, {})", crash["rank"].dump(), crash["operation"].dump())));
  return call;
}

/// Its name; in a second run another one.
std::string DriverCalls::checkpoint_in(std::string const& directory) const {
  constexpr std::string_view between = "/checkpoints/";
  auto const beneath = [&](std::string const& room) {
    return !room.empty() && directory.starts_with(room + std::string(between));
  };
  if (beneath(session_.room)) return directory.substr(session_.room.size() + between.size());
  if (beneath(session_.second_room))
    return "again-" + directory.substr(session_.second_room.size() + between.size());
  throw NoScript("it loads a checkpoint that it did not save");
}

void DriverCalls::write_damage(Code& code, std::size_t i) const {
  auto const found = session_.damage.find(i);
  if (found == session_.damage.end()) return;
  script::write_damage(code, found->second,
                       {.path = in_path, .older = older, .flip = [](FileDamage const& damage) {
                          return fmt::format("driver.flip({}, {})", python::quoted(damage.file),
                                             damage.at);
                        }});
}

void DriverCalls::keep_older(Code& code, std::size_t i) const {
  if (auto const name = kept_for_later(session_, i))
    code.call("shutil.copytree", {in_path(*name), older(*name), "dirs_exist_ok=True"});
}

}  // namespace adamant::scenarios::script
