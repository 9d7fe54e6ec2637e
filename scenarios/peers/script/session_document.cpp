#include "scenarios/peers/script/session_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "scenarios/language/words.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/script/session_look.h"

namespace adamant::scenarios::script {

namespace {

/// As few digits as read back, by way of binary64, to the same. JSON has no such numbers as inf.
Json number_of(float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  double const shortest = std::strtod(fmt::format("{}", value).c_str(), nullptr);
  return static_cast<float>(shortest) == value ? shortest : static_cast<double>(value);
}

Json numbers_of(TensorFile const& file) {
  Json tensors = Json::object();
  for (auto const& [name, tensor] : file) {
    Json numbers = Json::array();
    for (float const value : numbers_in(tensor)) numbers.push_back(number_of(value));
    tensors[name] = {{"shape", tensor.shape}, {"values", std::move(numbers)}};
  }
  return tensors;
}

// ---- a stale file is taken from the save before the last one, of which a copy is kept ----

std::string checkpoint_of(FileDamage const& damage) {
  return damage.file.substr(0, damage.file.find('/'));
}

bool is_whole_save(Exchange const& exchange) {
  return exchange.verb == "save" && exchange.reply &&
         exchange.reply->value("outcome", "") == "ok" && !exchange.fields.contains("crash");
}

std::optional<std::size_t> save_before_last(Session const& session, std::string const& checkpoint,
                                            std::size_t load) {
  std::string const directory = session.room + "/checkpoints/" + checkpoint;
  int saves = 0;
  for (std::size_t i = load; i-- > 0;)
    if (is_whole_save(session.exchanges[i]) &&
        session.exchanges[i].fields["directory"] == directory && ++saves == 2)
      return i;
  return std::nullopt;
}

/// The name of the checkpoint of which a copy has to be kept behind exchange `i`, for a file that
/// damage puts into a later save.
std::optional<std::string> kept_for_later(Session const& session, std::size_t i) {
  for (auto const& [load, damages] : session.damage)
    for (FileDamage const& damage : damages) {
      std::string const checkpoint = checkpoint_of(damage);
      if (damage.how == Fault::Then::stale_file && save_before_last(session, checkpoint, load) == i)
        return checkpoint;
    }
  return std::nullopt;
}

/// Of the folder for all files, and of the checkpoints of a run.
constexpr std::string_view here = "$HERE/";
constexpr std::string_view run = "$RUN/";

class Document {
 public:
  explicit Document(Session const& session) : session_(session) {}

  Json whole() {
    Json shows = look_of(session_);
    Json requests = Json::array();
    for (std::size_t i = 0; i <= shows["request"]; ++i) requests.push_back(request(i));
    auto const [hello, rank, reply] = peer_bounds();
    Json document{{"adamant_session", 1}};
    Json const said = session_.exchanges.front().reply.value_or(nlohmann::json::object());
    for (char const* const key : {"engine", "versions", "engine_class", "options"})
      if (said.contains(key)) document[key] = said[key];
    document["command"] = session_.command;
    document["seconds"] = std::max(hello, reply).count();
    if (session_.second) document["second_run"] = session_.violation->run;
    document["shows"] = std::move(shows);
    document["files"] = std::move(files_);
    document["requests"] = std::move(requests);
    return document;
  }

 private:
  Json request(std::size_t i) {
    Exchange const& exchange = session_.exchanges[i];
    Json said{{"request", exchange.verb}};
    if (session_.damage.contains(i)) said["damage"] = damage(session_.damage.at(i));
    said["fields"] = fields_of(exchange);
    if (Json outcomes = outcomes_of(exchange); outcomes != Json::array({"ok"}))
      said["outcomes"] = std::move(outcomes);
    if (auto const name = kept_for_later(session_, i))
      said["keep"] = {fmt::format("{}{}", run, *name), older(*name)};
    return said;
  }

  static std::string older(std::string const& file) { return fmt::format("{}older-{}", run, file); }

