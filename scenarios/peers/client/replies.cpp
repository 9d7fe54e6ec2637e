#include "scenarios/peers/client/replies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "scenarios/language/capability_table.h"
#include "scenarios/language/json_text.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios::replies {

namespace {

using Json = nlohmann::json;

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
  bool is_list() const { return json_->is_array(); }
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
  template <typename Integer = std::int64_t>
  Integer integer() const {
    try {
      return integer_in<Integer>(*json_);
    } catch (Json::exception const&) {
      refuse(fmt::format("an integer of {} bits", 8 * sizeof(Integer)));
    }
  }
  float number() const {
    if (json_->is_number()) return static_cast<float>(json_->get<double>());
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (*json_ == "nan") return std::numeric_limits<float>::quiet_NaN();
    if (*json_ == "inf") return infinity;
    if (*json_ == "-inf") return -infinity;
    refuse("a number, \"nan\", \"inf\" or \"-inf\"");
  }

  // ---- what a table says that stands here ----

  template <typename Enum>
  Enum value(kinds::Words<Enum>) const {
    return word<Enum>(words_of<Enum>);
  }
  bool value(kinds::Flag) const { return boolean(); }
  std::string value(kinds::Text) const { return text(); }
  std::int64_t value(kinds::Integer) const { return integer(); }
  float value(kinds::Real) const { return number(); }
  std::array<float, 2> value(kinds::Betas) const {
    auto const betas = items();
    if (betas.size() != 2) refuse("two numbers");
    return {betas[0].number(), betas[1].number()};
  }
  LossScale::Kind value(kinds::ScaleKind) const { return word<LossScale::Kind>(scale_kind_words); }
  Fault::Then value(kinds::Damage) const { return value(kinds::Words<Fault::Then>{}); }
  std::string_view value(kinds::SettableKey) const {
    return key_names<SettingsChange>[word<std::size_t>(key_names<SettingsChange>)];
  }
  template <typename Kind>
  std::vector<typename Kind::Value> value(kinds::List<Kind> const& list) const {
    std::vector<typename Kind::Value> values;
    for (Field const& item : items()) values.push_back(item.value(list.of));
    if (values.empty() && !list.may_be_empty) refuse("a list with at least one value");
    return values;
  }
  template <typename T>
  T value(kinds::Map<T>) const;

  /// A number, or nothing where null stands.
  std::optional<float> maybe_number() const {
    if (json_->is_null()) return std::nullopt;
    return number();
  }
  /// A list of such values, which may be empty.
  template <typename Kind>
  std::vector<typename Kind::Value> all(Kind kind) const {
    return value(kinds::List<Kind>{.may_be_empty = true, .of = kind});
  }
  /// What stands under a key that may be left out.
  template <typename Kind>
  std::optional<typename Kind::Value> find(std::string_view key, Kind kind) const {
    if (!has(key)) return std::nullopt;
    return at(key).value(kind);
  }
  /// One of the words of an enumeration, in its order.
  template <typename Enum>
  Enum word(std::span<std::string_view const> words) const {
    auto const found = value_named<Enum>(words, text());
    if (!found) refuse(list_words(words));
    return *found;
  }

