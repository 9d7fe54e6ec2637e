#include "scenarios/peers/script/driver_open.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "scenarios/peers/script/no_script.h"

namespace adamant::scenarios::script {

namespace {

using Json = nlohmann::json;
using python::Literal;

/// What an `open` may say; what else it says has no argument.
constexpr auto fields_of_open =
    std::to_array<std::string_view>({"world", "layout", "microbatches", "params", "groups",
                                     "optimizer", "precision", "options", "initial"});
constexpr auto fields_of_world = std::to_array<std::string_view>({"shard", "replicate", "outer"});
constexpr auto fields_of_optimizer =
    std::to_array<std::string_view>({"mode", "step_counter", "clip", "loss_scale"});
constexpr auto fields_of_param =
    std::to_array<std::string_view>({"name", "shape", "group", "unit", "parts"});
constexpr auto fields_of_group = std::to_array<std::string_view>(
    {"name", "lr", "betas", "eps", "weight_decay", "bias_correction"});
constexpr auto setting_order = std::span(fields_of_group).subspan<1>();
constexpr auto type_order = std::to_array<std::string_view>(
    {"param", "grad", "main", "exp_avg", "exp_avg_sq", "state_scale"});

void expect_only(Json const& object, std::span<std::string_view const> known) {
  for (auto const& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      throw NoScript(fmt::format("Driver.open has no argument for `{}`", key));
}

class Opened {
 public:
  Opened(Json const& request, std::vector<std::string> const& order, Json const& offered)
      : request_(request), order_(order), offered_(offered) {
    expect_only(request, fields_of_open);
    expect_only(request["world"], fields_of_world);
    expect_only(request["optimizer"], fields_of_optimizer);
    expect_only(request["precision"], type_order);
    for (Json const& param : request["params"]) expect_only(param, fields_of_param);
    for (Json const& group : request["groups"]) expect_only(group, fields_of_group);
  }

  std::vector<OpenArgument> arguments() {
    add_world();
    add_params();
    Json const& optimizer = request_["optimizer"];
    add("mode", optimizer["mode"], optimizer["mode"] == "adamw");
    add("step_counter", optimizer["step_counter"], optimizer["step_counter"] == "parameter");
    add("clip", optimizer["clip"], optimizer["clip"].is_null());
    add("loss_scale", optimizer["loss_scale"], optimizer["loss_scale"] == "none");
    add_types();
    add_options();
    add_settings();
    return std::move(arguments_);
  }

 private:
  void add(std::string name, Literal value, bool usual) {
    arguments_.push_back({.name = std::move(name), .value = std::move(value), .usual = usual});
  }
  void add(std::string name, Json const& value, bool usual) {
    add(std::move(name), literal_of_json(value), usual);
  }
  /// A dictionary that is left out where it is empty.
  void add_items(std::string name, std::vector<Literal> items) {
    bool const empty = items.empty();
    add(std::move(name), python::dictionary(std::move(items)), empty);
  }

  void add_world() {
    Json const& world = request_["world"];
    add("shard", world["shard"], false);
    add("replicate", world["replicate"], world["replicate"] == 1);
    Json const outer = world.value("outer", Json("none"));
    add("outer", outer, outer == "none");
    add("layout", request_["layout"], request_["layout"] == "fsdp2");
    auto const ranks = world["shard"].get<int>() * world["replicate"].get<int>();
    bool const usual = request_["microbatches"] == ranks;
    add("microbatches", usual ? Json() : request_["microbatches"], usual);
  }

  void add_params() {
    std::vector<std::string> names;
    std::vector<Literal> units;
    std::vector<Literal> parts;
    for (Json const& param : request_["params"]) {
      names.push_back(param["name"].get<std::string>());
      if (param["unit"] != 0)
        units.push_back(python::keyed(names.back(), literal_of_json(param["unit"])));
      if (param.contains("parts"))
        parts.push_back(python::keyed(names.back(), literal_of_json(param["parts"])));
    }
    add("order", names == order_ ? Json() : Json(names), names == order_);
    add_items("units", std::move(units));
    add_items("parts", std::move(parts));
    add_groups();
  }

  void add_groups() {
    Json const& groups = request_["groups"];
    std::vector<Literal> items;
    for (std::size_t g = 1; g < groups.size(); ++g) {
      Json params = Json::array();
      for (Json const& param : request_["params"])
        if (param["group"] == g) params.push_back(param["name"]);
      std::vector<Literal> settings = {python::keyed("params", literal_of_json(params))};
      for (auto const& [key, value] : groups[g].items())
        if (key != "name" && value != groups[0][key])
          settings.push_back(python::keyed(key, literal_of_json(value)));
      items.push_back(python::keyed(groups[g]["name"].get<std::string>(),
                                    python::dictionary(std::move(settings))));
    }
    add_items("groups", std::move(items));
  }

  /// Those that are not what Driver takes by itself.
  void add_types() {
    std::vector<Literal> items;
    for (std::string_view const key : type_order) {
      std::string_view const usual = key == "main" ? "none" : "fp32";
      if (!request_["precision"].contains(key)) continue;
      Json const& type = request_["precision"][key];
      if (type != usual) items.push_back(python::keyed(key, literal_of_json(type)));
    }
    add_items("types", std::move(items));
  }

  void add_settings() {
    Json const& settings = request_["groups"][0];
    for (std::string_view const key : setting_order)
      add(std::string(key), settings[key], key == "bias_correction" && settings[key] == true);
  }

  void add_options() {
    std::vector<Literal> items;
    for (auto const& [name, value] : request_["options"].items())
      if (value != offered_[name][0]) items.push_back(python::keyed(name, literal_of_json(value)));
    add_items("options", std::move(items));
  }

  Json const& request_;
  std::vector<std::string> const& order_;
  Json const& offered_;
  std::vector<OpenArgument> arguments_;
};

}  // namespace

std::vector<OpenArgument> open_arguments(Json const& request, std::vector<std::string> const& order,
                                         Json const& offered) {
  return Opened(request, order, offered).arguments();
}

Literal literal_of_json(Json const& value) {
  if (value.is_null()) return python::atom("None");
  if (value.is_boolean()) return python::atom(value.get<bool>() ? "True" : "False");
  if (value.is_string()) return python::atom(python::quoted(value.get<std::string>()));
  if (!value.is_structured()) return python::atom(value.dump());
  std::vector<Literal> items;
  for (auto const& [key, item] : value.items())
    items.push_back(value.is_object() ? python::keyed(key, literal_of_json(item))
                                      : literal_of_json(item));
  return value.is_object() ? python::dictionary(std::move(items)) : python::list(std::move(items));
}

}  // namespace adamant::scenarios::script