  Json fields_of(Exchange const& exchange) {
    Json fields = with_places(exchange.fields);
    if (fields.contains("initial")) fields["initial"] = file("initial", exchange.files.front());
    for (std::size_t rank = 0; fields.contains("gradients") && rank < exchange.files.size(); ++rank)
      fields["gradients"][rank] = file("gradients", exchange.files[rank]);
    if (fields.contains("prefix")) fields["prefix"] = fmt::format("{}state", here);
    return fields;
  }

  /// The path of what is handed over; the same numbers have one.
  std::string file(std::string_view stem, TensorFile const& tensors) {
    Json const numbers = numbers_of(tensors);
    std::size_t alike = 0;
    for (auto const& [name, other] : files_.items()) {
      if (!name.starts_with(stem)) continue;
      if (other == numbers) return fmt::format("{}{}", here, name);
      ++alike;
    }
    std::string const name = fmt::format("{}-{}", stem, alike);
    files_[name] = numbers;
    return fmt::format("{}{}", here, name);
  }

  /// A crash strikes where it is wanted, or the save is over before.
  static Json outcomes_of(Exchange const& exchange) {
    if (exchange.fields.contains("crash")) return {"ok", "died"};
    return Json::array({exchange.reply ? exchange.reply->value("outcome", "ok") : "ok"});
  }

  /// Checkpoints by their names, in place of paths of this machine; those of a second run have
  /// names of their own.
  Json with_places(nlohmann::json const& value) const {
    if (value.is_string()) return place_or_text(value.get<std::string>());
    if (!value.is_structured()) return value;
    Json copy = value.is_object() ? Json::object() : Json::array();
    for (auto const& [key, item] : value.items())
      value.is_object() ? copy[key] = with_places(item) : copy.emplace_back(with_places(item));
    return copy;
  }

  std::string place_or_text(std::string const& text) const {
    constexpr std::string_view between = "/checkpoints/";
    auto const name_in = [&](std::string const& room) {
      bool const is_in = !room.empty() && text.starts_with(room + std::string(between));
      return is_in ? text.substr(room.size() + between.size()) : "";
    };
    if (auto const name = name_in(session_.room); !name.empty())
      return fmt::format("{}{}", run, name);
    auto const name = name_in(session_.second_room);
    return name.empty() ? text : fmt::format("{}again-{}", run, name);
  }

  static Json damage(DamagedFiles const& damages) {
    Json all = Json::array();
    for (FileDamage const& damage : damages) {
      Json done{{"then", words_of<Fault::Then>[static_cast<std::size_t>(damage.how)]},
                {"file", fmt::format("{}{}", run, damage.file)}};
      if (damage.how == Fault::Then::flip_byte || damage.how == Fault::Then::truncate)
        done["at"] = damage.at;
      if (damage.how == Fault::Then::stale_file) done["older"] = older(damage.file);
      all.push_back(std::move(done));
    }
    return all;
  }

  Session const& session_;
  Json files_ = Json::object();
};

/// A line for each key, and for each file and request.
std::string text_of(Json const& document) {
  std::string text = "{\n";
  for (auto const& [key, value] : document.items()) {
    text += fmt::format("{}: ", Json(key).dump());
    bool const has_lines = key == "files" || key == "requests";
    if (!has_lines) {
      text += value.dump();
    } else {
      text += value.is_object() ? "{" : "[";
      for (auto item = value.begin(); item != value.end(); ++item) {
        text += item == value.begin() ? "\n  " : ",\n  ";
        if (value.is_object()) text += fmt::format("{}: ", Json(item.key()).dump());
        text += item->dump();
      }
      text += value.is_object() ? "\n}" : "\n]";
    }
    text += key == "requests" ? "\n" : ",\n";
  }
  return text + "}\n";
}

}  // namespace

std::string document_of(Session const& session) {
  return text_of(Document(session).whole());
}

}  // namespace adamant::scenarios::script
