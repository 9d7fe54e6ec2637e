#include "scenarios/peers/script/older_save.h"

namespace adamant::scenarios::script {

namespace {

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

}  // namespace

std::optional<std::string> kept_for_later(Session const& session, std::size_t i) {
  for (auto const& [load, damages] : session.damage)
    for (FileDamage const& damage : damages) {
      std::string const checkpoint = checkpoint_of(damage);
      if (damage.how == Fault::Then::stale_file && save_before_last(session, checkpoint, load) == i)
        return checkpoint;
    }
  return std::nullopt;
}

}  // namespace adamant::scenarios::script
