#include <utility>

#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/words.h"

namespace adamant::scenarios {

namespace {

void decode_operations(Reader& reader, Field const& field, std::vector<Operation>& operations);

Action decode_backward(Reader& reader, Field const& field) {
  Backward backward;
  MapReader const map(reader, field, keys::backward);
  map.optional("without", [&](Field const& list) {
    if (!reader.is_sequence(list, "parameter names")) return;
    for (std::size_t i = 0; i < list.node->items.size(); ++i) {
      std::string name;
      if (reader.name(list.item(i), name)) backward.without.push_back(std::move(name));
    }
  });
  return backward;
}

Action decode_zero_grad(Reader& reader, Field const& field) {
  ZeroGrad zero_grad;
  MapReader const map(reader, field, keys::zero_grad);
  map.optional("set_to_none", [&](Field const& f) { reader.boolean(f, zero_grad.set_to_none); });
  return zero_grad;
}

Action decode_load(Reader& reader, Field const& field) {
  Load load;
  if (field.node->kind != Node::Kind::map) {
    if (field.node->kind == Node::Kind::scalar) {
      reader.name(field, load.from);
    } else {
      reader.mismatch(field, "the name of a checkpoint, or a map with the key from");
    }
    return load;
  }
  MapReader const map(reader, field, keys::load);
  map.required("from", [&](Field const& f) { reader.name(f, load.from); });
  map.optional("world", [&](Field const& f) { decode_world(reader, f, load.world.emplace()); });
  map.optional("layout", [&](Field const& f) { reader.word(f, load.layout); });
  map.optional("precision", [&](Field const& f) { decode_precision(reader, f, load.precision); });
  map.optional("offload",
               [&](Field const& f) { decode_offload(reader, f, load.offload.emplace()); });
  map.optional("order", [&](Field const& f) { reader.word(f, load.order); });
  return load;
}

template <typename Counted>
Action decode_count(Reader& reader, Field const& field) {
  Counted counted;
  reader.integer(field, any_count, counted.count);
  return counted;
}

Action decode_save(Reader& reader, Field const& field) {
  Save save;
  reader.name(field, save.checkpoint);
  return save;
}

Action decode_set_operation(Reader& reader, Field const& field) {
  Set set;
  decode_set(reader, field, set.change);
  return set;
}

Action decode_capture(Reader& reader, Field const& field) {
  Capture capture;
  decode_operations(reader, field, capture.body);
  return capture;
}

/// How an operation is written: its word, alone or with an argument.
struct Form {
  std::string_view word;
  std::optional<Action> bare;                                // its meaning as a bare word
  Action (*with_argument)(Reader&, Field const&) = nullptr;  // its meaning as {word: argument}
};

std::vector<Form> const& forms() {
  static std::vector<Form> const table{
      {"train", std::nullopt, decode_count<Train>},
      {"backward", Backward{}, decode_backward},
      {"clip", ClipNorm{}},
      {"step", Step{}},
      {"zero_grad", ZeroGrad{}, decode_zero_grad},
      {"set", std::nullopt, decode_set_operation},
      {"overflow", Overflow{}},
      {"offload", OffloadStates{}},
      {"reload", ReloadStates{}},
      {"capture", std::nullopt, decode_capture},
      {"replay", std::nullopt, decode_count<Replay>},
      {"save", std::nullopt, decode_save},
      {"load", std::nullopt, decode_load},
      {"check", Check{}},
  };
  return table;
}

Form const* find_form(std::string_view word) {
  auto const found = std::find_if(forms().begin(), forms().end(),
                                  [&](Form const& form) { return form.word == word; });
  return found == forms().end() ? nullptr : &*found;
}

std::string unknown_operation(std::string_view word) {
  return "unknown operation " + quote(word) + suggest(word, keys::operation.all) +
         "; known: " + list_words(keys::operation.all);
}

std::optional<Action> decode_bare(Reader& reader, Field const& field) {
  std::string word;
  if (!reader.text(field, word)) return std::nullopt;
  Form const* const form = find_form(word);
  if (form == nullptr) {
    reader.fail(field, unknown_operation(word));
  } else if (!form->bare) {
    reader.fail(field, word + " needs a value, as in {" + word + ": ...}");
  } else {
    return form->bare;
  }
  return std::nullopt;
}

std::optional<Action> decode_with_argument(Reader& reader, Field const& field) {
  if (field.node->entries.size() != 1) {
    reader.fail(field, "expected one operation, found a map of " +
                           std::to_string(field.node->entries.size()) + " keys");
    return std::nullopt;
  }
  Entry const& entry = field.node->entries.front();
  Form const* const form = find_form(entry.key);
  Field const argument = field.value(entry);
  if (form == nullptr) {
    reader.fail(entry.line, argument.path, unknown_operation(entry.key));
  } else if (form->with_argument == nullptr) {
    reader.fail(entry.line, argument.path,
                "this operation takes no value; write it as a bare word");
  } else {
    return form->with_argument(reader, argument);
  }
  return std::nullopt;
}

void decode_operations(Reader& reader, Field const& field, std::vector<Operation>& operations) {
  if (!reader.is_sequence(field, "operations")) return;
  if (field.node->items.empty()) return reader.fail(field, "expected at least one operation");
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    Field const item = field.item(i);
    bool const is_map = item.node->kind == Node::Kind::map;
    bool const is_scalar = item.node->kind == Node::Kind::scalar;
    std::optional<Action> action;
    if (is_map) {
      action = decode_with_argument(reader, item);
    } else if (is_scalar) {
      action = decode_bare(reader, item);
    } else {
      reader.mismatch(item, "an operation");
    }
    if (action) operations.push_back({std::move(*action), {item.node->line}});
  }
}

}  // namespace

void decode_program(Reader& reader, Field const& field, std::vector<Operation>& program) {
  decode_operations(reader, field, program);
}

}  // namespace adamant::scenarios
