#include "scenarios/bugs/selection.h"

#include "scenarios/bugs/selected.h"

namespace adamant::bugs {

namespace {
std::uint64_t key = 0;
}  // namespace

std::uint64_t selected_key() noexcept {
  return key;
}

Selection::Selection(std::string_view id) {
  key = id.empty() ? 0 : key_of(id);
}
Selection::~Selection() {
  key = 0;
}

}  // namespace adamant::bugs
