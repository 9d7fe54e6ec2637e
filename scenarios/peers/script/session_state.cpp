#include "scenarios/peers/script/session_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios::script {

namespace {

using Reply = nlohmann::json;

bool failed(Exchange const& exchange) {
  return exchange.reply && exchange.reply->value("outcome", "") != "ok";
}

/// What a load restores of a parameter, as keys of files say it.
Json restored_parts(Reply const& precision) {
  Json parts = {""};
  if (precision["main"] != "none") parts.push_back("/main");
  for (char const* const moment : {"exp_avg", "exp_avg_sq"}) {
    parts.push_back(fmt::format("/{}", moment));
    if (precision[moment] == "fp8") parts.push_back(fmt::format("/{}/scale", moment));
  }
  return parts;
}

class LookOfState {
 public:
  LookOfState(Session const& session, Violation const& violation)
      : session_(session), violation_(violation), shown_(find_state()) {
    look_ = {{"kind", "value"}, {"request", shown_}, {"place", place_of(violation_)}};
    if (expects_number(violation_)) look_["number"] = true;
  }

  /// Nothing where no crash left two states to choose from.
  std::optional<Json> look_with_both() const {
    auto const load = last_before(shown_, [](Exchange const& at) { return at.verb == "load"; });
    if (!load) return std::nullopt;
    Reply const& directory = session_.exchanges[*load].fields["directory"];
    auto const save_there = [&](std::size_t end, bool crashed) {
      return last_before(end, [&](Exchange const& at) {
        return at.verb == "save" && at.fields["directory"] == directory && failed(at) == crashed;
      });
    };
    auto const crash = save_there(*load, true);
    if (!crash) return std::nullopt;
    auto const save = save_there(*crash, false);
    auto const newest = last_before(*crash, [](Exchange const& at) { return at.verb == "state"; });
    if (!save || !newest || *newest < *save + 1) return std::nullopt;
    return look_of_both(*save + 1, *newest);
  }

  Json look() {
    int const rank = violation_.rank;
    if (violation_.law == Law::ranks_agree) {
      look_["kind"] = "ranks";
      look_["ranks"] = {first_rank(), rank};
      add("expected", shown_, first_rank());
      add("actual", shown_, rank);
    } else if (session_.second) {
      look_["kind"] = "runs";
      auto const first = last_before(*session_.second, is_look);
      if (!first) refuse();
      add("expected", *first, holder_in(*first));
      add("actual", shown_, holder_in(shown_));
    } else {
      if (!look_.contains("expected")) look_["expected"] = expected_of(violation_);
      add("actual", shown_, rank);
    }
    return std::move(look_);
  }

 private:
  /// What a crash may have left: what the last whole save has, or the one that it ended.
  Json look_of_both(std::size_t older, std::size_t newer) const {
    if (!has_types_of(newer))
      throw NoScript("what is loaded in other types has other bits than what was saved");
    auto const first = std::ranges::find(session_.exchanges, "open", &Exchange::verb);
    Json const parts = restored_parts(first->fields["precision"]);
    auto const side = [&](std::size_t after) {
      return Json{{"after", after}, {"look", "restored"}, {"parts", parts}};
    };
    return {{"kind", "either"},
            {"request", shown_},
            {"place", "what a load restores"},
            {"sides", {{"older", side(older)}, {"newer", side(newer)}, {"actual", side(shown_)}}}};
  }

  static bool is_look(Exchange const& exchange) {
    return exchange.verb == "state" && exchange.fields["whole"] == false;
  }

  Reply const& open_before(std::size_t at) const {
    auto const opened = last_before(at, [](Exchange const& e) { return e.verb == "open"; });
    if (!opened) throw NoScript("no world is open where it shows");
    return session_.exchanges[*opened].fields;
  }

