#include "scenarios/peers/script/session_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "scenarios/peers/script/expected.h"
#include "scenarios/report/words/words.h"

namespace adamant::scenarios::script {

namespace {

using Json = nlohmann::json;

bool failed(Exchange const& exchange) {
  return exchange.reply && exchange.reply->value("outcome", "") != "ok";
}

/// Behind a parameter's name in a file.
std::string_view part_of(Breach breach) {
  constexpr std::string_view parts[] = {"", "/scale", "/raw", "/amax", "/history", "/next_scale"};
  return breach <= Breach::other_next_scale ? parts[static_cast<std::size_t>(breach)] : "";
}

std::string entry_named(std::string_view list, int rank, std::string_view name) {
  return fmt::format("next(at for at in state[\"ranks\"][{}][\"{}\"] if at[\"name\"] == {})", rank,
                     list, python::quoted(name));
}

/// A JSON number as adamant reads it, in binary32.
std::string single(std::string const& value) {
  return fmt::format("struct.unpack(\"<f\", struct.pack(\"<f\", float({})))[0]", value);
}

class LookOfState {
 public:
  LookOfState(Session const& session, Violation const& violation)
      : session_(session), violation_(violation) {}

  Look look() {
    look_.at = find_state();
    look_.place = place_of(violation_);
    if (violation_.law == Law::ranks_agree) {
      look_.kind = Look::Kind::ranks;
      look_.first = first_rank();
      add(look_.first, "expected");
    } else {
      look_.expected = expected_text(violation_);
    }
    add(violation_.rank, "actual");
    return std::move(look_);
  }

 private:
  Json const& open() const {
    for (std::size_t i = look_.at; i-- > 0;)
      if (session_.exchanges[i].verb == "open") return session_.exchanges[i].fields;
    throw NoScript("no world is open where it shows");
  }

  std::size_t find_state() const {
    auto const* const tensor = about<Tensor>(violation_);
    bool const whole = tensor != nullptr && tensor->whole;
    for (std::size_t i = session_.exchanges.size(); i-- > 0;) {
      Exchange const& exchange = session_.exchanges[i];
      if (exchange.verb == "state" && exchange.fields["whole"] == whole) return i;
    }
    throw NoScript("no state was asked for that shows it");
  }

  /// With which the rank is compared: the one that has the same elements, else the first.
  int first_rank() const {
    Json const& world = open()["world"];
    int const shards = world["shard"].get<int>();
    int const all = shards * world["replicate"].get<int>();
    auto const* const tensor = about<Tensor>(violation_);
    bool const shared_out =
        world.contains("outer") && tensor != nullptr && tensor->kind != TensorKind::parameter;
    int const holders = shared_out ? all : shards;
    return tensor != nullptr && violation_.rank >= holders ? violation_.rank % holders : 0;
  }

  void line(std::string text) { look_.lines.push_back(std::move(text)); }

  void add(int rank, std::string const& name) {
    if (auto const* tensor = about<Tensor>(violation_)) return add_tensor(*tensor, rank, name);
    if (auto const* steps = about<StepCount>(violation_))
      return line(fmt::format("{} = str({}[\"steps\"])", name,
                              entry_named("shards", rank, steps->parameter)));
    if (auto const* number = about<ScalingNumber>(violation_))
      return add_scaling(*number, rank, name);
    if (auto const* settings = about<GroupSettings>(violation_))
      return add_setting(*settings, rank, name);
    refuse();
  }

  void add_scaling(ScalingNumber number, int rank, std::string const& name) {
    constexpr std::string_view keys[] = {"loss_scale",  "skipped",  "inverse",        "norm",
                                         "coefficient", "max_norm", "growth_tracker", "hysteresis"};
    std::string_view const key = keys[static_cast<std::size_t>(number)];
    bool const usually_one =
        number == ScalingNumber::inverse || number == ScalingNumber::coefficient;
    line(fmt::format("value = state[\"ranks\"][{}][\"scale\"].get(\"{}\", {}) or 0", rank, key,
                     usually_one ? 1 : 0));
    line(fmt::format("{} = {}.hex()", name, single("value")));
  }

  void add_setting(GroupSettings const& settings, int rank, std::string const& name) {
    auto const difference = setting_difference(violation_);
    if (!difference) refuse();
    std::string const group =
        open()["groups"][static_cast<std::size_t>(settings.group)]["name"].get<std::string>();
    look_.place = fmt::format("{} of group {}", difference->key, group.empty() ? "0" : group);
    line(fmt::format("value = {}{}", entry_named("groups", rank, group), key_of(*difference)));
    line("value = " + single("value"));
    line(fmt::format("{} = f\"{{value:.9g}}\"", name));
  }

