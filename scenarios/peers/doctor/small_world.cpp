#include "scenarios/peers/doctor/small_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenarios/language/json_text.h"
#include "scenarios/peers/client/gradients.h"
#include "scenarios/peers/client/requests.h"
#include "scenarios/peers/client/scaled_tensors.h"
#include "scenarios/peers/client/tensor_file.h"
#include "scenarios/peers/doctor/offered.h"

namespace adamant::scenarios {

namespace {

using Shape = std::vector<std::int64_t>;

Scenario scenario_for(Patient const& patient) {
  ProbePlan const plan{
      .name = "a small world",
      .program = "[check]",
      .shard = static_cast<int>(std::min<std::int64_t>(2, patient.offered.ranks_max)),
      .optimizer = patient.offered.clip ? "clip: 1.0" : ""};
  return scenario_of(plan, patient.offered, patient.engine);
}

[[noreturn]] void fail(std::string_view where, std::string const& expected,
                       std::string const& found) {
  throw ProbeFailed(fmt::format("{}: expected {}, found {}", where, expected, found));
}

void check_tensor(TensorFile const& file, std::string const& name, Shape const& shape) {
  auto const found = file.find(name);
  if (found == file.end()) fail("a file of state", fmt::format("the tensor `{}`", name), "none");
  if (found->second.shape != shape)
    fail(fmt::format("a file of state, `{}`", name),
         fmt::format("shape [{}]", fmt::join(shape, ", ")),
         fmt::format("[{}]", fmt::join(found->second.shape, ", ")));
}

/// What is read with scales.
void check_parts(TensorFile const& file, ParameterSpec const& spec, Shape const& local) {
  std::string const key = "local/" + spec.name;
  Formats const& formats = spec.formats;
  if (formats.recipe) quantised_rows(file, key, spec, local);
  auto const check_state = [&](char const* part, TensorKind kind, NumberFormat format) {
    if (has_scale(kind, format, formats.state_scale))
      scaled_numbers(file, key + part, format, local);
  };
  check_state("/exp_avg", TensorKind::exp_avg, formats.exp_avg);
  check_state("/exp_avg_sq", TensorKind::exp_avg_sq, formats.exp_avg_sq);
  if (formats.main) check_state("/main", TensorKind::main, *formats.main);
}

}  // namespace

SmallWorld::SmallWorld(Patient const& patient)
    : patient_(patient),
      scenario_(scenario_for(patient)),
      parameters_(parameter_specs(scenario_)),
      room_("doctor") {}

SmallWorld::Json SmallWorld::open() {
  auto const initial = room_.path() / "initial.safetensors";
  write_whole(initial, parameters_, initial_values(parameters_, *scenario_.seed));
  return requests::open({.setting = scenario_,
                         .scenario = scenario_,
                         .clip = scenario_.optimizer.clip,
                         .parameters = parameters_,
                         .options = all_options(patient_.offered, scenario_.engine),
                         .initial = initial});
}

SmallWorld::Json SmallWorld::backward() {
  std::vector<NumberFormat> const formats(parameters_.size(), NumberFormat::bf16);
  auto const ranks = static_cast<int>(scenario_.world.rank_count());
  auto const fed = fed_gradients({.parameters = parameters_,
                                  .formats = formats,
                                  .kind = GradientClass::exact,
                                  .seed = *scenario_.seed,
                                  .microbatches = ranks,
                                  .ranks = ranks},
                                 0, {});
  Json request = {{"gradients", Json::array()}, {"without", Json::array()}, {"loss_scale", 1.0}};
  for (int rank = 0; rank < ranks; ++rank) {
    auto const path = room_.path() / fmt::format("gradients-{}.safetensors", rank);
    write_whole(path, parameters_, fed[static_cast<std::size_t>(rank)]);
    request["gradients"].push_back(path.string());
  }
  return request;
}

SmallWorld::Json SmallWorld::state() const {
  return {{"prefix", (room_.path() / "state").string()}, {"whole", true}};
}

SmallWorld::Json SmallWorld::directory() const {
  return {{"directory", (room_.path() / "checkpoint").string()}};
}

std::vector<SmallWorld::Json> SmallWorld::changes() const {
  std::vector<Json> changes;
  auto const of_group = [&](char const* key, Json const& value) {
    if (offers(patient_.offered.set, key))
      changes.push_back({{"groups", {{{"name", "other"}, {key, value}}}}});
  };
  of_group("lr", 0.5);
  of_group("betas", {0.5, 0.75});
  of_group("eps", 0.125);
  of_group("weight_decay", 0.25);
  if (offers(patient_.offered.set, "clip")) changes.push_back({{"clip", 2.0}});
  return changes;
}

void SmallWorld::check_state(Json const& reply) const {
  check_layout(reply);
  for (Json const& rank : reply["ranks"]) check_file(rank);
}

void SmallWorld::check_layout(Json const& reply) const {
  auto const ranks = static_cast<std::size_t>(scenario_.world.rank_count());
  if (reply["ranks"].size() != ranks)
    fail("a layout", fmt::format("{} ranks", ranks), std::to_string(reply["ranks"].size()));
  for (Json const& rank : reply["ranks"])
    if (rank["shards"].size() != parameters_.size())
      fail("a layout", fmt::format("{} shards", parameters_.size()),
           std::to_string(rank["shards"].size()));
  for (std::size_t p = 0; p < parameters_.size(); ++p) check_rows(reply, p);
}

void SmallWorld::check_rows(Json const& reply, std::size_t parameter) const {
  ParameterSpec const& spec = parameters_[parameter];
  std::int64_t rows = 0;
  for (Json const& rank : reply["ranks"]) {
    Json const& shard = rank["shards"][parameter];
    if (shard["name"] != spec.name)
      fail("a layout", fmt::format("`{}` in the order of open", spec.name), shard["name"].dump());
    Shape expected = spec.shape;
    expected[0] = integer_in<std::int64_t>(shard["shape"].at(0));
    if (integers_in<std::int64_t>(shard["shape"]) != expected)
      fail(fmt::format("the shard of `{}`", spec.name),
           fmt::format("rows of the shape [{}]", fmt::join(spec.shape, ", ")),
           shard["shape"].dump());
    if (expected[0] > 0 && shard["offsets"][0] != rows)
      fail(fmt::format("the shard of `{}`", spec.name), fmt::format("row {} next", rows),
           shard["offsets"].dump());
    rows += expected[0];
  }
  if (rows != spec.rows())
    fail(fmt::format("the shards of `{}`", spec.name), fmt::format("{} rows", spec.rows()),
         std::to_string(rows));
}

void SmallWorld::check_file(Json const& rank) const {
  TensorFile const file = read_tensor_file(rank["file"].get<std::string>());
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    Json const& shard = rank["shards"][p];
    auto const& name = parameters_[p].name;
    auto const local = integers_in<std::int64_t>(shard["shape"]);
    check_tensor(file, "local/" + name, local);
    check_tensor(file, "whole/" + name, parameters_[p].shape);
    if (shard["has_gradient"] == true) check_tensor(file, "local/" + name + "/gradient", local);
    for (char const* const moment : {"/exp_avg", "/exp_avg_sq"})
      if (file.contains("local/" + name + moment))
        check_tensor(file, "local/" + name + moment, local);
    check_parts(file, parameters_[p], local);
  }
}

}  // namespace adamant::scenarios
