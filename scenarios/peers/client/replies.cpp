#include "scenarios/peers/client/replies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "scenarios/language/yaml/vocabulary.h"
#include "scenarios/language/yaml/words.h"

namespace adamant::scenarios::replies {

namespace {

using Json = nlohmann::json;

constexpr auto arithmetic_words = std::to_array<std::string_view>({"te", "torch", "interval"});
constexpr auto gradient_type_words = std::to_array<std::string_view>({"grad", "param", "both"});
constexpr auto loss_scale_words = std::to_array<std::string_view>({"none", "fixed", "dynamic"});
constexpr auto settable_words =
    std::to_array<std::string_view>({"lr", "betas", "eps", "weight_decay", "clip", "loss_scale"});
constexpr auto zero_grad_words = std::to_array<std::string_view>({"none", "zeros"});

/// A place in a reply that says what it is when it is not what it should be.
class Field {
 public:
  explicit Field(PeerReply const& reply) : Field(reply.json, reply.where + ": reply") {}
  Field(Json const& json, std::string path) : json_(&json), path_(std::move(path)) {}

  bool has(std::string_view key) const { return json_->is_object() && json_->contains(key); }
  Field at(std::string_view key) const {
    if (!has(key)) refuse(fmt::format("the field `{}`", key));
    return {json_->at(key), fmt::format("{}.{}", path_, key)};
  }
  std::vector<Field> items() const {
    if (!json_->is_array()) refuse("a list");
    std::vector<Field> fields;
    for (std::size_t i = 0; i < json_->size(); ++i)
      fields.emplace_back(json_->at(i), fmt::format("{}[{}]", path_, i));
    return fields;
  }
  std::string text() const {
    if (!json_->is_string()) refuse("a text");
    return json_->get<std::string>();
  }
  bool boolean() const {
    if (!json_->is_boolean()) refuse("true or false");
    return json_->get<bool>();
  }
  /// Of a key that may be left out.
  bool boolean_or(std::string_view key, bool usual) const {
    return has(key) ? at(key).boolean() : usual;
  }
  float number_or(std::string_view key, float usual) const {
    return has(key) ? at(key).number() : usual;
  }
  std::int64_t integer() const {
    if (!json_->is_number_integer()) refuse("an integer");
    return json_->get<std::int64_t>();
  }
  float number() const {
    if (json_->is_number()) return static_cast<float>(json_->get<double>());
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (*json_ == "nan") return std::numeric_limits<float>::quiet_NaN();
    if (*json_ == "inf") return infinity;
    if (*json_ == "-inf") return -infinity;
    refuse("a number, \"nan\", \"inf\" or \"-inf\"");
  }
  /// A number, or nothing where null stands.
  std::optional<float> maybe_number() const {
    if (json_->is_null()) return std::nullopt;
    return number();
  }
  std::vector<std::int64_t> integers() const {
    std::vector<std::int64_t> numbers;
    for (Field const& item : items()) numbers.push_back(item.integer());
    return numbers;
  }
  /// One of the words of an enumeration, in its order.
  template <typename Enum>
  Enum word(std::span<std::string_view const> words) const {
    std::string const found = text();
    auto const place = std::find(words.begin(), words.end(), found);
    if (place == words.end()) refuse(list_words(words));
    return static_cast<Enum>(place - words.begin());
  }
  template <typename Enum>
  std::vector<Enum> words(std::span<std::string_view const> words) const {
    std::vector<Enum> values;
    for (Field const& item : items()) values.push_back(item.word<Enum>(words));
    return values;
  }

  [[noreturn]] void refuse(std::string const& expected) const {
    throw PeerError(
        fmt::format("{}: expected {}, found {}", path_, expected, excerpt(json_->dump())));
  }

