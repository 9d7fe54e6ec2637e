#include "scenarios/peers/script/session_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/session_helpers.h"
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

  /// Nothing where no crash left two states to choose from.
  std::optional<Look> look_with_both() {
    look_.at = find_state();
    keep_both_states();
    if (look_.kind != Look::Kind::either) return std::nullopt;
    look_.lines = {"actual = found(state)"};
    return std::move(look_);
  }

  Look look() {
    look_.at = find_state();
    look_.place = place_of(violation_);
    if (violation_.law == Law::ranks_agree) {
      look_.kind = Look::Kind::ranks;
      look_.first = first_rank();
      add(look_.first, "expected");
    } else if (session_.second) {
      return look_at_both();
    } else {
      look_.expected = expected_text(violation_);
    }
    add(violation_.rank, "actual");
    return std::move(look_);
  }

 private:
  /// What the first run shows is kept.
  Look look_at_both() {
    look_.kind = Look::Kind::runs;
    std::size_t const shown = look_.at;
    auto const before = last_before(*session_.second, is_look);
    if (!before) refuse();
    look_.at = *before;
    add(holder_in(*session_.exchanges[*before].reply), "expected");
    look_.kept.push_back({.at = *before, .lines = std::exchange(look_.lines, {})});
    look_.at = shown;
    add(holder_in(*session_.exchanges[shown].reply), "actual");
    return std::move(look_);
  }

  static bool is_look(Exchange const& exchange) {
    return exchange.verb == "state" && exchange.fields["whole"] == false;
  }

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

  /// A save that a crash ended has left what it should save, or what was saved before.
  void keep_both_states() {
    auto const load = last_before(look_.at, [](Exchange const& at) { return at.verb == "load"; });
    if (!load) return;
    Json const& directory = session_.exchanges[*load].fields["directory"];
    auto const saves_there = [&](Exchange const& at, bool crashed) {
      return at.verb == "save" && at.fields["directory"] == directory && failed(at) == crashed;
    };
    auto const crash =
        last_before(*load, [&](Exchange const& at) { return saves_there(at, true); });
    if (!crash) return;
    auto const save =
        last_before(*crash, [&](Exchange const& at) { return saves_there(at, false); });
    auto const newest = last_before(*crash, [](Exchange const& at) { return at.verb == "state"; });
    if (!save || !newest || *newest < *save + 1) return;
    if (!has_types_of(*newest))
      throw NoScript("what is loaded in other types has other bits than what was saved");
    look_.kind = Look::Kind::either;
    keep(*save + 1, "older");
    keep(*newest, "newer");
  }

  /// Does the state show each tensor in the type that that one did?
  bool has_types_of(std::size_t other) const {
    auto const& now = session_.exchanges[look_.at].types;
    auto const& then = session_.exchanges[other].types;
    if (now.empty() || then.empty()) return true;
    return std::ranges::all_of(now.front(), [&](auto const& named) {
      auto const before = then.front().find(named.first);
      return before == then.front().end() || before->second == named.second;
    });
  }

  template <typename Is>
  std::optional<std::size_t> last_before(std::size_t end, Is const& is) const {
    for (std::size_t i = end; i-- > 0;)
      if (is(session_.exchanges[i])) return i;
    return std::nullopt;
  }

  void keep(std::size_t i, std::string const& name) {
    look_.kept.push_back({.at = i, .lines = {name + " = found(state)"}});
  }

  /// The rank that has the element; the first where none is meant.
  int holder_in(Json const& reply) const {
    auto const* const tensor = about<Tensor>(violation_);
    for (int rank = 0; tensor != nullptr && rank < std::ssize(reply["ranks"]); ++rank) {
      auto const rows = rows_of(reply, rank, tensor->parameter);
      if (rows.begin <= violation_.index && violation_.index < rows.end) return rank;
    }
    return 0;
  }

  /// A rank's elements of a parameter.
  static ElementRange rows_of(Json const& reply, int rank, std::string const& parameter) {
    Json const& shards = reply["ranks"][static_cast<std::size_t>(rank)]["shards"];
    auto const shard =
        std::ranges::find_if(shards, [&](Json const& at) { return at["name"] == parameter; });
    std::int64_t row = 1;
    for (std::size_t d = 1; d < (*shard)["shape"].size(); ++d)
      row *= (*shard)["shape"][d].get<std::int64_t>();
    std::int64_t const begin = row * (*shard)["offsets"][0].get<std::int64_t>();
    return {.begin = begin, .end = begin + row * (*shard)["shape"][0].get<std::int64_t>()};
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
    bool const of_element =
        violation_.breach <= Breach::outside_step || violation_.breach == Breach::other_in_run;
    if (!of_element || (of_whole && violation_.breach == Breach::other_value)) refuse();
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
    std::int64_t const begin =
        rows_of(*session_.exchanges[look_.at].reply, rank, tensor.parameter).begin;
    return violation_.breach == Breach::other_scale ? index - begin / 32 : index - begin;
  }

  // Of mxfp8 a rank has the scales of its own rows, each of 32 elements.
  void add_number(Tensor const& tensor, std::string const& key, int rank, std::string const& name) {
    std::string const param = open()["precision"]["param"].get<std::string>();
    Breach const breach = violation_.breach;
    bool const mx_scale =
        breach == Breach::other_scale && param == "mxfp8" && tensor.kind == TensorKind::parameter;
    bool const of_rows = breach == Breach::other_value || breach == Breach::other_code ||
                         mx_scale || breach >= Breach::outside_reduction;
    std::int64_t const index = local_index(tensor, rank, of_rows);
    bool const pairs = breach == Breach::other_code && param == "nvfp4";
    std::int64_t const at = pairs ? index / 2 : index;
    bool const of_code = std::holds_alternative<Count>(violation_.expected);
    std::string const before = of_code ? "code = " : name + " = ";
    std::string const after = of_code ? "" : ".hex()";
    PlaceInFile const place{.rank = std::to_string(rank),
                            .key = python::quoted(key),
                            .index = std::to_string(at),
                            .type = type_of(tensor, key, rank)};
    if (look_.kind == Look::Kind::value)
      add_reading(place, before, after, may_be_missing(tensor));
    else
      add_element(place, before, after, may_be_missing(tensor));
    if (!of_code) return;
    if (pairs) line(index % 2 == 0 ? "code &= 15" : "code >>= 4");
    line(fmt::format("{} = f\"code {{code:#04x}}\"", name));
  }

  void add_reading(PlaceInFile const& place, std::string const& before, std::string const& after,
                   bool may_be_missing) {
    std::vector<std::string> lines = reading(place, before, after);
    if (may_be_missing) {
      for (std::size_t i = 2; i < lines.size(); ++i) lines[i].insert(0, "    ");
      auto const there = lines.begin() + 2;
      lines.insert(there,
                   {fmt::format("    {}\"0x0.0p+0\"  # a moment that was not made yet", before),
                    fmt::format("    if {} in header:", place.key)});
    }
    for (std::string& text : lines) line(std::move(text));
  }

  void add_element(PlaceInFile const& place, std::string const& before, std::string const& after,
                   bool may_be_missing) {
    if (look_.reads_numbers.value_or(place.type) != place.type) refuse();  // it reads one type
    look_.reads_numbers = place.type;
    look_.misses_tensors = look_.misses_tensors || may_be_missing;
    line(fmt::format("{}element(state, {}, {}, {}){}", before, place.rank, place.key, place.index,
                     after));
  }

  /// As the engine showed it; where it did not, as the scenario has it.
  NumberFormat type_of(Tensor const& tensor, std::string const& key, int rank) const {
    auto const& types = session_.exchanges[look_.at].types;
    auto const at = static_cast<std::size_t>(rank);
    if (at < types.size())
      if (auto const found = types[at].find(key); found != types[at].end()) return found->second;
    bool const second = tensor.kind == TensorKind::exp_avg_sq;
    std::string const kept = open()["precision"].value(second ? "exp_avg_sq" : "exp_avg", "");
    return kept == "bf16" ? NumberFormat::bf16 : NumberFormat::fp32;
  }

  /// A moment that was not made yet counts as zeros.
  bool may_be_missing(Tensor const& tensor) const {
    bool const moment = tensor.kind == TensorKind::exp_avg || tensor.kind == TensorKind::exp_avg_sq;
    auto const is_zero = [](Value const& value) {
      auto const* const number = std::get_if<Number>(&value);
      return number != nullptr && number->value() == 0.0F;
    };
    return moment &&
           (is_zero(violation_.actual) || (session_.second && is_zero(violation_.expected)));
  }

  [[noreturn]] void refuse() const {
    throw NoScript("no reply of the engine shows by itself what the violation is about: " +
                   message_of(violation_));
  }

  Session const& session_;
  Violation const& violation_;
  Look look_;
};

}  // namespace

Look look_at_state(Session const& session, Violation const& violation) {
  if (violation.law == Law::checkpoint_atomic)
    if (auto const look = LookOfState(session, violation).look_with_both()) return *look;
  return LookOfState(session, violation).look();
}

}  // namespace adamant::scenarios::script