  std::size_t find_state() const {
    auto const* const tensor = about<Tensor>(violation_);
    bool const whole = tensor != nullptr && tensor->whole;
    auto const found = last_before(session_.exchanges.size(), [&](Exchange const& at) {
      return at.verb == "state" && at.fields["whole"] == whole;
    });
    if (!found) throw NoScript("no state was asked for that shows it");
    return *found;
  }

  /// Does the state show each tensor in the type that that one did?
  bool has_types_of(std::size_t other) const {
    auto const& now = session_.exchanges[shown_].types;
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

  /// The rank that has the element; the first where none is meant.
  int holder_in(std::size_t at) const {
    auto const* const tensor = about<Tensor>(violation_);
    Reply const& ranks = (*session_.exchanges[at].reply)["ranks"];
    for (int rank = 0; tensor != nullptr && rank < std::ssize(ranks); ++rank) {
      auto const rows = rows_of(at, rank, tensor->parameter);
      if (rows.begin <= violation_.index && violation_.index < rows.end) return rank;
    }
    return 0;
  }

  /// A rank's elements of a parameter.
  ElementRange rows_of(std::size_t at, int rank, std::string const& parameter) const {
    Reply const& ranks = (*session_.exchanges[at].reply)["ranks"];
    Reply const& shards = ranks[static_cast<std::size_t>(rank)]["shards"];
    auto const shard =
        std::ranges::find_if(shards, [&](Reply const& s) { return s["name"] == parameter; });
    std::int64_t row = 1;
    for (std::size_t d = 1; d < (*shard)["shape"].size(); ++d)
      row *= (*shard)["shape"][d].get<std::int64_t>();
    std::int64_t const begin = row * (*shard)["offsets"][0].get<std::int64_t>();
    return {.begin = begin, .end = begin + row * (*shard)["shape"][0].get<std::int64_t>()};
  }

  /// With which the rank is compared: the one that has the same elements, else the first.
  int first_rank() const {
    Reply const& world = open_before(shown_)["world"];
    int const shards = world["shard"].get<int>();
    int const all = shards * world["replicate"].get<int>();
    auto const* const tensor = about<Tensor>(violation_);
    bool const shared_out =
        world.contains("outer") && tensor != nullptr && tensor->kind != TensorKind::parameter;
    int const holders = shared_out ? all : shards;
    return tensor != nullptr && violation_.rank >= holders ? violation_.rank % holders : 0;
  }

  /// One side of a comparison: what a rank shows behind that request.
  void add(char const* name, std::size_t at, int rank) {
    Json side{{"after", at}, {"rank", rank}};
    if (auto const* tensor = about<Tensor>(violation_))
      side.update(look_at_tensor(*tensor, at, rank));
    else if (auto const* steps = about<StepCount>(violation_))
      side.update({{"look", "steps"}, {"of", steps->parameter}});
    else if (auto const* number = about<ScalingNumber>(violation_))
      side.update(look_at_scaling(*number));
    else if (auto const* settings = about<GroupSettings>(violation_))
      side.update(look_at_setting(*settings, at));
    look_["sides"][name] = std::move(side);
  }

  static Json look_at_scaling(ScalingNumber number) {
    constexpr auto keys =
        std::to_array<std::string_view>({"loss_scale", "skipped", "inverse", "norm", "coefficient",
                                         "max_norm", "growth_tracker", "hysteresis"});
    bool const usually_one =
        number == ScalingNumber::inverse || number == ScalingNumber::coefficient;
    return {{"look", "scale"},
            {"of", keys[static_cast<std::size_t>(number)]},
            {"otherwise", usually_one ? 1 : 0}};
  }

  Json look_at_setting(GroupSettings const& settings, std::size_t at) {
    auto const difference = setting_difference(violation_);
    if (!difference) refuse();
    Reply const& groups = open_before(at)["groups"];
    auto const group = groups[static_cast<std::size_t>(settings.group)]["name"].get<std::string>();
    look_["place"] = fmt::format("{} of group {}", difference->key, group.empty() ? "0" : group);
    Json look{{"look", "setting"}, {"of", difference->key}, {"group", group}};
    if (difference->beta >= 0) look["beta"] = difference->beta;
    return look;
  }

  Json look_at_tensor(Tensor const& tensor, std::size_t at, int rank) {
    std::string const key =
        fmt::format("{}/{}{}", tensor.whole ? "whole" : "local",
                    tensor_name(tensor.parameter, tensor.kind), part_of(violation_.breach).key);
    if (violation_.breach == Breach::gradient_presence)
      return {{"look", "gradient"}, {"of", tensor.parameter}};
    if (violation_.breach == Breach::other_elements) return look_at_elements(tensor.parameter, key);
    if (violation_.breach == Breach::other_type) {
      look_["expected"] = dtype_expected();
      return {{"look", "dtype"}, {"of", key}};
    }
    bool const of_whole = violation_.index < 0;
    bool const of_element = kind_of(violation_.breach) == BreachKind::number ||
                            violation_.breach == Breach::other_in_run;
    if (!of_element || (of_whole && violation_.breach == Breach::other_value)) refuse();
    return look_at_number(tensor, key, at, rank);
  }

  std::string dtype_expected() const {
    auto const& stored = std::get<Elements>(violation_.expected);
    if (stored.recipe) refuse();
    return stored.format == NumberFormat::bf16   ? "BF16"
           : stored.format == NumberFormat::fp16 ? "F16"
                                                 : "F32";
  }

  Json look_at_elements(std::string const& parameter, std::string const& key) {
    auto const* const right = std::get_if<Elements>(&violation_.expected);
    auto const* const wrong = std::get_if<Elements>(&violation_.actual);
    if (right == nullptr || right->ranges.size() > 1) refuse();
    if (wrong == nullptr || wrong->ranges == right->ranges) {
      look_["expected"] = "a tensor";
      return {{"look", "presence"}, {"of", key}};
    }
    look_["expected"] =
        right->ranges.empty()
            ? "no rows"
            : fmt::format("rows {} to {}", right->ranges[0].begin / right->row_numel,
                          right->ranges[0].end / right->row_numel);
    return {{"look", "rows"}, {"of", parameter}};
  }

  /// Where in a rank's file the element is.
  std::int64_t local_index(Tensor const& tensor, std::size_t at, int rank, bool of_rows) const {
    std::int64_t const index = std::max<std::int64_t>(violation_.index, 0);
    if (tensor.whole || !of_rows) return index;
    std::int64_t const begin = rows_of(at, rank, tensor.parameter).begin;
    return violation_.breach == Breach::other_scale ? index - begin / 32 : index - begin;
  }

  // Of mxfp8 a rank has the scales of its own rows, each of 32 elements.
  Json look_at_number(Tensor const& tensor, std::string const& key, std::size_t at,
                      int rank) const {
    std::string const param = open_before(at)["precision"]["param"].get<std::string>();
    Breach const breach = violation_.breach;
    bool const mx_scale =
        breach == Breach::other_scale && param == "mxfp8" && tensor.kind == TensorKind::parameter;
    bool const of_rows = part_of(breach).key.empty() || breach == Breach::other_code || mx_scale;
    std::int64_t const index = local_index(tensor, at, rank, of_rows);
    bool const pairs = breach == Breach::other_code && param == "nvfp4";
    Json look{{"look", std::holds_alternative<Count>(violation_.expected) ? "code" : "number"},
              {"of", key},
              {"index", pairs ? index / 2 : index}};
    if (pairs) look["half"] = index % 2;
    if (may_be_missing(tensor)) look["may_be_missing"] = true;
    return look;
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
  std::size_t shown_;  // the exchange that shows it
  Json look_;
};

}  // namespace

Json look_at_state(Session const& session, Violation const& violation) {
  LookOfState look(session, violation);
  if (violation.law == Law::checkpoint_atomic)
    if (auto both = look.look_with_both()) return std::move(*both);
  return look.look();
}

}  // namespace adamant::scenarios::script