  void add_tensor(Tensor const& tensor, int rank, std::string const& name) {
    std::string const key =
        fmt::format("{}/{}{}", tensor.whole ? "whole" : "local",
                    tensor_name(tensor.parameter, tensor.kind), part_of(violation_.breach));
    std::string const shard = entry_named("shards", rank, tensor.parameter);
    switch (violation_.breach) {
      case Breach::gradient_presence:
        return line(fmt::format("{} = \"{}\" if {}[\"has_gradient\"] else \"{}\"", name,
                                presence(true), shard, presence(false)));
      case Breach::other_type:
        look_.reads_headers = true;
        look_.expected = dtype_expected();
        return line(
            fmt::format("{} = header(state, {})[{}][\"dtype\"]", name, rank, python::quoted(key)));
      case Breach::other_elements:
        return add_elements(shard, key, rank, name);
      default:
        break;
    }
    bool const of_whole = violation_.index < 0;
    if (violation_.breach > Breach::outside_step ||
        (of_whole && violation_.breach == Breach::other_value))
      refuse();
    add_number(tensor, key, rank, name);
  }

  std::string dtype_expected() const {
    auto const& stored = std::get<Elements>(violation_.expected);
    if (stored.recipe) refuse();
    return stored.format == NumberFormat::bf16   ? "BF16"
           : stored.format == NumberFormat::fp16 ? "F16"
                                                 : "F32";
  }

  void add_elements(std::string const& shard, std::string const& key, int rank,
                    std::string const& name) {
    auto const* const right = std::get_if<Elements>(&violation_.expected);
    auto const* const wrong = std::get_if<Elements>(&violation_.actual);
    if (right == nullptr || right->ranges.size() > 1) refuse();
    if (wrong != nullptr && wrong->ranges != right->ranges) {
      look_.expected = right->ranges.empty()
                           ? "no rows"
                           : fmt::format("rows {} to {}", right->ranges[0].begin / right->row_numel,
                                         right->ranges[0].end / right->row_numel);
      line("shard = " + shard);
      line("begin, rows = shard[\"offsets\"][0], shard[\"shape\"][0]");
      return line(fmt::format(
          "{} = f\"rows {{begin}} to {{begin + rows}}\" if rows else \"no rows\"", name));
    }
    look_.reads_headers = true;
    look_.expected = "a tensor";
    line(fmt::format("{} = \"a tensor\" if {} in header(state, {}) else \"nothing\"", name,
                     python::quoted(key), rank));
  }

  /// Where in a rank's file the element is.
  std::int64_t local_index(Tensor const& tensor, int rank, bool of_rows) const {
    std::int64_t const index = std::max<std::int64_t>(violation_.index, 0);
    if (tensor.whole || !of_rows) return index;
    Json const& shards =
        session_.exchanges[look_.at].reply->at("ranks")[static_cast<std::size_t>(rank)]["shards"];
    auto const shard = std::ranges::find_if(
        shards, [&](Json const& at) { return at["name"] == tensor.parameter; });
    std::int64_t begin = (*shard)["offsets"][0].get<std::int64_t>();
    for (std::size_t d = 1; d < (*shard)["shape"].size(); ++d)
      begin *= (*shard)["shape"][d].get<std::int64_t>();
    return violation_.breach == Breach::other_scale ? index - begin / 32 : index - begin;
  }

  // Of mxfp8 a rank has the scales of its own rows, each of 32 elements.
  void add_number(Tensor const& tensor, std::string const& key, int rank, std::string const& name) {
    look_.reads_numbers = true;
    std::string const param = open()["precision"]["param"].get<std::string>();
    Breach const breach = violation_.breach;
    bool const mx_scale =
        breach == Breach::other_scale && param == "mxfp8" && tensor.kind == TensorKind::parameter;
    bool const of_rows = breach == Breach::other_value || breach == Breach::other_code ||
                         mx_scale || breach >= Breach::outside_reduction;
    std::int64_t const index = local_index(tensor, rank, of_rows);
    bool const pairs = breach == Breach::other_code && param == "nvfp4";
    std::string const number = fmt::format("element(state, {}, {}, {})", rank, python::quoted(key),
                                           pairs ? index / 2 : index);
    if (may_be_missing(tensor)) {  // a moment that was not made yet counts as zeros
      look_.reads_headers = true;
      return line(fmt::format("{} = ({} if {} in header(state, {}) else 0.0).hex()", name, number,
                              python::quoted(key), rank));
    }
    if (!std::holds_alternative<Count>(violation_.expected))
      return line(fmt::format("{} = {}.hex()", name, number));
    std::string const byte = "int(" + number + ")";
    std::string const half = index % 2 == 0 ? " & 15" : " >> 4";
    line(fmt::format("code = {}", pairs ? byte + half : byte));
    line(fmt::format("{} = f\"code {{code:#04x}}\"", name));
  }