 private:
  Json const* json_;
  std::string path_;
};

PrecisionOffer offer_of(Field const& field) {
  PrecisionOffer offer{.param = field.at("param").words<ParamType>(words_of<ParamType>),
                       .grad = field.at("grad").words<GradType>(words_of<GradType>),
                       .main = field.at("main").words<MainType>(words_of<MainType>),
                       .exp_avg = field.at("exp_avg").words<StateType>(words_of<StateType>),
                       .exp_avg_sq = field.at("exp_avg_sq").words<StateType>(words_of<StateType>)};
  if (field.has("loss_scale"))
    offer.loss_scale = field.at("loss_scale").words<LossScale::Kind>(loss_scale_words);
  return offer;
}

std::vector<PrecisionOffer> offers_of(Field const& field) {
  std::vector<PrecisionOffer> offers;
  for (Field const& item : field.items()) offers.push_back(offer_of(item));
  return offers;
}

std::vector<EngineOption> options_of(Field const& field, Json const& json) {
  std::vector<EngineOption> options;
  for (auto const& [name, values] : json.items()) {
    EngineOption option{.name = name};
    for (Field const& value : field.at(name).items()) option.values.push_back(value.text());
    if (option.values.empty()) field.at(name).refuse("at least one value");
    options.push_back(std::move(option));
  }
  return options;
}

void add_worlds(Capabilities& capabilities, Field const& field) {
  capabilities.layouts = field.at("layouts").words<Layout>(words_of<Layout>);
  capabilities.ranks_max = field.at("ranks_max").integer();
  capabilities.replicate_max = field.at("replicate_max").integer();
  capabilities.empty_tensors = field.boolean_or("empty_tensors", true);
  capabilities.precisions = offers_of(field.at("precisions"));
  if (field.has("load_precisions"))
    capabilities.load_precisions = offers_of(field.at("load_precisions"));
  capabilities.own_precision = field.at("own_precision").boolean();
  capabilities.gradient_type = field.at("gradient_type").word<GradientType>(gradient_type_words);
}

void add_optimizer(Capabilities& capabilities, Field const& field) {
  capabilities.optimizers = field.at("optimizers").words<AdamMode>(words_of<AdamMode>);
  capabilities.step_counters = field.at("step_counters").words<StepCounter>(words_of<StepCounter>);
  for (Field const& item : field.at("bias_correction").items())
    capabilities.bias_correction.push_back(item.boolean());
  capabilities.clip = field.at("clip").boolean();
  capabilities.loss_scale = field.at("loss_scale").words<LossScale::Kind>(loss_scale_words);
  capabilities.unscales_in_place = field.at("unscales_in_place").boolean();
  capabilities.gradients_in_place = field.boolean_or("gradients_in_place", false);
  capabilities.set = field.at("set").words<Settable>(settable_words);
  capabilities.gradients = field.at("gradients").words<GradientClass>(words_of<GradientClass>);
  capabilities.zero_grad = field.at("zero_grad").words<ZeroGradKind>(zero_grad_words);
}

void add_checkpoints(Capabilities& capabilities, Field const& field) {
  capabilities.save = field.at("save").boolean();
  capabilities.load = field.at("load").boolean();
  capabilities.loads_in_any_order = field.at("loads_in_any_order").boolean();
  capabilities.can_crash = field.at("can_crash").boolean();
  capabilities.detects_damage =
      field.at("detects_damage").words<Fault::Then>(words_of<Fault::Then>);
  capabilities.local_gradients = field.at("local_gradients").boolean();
  capabilities.carries_groups = field.at("carries_groups").boolean();
}

std::string text_of(Json const& rank, std::string const& outcome) {
  if (outcome == "error" && rank.contains("error") && rank["error"].is_object()) {
    Json const& error = rank["error"];
    return fmt::format("{}: {}", error.value("type", "error"), error.value("text", ""));
  }
  if (outcome == "died" && rank.contains("signal"))
    return fmt::format("the process of the rank died of signal {}", rank["signal"].dump());
  if (outcome == "died")
    return fmt::format("the process of the rank ended with exit status {}",
                       rank.value("exit_status", Json()).dump());
  return "the rank did not answer in time";
}

RankOutcome outcome_of(Field const& rank, Json const& json) {
  constexpr auto words = std::to_array<std::string_view>({"ok", "error", "died", "timed_out"});
  RankOutcome outcome{.kind = rank.at("outcome").word<RankOutcome::Kind>(words), .text = ""};
  if (outcome.kind != RankOutcome::Kind::ok)
    outcome.text = text_of(json, json["outcome"].get<std::string>());
  if (json.contains("error") && json["error"].is_object())
    outcome.type = json["error"].value("type", "");
  return outcome;
}

std::optional<Field> find_named(Field const& list, std::string const& name) {
  for (Field const& item : list.items())
    if (item.at("name").text() == name) return item;
  return std::nullopt;
}

ReportedShard shard_of(Field const& shards, ParameterSpec const& spec) {
  auto const found = find_named(shards, spec.name);
  if (!found) shards.refuse(fmt::format("an entry with the name `{}`", spec.name));
  Field const& field = *found;
  ReportedShard shard{.offsets = field.at("offsets").integers(),
                      .shape = field.at("shape").integers(),
                      .steps = field.at("steps").integer(),
                      .has_gradient = field.at("has_gradient").boolean()};
  bool rows = shard.shape.size() == spec.shape.size() && shard.offsets.size() == spec.shape.size();
  for (std::size_t d = 1; rows && d < spec.shape.size(); ++d)
    rows = shard.shape[d] == spec.shape[d] && shard.offsets[d] == 0;
  if (!rows || shard.shape[0] < 0 || shard.offsets[0] < 0)
    field.refuse(fmt::format("rows of the shape [{}]", fmt::join(spec.shape, ", ")));
  return shard;
}

/// An engine may leave out a group that no parameter is in.
AdamConfig group_of(Field const& groups, NamedGroup const& group) {
  auto const found = find_named(groups, group.name);
  if (!found) return group.config;
  Field const& field = *found;
  AdamConfig config = group.config;
  auto const betas = field.at("betas").items();
  if (betas.size() != 2) field.at("betas").refuse("two numbers");
  config.learning_rate = field.at("lr").number();
  config.beta1 = betas[0].number();
  config.beta2 = betas[1].number();
  config.epsilon = field.at("eps").number();
  config.weight_decay = field.at("weight_decay").number();
  return config;
}

RankScaling scaling_of(Field const& field) {
  return {.loss_scale = field.at("loss_scale").number(),
          .skipped = field.at("skipped").boolean(),
          .inverse = field.number_or("inverse", 1),
          .norm = field.at("norm").number(),
          .coefficient = field.number_or("coefficient", 1),
          .growth_tracker = static_cast<int>(field.at("growth_tracker").integer()),
          .hysteresis =
              field.has("hysteresis") ? static_cast<int>(field.at("hysteresis").integer()) : 0,
          .max_norm = field.has("max_norm") ? field.at("max_norm").maybe_number() : std::nullopt};
}

ReportedState state_of(Field const& rank, std::vector<ParameterSpec> const& parameters,
                       std::vector<NamedGroup> const& before) {
  ReportedState state{.file = rank.at("file").text(), .shards = {}, .groups = {}, .scaling = {}};
  for (ParameterSpec const& spec : parameters)
    state.shards.push_back(shard_of(rank.at("shards"), spec));
  for (NamedGroup const& group : before) state.groups.push_back(group_of(rank.at("groups"), group));
  state.scaling = scaling_of(rank.at("scale"));
  return state;
}

std::vector<Field> ranks_of(PeerReply const& reply, int count) {
  Field const ranks = Field(reply).at("ranks");
  auto items = ranks.items();
  if (std::ssize(items) != count) ranks.refuse(fmt::format("{} ranks", count));
  return items;
}

}  // namespace

Capabilities capabilities_of(PeerReply const& hello) {
  Field const field(hello);
  Capabilities capabilities;
  capabilities.engine = field.at("engine").text();
  capabilities.arithmetic = field.at("arithmetic").word<Arithmetic>(arithmetic_words);
  Field const offered = field.at("capabilities");
  add_worlds(capabilities, offered);
  add_optimizer(capabilities, offered);
  add_checkpoints(capabilities, offered);
  capabilities.options = options_of(field.at("options"), hello.json["options"]);
  capabilities.isolated = true;
  return capabilities;
}

Arithmetic arithmetic_of(PeerReply const& open, Arithmetic usual) {
  Field const field(open);
  return field.has("arithmetic") ? field.at("arithmetic").word<Arithmetic>(arithmetic_words)
                                 : usual;
}

std::vector<RankOutcome> outcomes_of(PeerReply const& reply, int count) {
  bool const nobody = reply.json.contains("ranks") && reply.json["ranks"].empty();
  if (nobody && reply.json["outcome"] == "died")  // in open, before ranks were known
    return {static_cast<std::size_t>(count),
            RankOutcome{.kind = RankOutcome::Kind::died, .text = "the world died"}};
  if (!reply.json.contains("ranks") && reply.json.contains("error"))
    return {static_cast<std::size_t>(count),
            RankOutcome{.kind = RankOutcome::Kind::error, .text = text_of(reply.json, "error")}};
  auto const ranks = ranks_of(reply, count);
  std::vector<RankOutcome> outcomes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    outcomes.push_back(outcome_of(ranks[rank], reply.json["ranks"][rank]));
  return outcomes;
}

std::vector<ReportedState> states_of(PeerReply const& reply,
                                     std::vector<ParameterSpec> const& parameters,
                                     std::vector<NamedGroup> const& before, int count) {
  std::vector<ReportedState> states;
  for (Field const& rank : ranks_of(reply, count))
    states.push_back(state_of(rank, parameters, before));
  return states;
}

std::vector<std::string> not_carried_of(PeerReply const& reply) {
  std::vector<std::string> names;
  Field const field(reply);
  if (!field.has("not_carried")) return names;
  for (Field const& item : field.at("not_carried").items()) names.push_back(item.text());
  return names;
}

}  // namespace adamant::scenarios::replies
