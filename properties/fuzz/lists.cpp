#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/problem.h"
#include "scenarios/search/known_defects.h"

namespace adamant::properties {

bool read_lists(Bytes text) {
  Room const& room = Room::of_this_process();
  room.write("list.yaml", text_of(text));
  bool taken = false;
  try {
    taken = scenarios::find_model(room.path(), "list").has_value();
  } catch (scenarios::BadInput const& refused) {
    require(refused.problem.line > 0, "a refusal of a model has no line");
  }
  try {
    scenarios::read_known_defects(room.path() / "list.yaml");
    return true;
  } catch (scenarios::LoadError const&) {
    return taken;
  }
}

}  // namespace adamant::properties