  bool may_be_missing(Tensor const& tensor) const {
    bool const moment = tensor.kind == TensorKind::exp_avg || tensor.kind == TensorKind::exp_avg_sq;
    auto const* const actual = std::get_if<Number>(&violation_.actual);
    return moment && actual != nullptr && actual->value() == 0.0F;
  }

  [[noreturn]] void refuse() const {
    throw NoScript("no reply of the engine shows by itself what the violation is about: " +
                   message_of(violation_));
  }

  Session const& session_;
  Violation const& violation_;
  Look look_;
};

/// The last request of that name; any where it is empty.
std::size_t last_request(Session const& session, std::string_view verb) {
  for (std::size_t i = session.exchanges.size(); i-- > 0;) {
    Exchange const& exchange = session.exchanges[i];
    if (verb.empty() ? exchange.verb != "close" : exchange.verb == verb) return i;
  }
  throw NoScript("the session has no such request");
}

/// What a rank said that failed, first those that say why.
Json const* failure_in(Json const& reply) {
  for (char const* const outcome : {"error", "died", "timed_out"}) {
    if (reply.contains("ranks") && !reply["ranks"].empty()) {
      for (Json const& rank : reply["ranks"])
        if (rank.value("outcome", "") == outcome) return &rank;
    } else if (reply.value("outcome", "") == outcome) {
      return &reply;
    }
  }
  return nullptr;
}

/// What the same failure has in its reply once more, as Python writes that.
std::vector<std::string> words_of(Json const& failure) {
  std::string const outcome = failure.value("outcome", "");
  std::vector<std::string> words = {fmt::format("'outcome': '{}'", outcome)};
  for (char const* const status : {"signal", "exit_status"})
    if (outcome == "died" && failure.contains(status))
      words.push_back(fmt::format("'{}': {}", status, failure[status].dump()));
  if (outcome != "error" || !failure.contains("error")) return words;
  Json const& error = failure["error"];
  words.push_back(fmt::format("'type': '{}'", error.value("type", "")));
  auto const said = error_words({.text = "Error: " + error.value("text", "")});
  if (said.size() > 1) words.push_back(said[1]);
  return words;
}

Look look_of_failure(Session const& session, std::string_view verb) {
  std::size_t const at = last_request(session, verb);
  Exchange const& exchange = session.exchanges[at];
  Look look{.kind = Look::Kind::failure, .at = at, .place = exchange.verb};
  look.expected = "no failure";
  Json const* const failure = exchange.reply ? failure_in(*exchange.reply) : nullptr;
  if (failure == nullptr) throw NoScript("the request that fails is not answered as a failure");
  look.words = words_of(*failure);
  return look;
}

Look look_of_calls(Session const& session, Violation const& violation) {
  switch (violation.breach) {
    case Breach::failed:
    case Breach::no_answer: {
      auto const* const call = about<Call>(violation);
      return look_of_failure(session, call == nullptr ? "" : call->verb);
    }
    case Breach::not_loaded:
      return look_of_failure(session, "load");
    case Breach::damage_unnoticed:
    case Breach::damage_misjudged:
      return {.kind = Look::Kind::no_failure,
              .at = last_request(session, "load"),
              .place = "load",
              .expected = "an error of type damaged_checkpoint"};
    default:
      throw NoScript("no reply of the engine shows it by itself: " + message_of(violation));
  }
}

}  // namespace

Look look_of(Session const& session) {
  if (session.violation) {
    Violation const& violation = *session.violation;
    bool const of_state =
        about<Tensor>(violation) != nullptr || about<StepCount>(violation) != nullptr ||
        about<ScalingNumber>(violation) != nullptr || about<GroupSettings>(violation) != nullptr;
    return of_state ? LookOfState(session, violation).look() : look_of_calls(session, violation);
  }
  Exchange const& last = session.exchanges.back();
  if (!last.reply)
    return {.kind = Look::Kind::no_answer,
            .at = session.exchanges.size() - 1,
            .place = last.verb,
            .expected = "an answer"};
  bool const broke_off = last.verb == "state" && failed(last);
  return look_of_failure(session, broke_off ? "state" : "load");
}

}  // namespace adamant::scenarios::script