  /// Of an object: every key has to be one of these.
  void expect_keys(std::span<std::string_view const> known) const {
    if (!json_->is_object()) refuse("an object");
    for (auto const& [key, value] : json_->items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        throw PeerError(fmt::format("{}.{}: unknown key{}; known: {}", path_, key,
                                    suggest(key, known), list_words(known)));
  }

  [[noreturn]] void refuse(std::string const& expected) const {
    throw PeerError(
        fmt::format("{}: expected {}, found {}", path_, expected, excerpt(json_->dump())));
  }

 private:
  Json const* json_;
  std::string path_;
};

/// What stands under the keys of T. One that is misspelt would be taken for one that is left out.
template <typename T>
T read_keys(Field const& field) {
  field.expect_keys(key_names<T>);
  T whole;
  for_each_key<T>([&](auto const& row) {
    if (row.about.required || field.has(row.key))
      put(whole, row.place, field.at(row.key).value(row.kind));
  });
  return whole;
}

template <typename T>
T Field::value(kinds::Map<T>) const {
  return read_keys<T>(*this);
}

std::vector<EngineOption> options_of(Field const& field, Json const& json) {
  std::vector<EngineOption> options;
  for (auto const& [name, values] : json.items()) {
    EngineOption option{.name = name, .values = field.at(name).all(kinds::Text{})};
    if (option.values.empty()) field.at(name).refuse("at least one value");
    options.push_back(std::move(option));
  }
  return options;
}

/// An error that explains itself has a type and a text. What has neither is shown as it is.
///
/// Errors: AdapterFailed.
void take_error(RankOutcome& outcome, Json const& answer) {
  Json const error = answer.value("error", Json());
  outcome.type = text_in(error, "type");
  if (outcome.kind != RankOutcome::Kind::error) return;
  outcome.ending = Ending::error;
  outcome.thrown = {.kind = text_in(error, "kind"),
                    .where = text_in(error, "where"),
                    .traceback = text_in(error, "traceback")};
  std::string const text = text_in(error, "text");
  bool const explained = !outcome.type.empty() || !text.empty();
  outcome.text = explained
                     ? fmt::format("{}: {}", outcome.type.empty() ? "error" : outcome.type, text)
                     : "an error without type and text: " + excerpt(answer.dump());
  if (outcome.type == "adapter")
    throw AdapterFailed(fmt::format("what fails is not the engine but its {}{}{}", outcome.text,
                                    outcome.thrown.where.empty() ? "" : ", at ",
                                    outcome.thrown.where));
}

void take_death(RankOutcome& outcome, Json const& rank) {
  outcome.ending = rank.contains("signal") ? Ending::signal : Ending::exit;
  outcome.status = outcome.ending == Ending::signal ? rank["signal"].dump()
                                                    : rank.value("exit_status", Json()).dump();
}

RankOutcome outcome_of(Field const& rank, Json const& json) {
  constexpr auto words = std::to_array<std::string_view>({"ok", "error", "died", "timed_out"});
  RankOutcome outcome{.kind = rank.at("outcome").word<RankOutcome::Kind>(words)};
  if (outcome.kind == RankOutcome::Kind::died) take_death(outcome, json);
  take_error(outcome, json);
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
  ReportedShard shard{.offsets = field.at("offsets").all(kinds::Integer{}),
                      .shape = field.at("shape").all(kinds::Integer{}),
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
  std::apply(
      [&](auto const&... setting) {
        (put(config, setting.in_config, field.at(setting.key).value(setting.kind)), ...);
      },
      settable_of_adam);
  return config;
}

RankScaling scaling_of(Field const& field) {
  return {.loss_scale = field.at("loss_scale").number(),
          .skipped = field.at("skipped").boolean(),
          .inverse = field.find("inverse", kinds::Real{}).value_or(1),
          .norm = field.at("norm").number(),
          .coefficient = field.find("coefficient", kinds::Real{}).value_or(1),
          .growth_tracker = field.at("growth_tracker").integer<int>(),
          .hysteresis = field.has("hysteresis") ? field.at("hysteresis").integer<int>() : 0,
          .max_norm = field.has("max_norm") ? field.at("max_norm").maybe_number() : std::nullopt,
          .tells_max_norm = field.has("max_norm")};
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

/// Is it a name as Python writes it, perhaps with others in front: "package.module"?
bool is_dotted_name(std::string_view text) {
  bool starts = true;
  for (char const c : text) {
    bool const digit = c >= '0' && c <= '9';
    bool const letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (starts ? !letter : !letter && !digit && c != '.') return false;
    starts = c == '.';
  }
  return !starts;
}

constexpr auto asked_for =
    std::to_array<std::string_view>({"last", "of", "backward_ranks", "forward", "keep",
                                     "param_ranks", "places", "anew", "schedule"});

/// Does an engine want to be told of this? What it asks for and nobody here tells is no mistake.
bool asks(Field const& list, std::string_view what) {
  bool found = false;
  for (Field const& item : list.items())
    found = asked_for[item.word<std::size_t>(asked_for)] == what || found;
  return found;
}

/// One text, or a list of them.
std::vector<std::string> texts_of(Field const& field) {
  return field.is_list() ? field.all(kinds::Text{}) : std::vector{field.text()};
}

/// Nobody here imports it; who makes a script of a session does.
void expect_engine_class(Field const& field) {
  constexpr std::array<std::string_view, 3> keys = {"module", "name", "path"};
  field.expect_keys(keys);
  for (std::string_view const key : {"module", "name"})
    if (!is_dotted_name(field.at(key).text()))
      field.at(key).refuse("a name that Python can import");
  if (field.has("path") && !field.at("path").text().starts_with('/'))
    field.at("path").refuse("an absolute path");
}

/// The words of a command.
std::vector<std::string> command_in(Field const& field) {
  auto words = field.all(kinds::Text{});
  if (words.empty()) field.refuse("a command, word by word");
  return words;
}

}  // namespace

Capabilities capabilities_of(PeerReply const& hello) {
  Field const field(hello);
  Capabilities capabilities = read_keys<Capabilities>(field.at("capabilities"));
  capabilities.engine = field.at("engine").text();
  capabilities.arithmetic = field.at("arithmetic").value(kinds::Words<Arithmetic>{});
  Arithmetic const arithmetic = capabilities.arithmetic;
  capabilities.precisions = judged(std::move(capabilities.precisions), arithmetic);
  if (capabilities.load_precisions)
    capabilities.load_precisions = judged(std::move(*capabilities.load_precisions), arithmetic);
  capabilities.options = options_of(field.at("options"), hello.json["options"]);
  if (field.has("asks")) capabilities.loads_anew = asks(field.at("asks"), "anew");
  if (field.has("known")) capabilities.known_defects = texts_of(field.at("known"));
  if (field.has("notes")) capabilities.notes = texts_of(field.at("notes"));
  if (field.has("engine_class")) expect_engine_class(field.at("engine_class"));
  if (field.has("script")) capabilities.script = command_in(field.at("script"));
  capabilities.isolated = true;
  return capabilities;
}

std::string versions_of(PeerReply const& hello) {
  Field const versions = Field(hello).at("versions");
  std::string text;
  for (auto const& [name, value] : hello.json["versions"].items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, versions.at(name).text());
  return text;
}

Arithmetic arithmetic_of(PeerReply const& open, Arithmetic usual, bool to_the_bit) {
  Field const field(open);
  if (!field.has("arithmetic")) return usual;
  auto const said = field.at("arithmetic").value(kinds::Words<Arithmetic>{});
  if (to_the_bit && said != Arithmetic::own_order)
    field.at("arithmetic").refuse("te, by which alone types with scales are judged");
  return said;
}

std::vector<RankOutcome> outcomes_of(PeerReply const& reply, int count) {
  bool const nobody = reply.json.contains("ranks") && reply.json["ranks"].empty();
  if (nobody && reply.json["outcome"] == "died")  // in open, before ranks were known
    return {static_cast<std::size_t>(count), RankOutcome{.kind = RankOutcome::Kind::died,
                                                         .ending = Ending::error,
                                                         .text = "the world died"}};
  if (!reply.json.contains("ranks") && reply.json.contains("error")) {
    RankOutcome outcome{.kind = RankOutcome::Kind::error};
    take_error(outcome, reply.json);
    return {static_cast<std::size_t>(count), outcome};
  }
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

std::string text_in(Json const& object, char const* key) {
  bool const there = object.is_object() && object.contains(key) && object[key].is_string();
  return there ? object[key].get<std::string>() : "";
}

bool flag_of(PeerReply const& reply, std::string_view key) {
  return Field(reply).find(key, kinds::Flag{}).value_or(false);
}

std::vector<std::string> not_carried_of(PeerReply const& reply) {
  kinds::List<kinds::Text> const texts{.may_be_empty = true};
  return Field(reply).find("not_carried", texts).value_or(std::vector<std::string>());
}

}  // namespace adamant::scenarios::replies
