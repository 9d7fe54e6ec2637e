#include <utility>

#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/words.h"

namespace adamant::scenarios {

namespace {

void decode_clip(Reader& reader, Field const& field, Clip& clip) {
  Node const& node = *field.node;
  if (node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text && node.text == "none") {
    clip.reset();
    return;
  }
  bool const is_text = node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text;
  if (is_text || node.kind != Node::Kind::scalar)
    return reader.mismatch(field, "none or a finite number > 0");
  float norm = 0;
  if (reader.real(field, RealRange::positive, norm)) clip = norm;
}

void decode_loss_scale(Reader& reader, Field const& field, LossScale& scale) {
  Node const& node = *field.node;
  bool const is_scalar = node.kind == Node::Kind::scalar;
  bool const is_text = is_scalar && node.scalar == ScalarKind::text;
  if (is_text && node.text == "none") {
    scale = {};
  } else if (is_text && node.text == "dynamic") {
    scale = {.kind = LossScale::Kind::dynamic, .value = 0};
  } else if (is_text || !is_scalar) {
    reader.mismatch(field, "none, dynamic or a finite number > 0");
  } else {
    float value = 0;
    if (reader.real(field, RealRange::positive, value)) scale = {LossScale::Kind::fixed, value};
  }
}

/// The keys that optimizer, groups and `set` share.
void decode_adam(Reader& reader, MapReader const& map, AdamOverride& settings) {
  auto const number = [&](std::string_view key, std::optional<float>& value) {
    map.optional(key, [&](Field const& f) {
      float found = 0;
      if (reader.real(f, RealRange::finite_not_negative, found)) value = found;
    });
  };
  number("lr", settings.lr);
  number("eps", settings.eps);
  number("weight_decay", settings.weight_decay);
  map.optional("betas", [&](Field const& f) {
    std::array<float, 2> betas{};
    if (reader.betas(f, betas[0], betas[1])) settings.betas = betas;
  });
}

void decode_bias_correction(Reader& reader, MapReader const& map, AdamOverride& settings) {
  map.optional("bias_correction", [&](Field const& f) {
    bool found = true;
    if (reader.boolean(f, found)) settings.bias_correction = found;
  });
}

}  // namespace

void decode_precision(Reader& reader, Field const& field, PrecisionOverride& precision) {
  MapReader const map(reader, field, keys::precision);
  map.optional("param", [&](Field const& f) { reader.word(f, precision.param); });
  map.optional("grad", [&](Field const& f) { reader.word(f, precision.grad); });
  map.optional("main", [&](Field const& f) { reader.word(f, precision.main); });
  map.optional("exp_avg", [&](Field const& f) { reader.word(f, precision.exp_avg); });
  map.optional("exp_avg_sq", [&](Field const& f) { reader.word(f, precision.exp_avg_sq); });
  map.optional("state_scale", [&](Field const& f) { reader.word(f, precision.state_scale); });
}

void decode_groups(Reader& reader, Field const& field, std::vector<Group>& groups) {
  if (!reader.is_map(field, "groups and what they override")) return;
  for (Entry const& entry : field.node->entries) {
    Field const value = field.value(entry);
    if (!is_name(entry.key)) {
      reader.fail(entry.line, value.path,
                  "expected a name like [A-Za-z0-9_][A-Za-z0-9_.-]* without `..`");
    }
    Group group{.name = entry.key, .settings = {}};
    MapReader const map(reader, value, keys::group);
    decode_adam(reader, map, group.settings);
    decode_bias_correction(reader, map, group.settings);
    groups.push_back(std::move(group));
  }
}

void decode_optimizer(Reader& reader, Field const& field, Scenario& scenario) {
  Optimizer& optimizer = scenario.optimizer;
  MapReader const map(reader, field, keys::optimizer);
  AdamOverride settings;
  decode_adam(reader, map, settings);
  decode_bias_correction(reader, map, settings);
  optimizer.adam = with(optimizer.adam, settings);
  map.optional("mode", [&](Field const& f) { reader.word(f, optimizer.adam.mode); });
  map.optional("step_counter", [&](Field const& f) { reader.word(f, optimizer.step_counter); });
  map.optional("decoupled_grad", [&](Field const& f) {
    scenario.places[Place::decoupled_grad] = {f.node->line};
    reader.boolean(f, optimizer.decoupled_grad);
  });
  map.optional("keep_cast_grad", [&](Field const& f) {
    scenario.places[Place::keep_cast_grad] = {f.node->line};
    reader.boolean(f, optimizer.keep_cast_grad);
  });
  map.optional("capturable", [&](Field const& f) {
    scenario.places[Place::capturable] = {f.node->line};
    reader.boolean(f, optimizer.capturable);
  });
  map.optional("clip", [&](Field const& f) {
    scenario.places[Place::clip] = {f.node->line};
    decode_clip(reader, f, optimizer.clip);
  });
  map.optional("loss_scale", [&](Field const& f) {
    scenario.places[Place::loss_scale] = {f.node->line};
    decode_loss_scale(reader, f, optimizer.loss_scale);
  });
}

void decode_set(Reader& reader, Field const& field, SettingsChange& change) {
  MapReader const map(reader, field, keys::set);
  if (field.node->kind == Node::Kind::map && field.node->entries.empty()) {
    reader.fail(field, "expected at least one of " + list_words(keys::set.all));
  }
  decode_adam(reader, map, change.adam);
  map.optional("clip", [&](Field const& f) { decode_clip(reader, f, change.clip.emplace()); });
  map.optional("loss_scale",
               [&](Field const& f) { decode_loss_scale(reader, f, change.loss_scale.emplace()); });
}

}  // namespace adamant::scenarios
