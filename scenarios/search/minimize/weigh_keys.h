// How much the keys of a map add to the weight of a scenario, by the tables alone: what is at its
// default counts nothing.
#pragma once

#include <cstdint>

#include "scenarios/language/table.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios {

class KeyWeight {
 public:
  std::uint64_t features = 0;  // keys that are not at their defaults
  std::uint64_t keys = 0;      // their places in their tables
  std::uint64_t values = 0;    // their places among the usual values

  template <typename T>
  static KeyWeight of(T const& whole) {
    KeyWeight weight;
    weight.add(whole);
    return weight;
  }

  void add_feature(bool present, std::uint64_t value) {
    if (!present) return;
    ++features;
    values += value;
  }

  /// One key.
  template <typename T, typename Row>
  void add_key(T const& whole, Row const& row) {
    auto const& value = value_at(whole, row.place);
    if constexpr (may_be_absent<T, Row>) {
      if (value) add_given(row.kind, *value);
    } else {
      add_value(row.kind, value, !is_default(whole, row));
    }
  }

  /// Every key that need not be written.
  template <typename T>
  void add(T const& whole) {
    add_keys(whole);
  }
  // Adam's settings are weighed together: which of them is the simpler one depends on the value.
  void add(Optimizer const& optimizer) {
    add_keys(optimizer);
    values += usual_place(difference(optimizer.adam));
  }
  void add(AdamOverride const& settings) {
    add_keys(settings);
    values += usual_place(settings);
  }
  void add(Set const& set) {
    add_keys(set.change);
    values += usual_place(set.change.adam);
  }
  void add(Offload const& offload) {
    add_feature(offload.index() != 0, offload.index());
    if (auto const* states = std::get_if<OffloadedStates>(&offload)) add_keys(*states);
    if (auto const* hybrid = std::get_if<HybridOffload>(&offload)) add_keys(*hybrid);
  }

 private:
  template <typename T>
  void add_keys(T const& whole) {
    std::uint64_t place = 0;
    for_each_key<T>([&](auto const& row) {
      std::uint64_t const before = features;
      if (!row.about.required) add_key(whole, row);
      if (features > before) keys += place;
      ++place;
    });
  }

  template <typename Kind>
  void add_value(Kind const& kind, typename Kind::Value const& value, bool differs) {
    add_feature(differs, usual_place(kind, value));
  }
  template <typename T>
  void add_value(kinds::Map<T>, T const& value, bool) {
    add(value);
  }
  void add_value(kinds::Offloaded, Offload const& value, bool) { add(value); }

  // ---- what is given where it may be absent, even its default ----

  template <typename Kind>
  void add_given(Kind const& kind, typename Kind::Value const& value) {
    add_feature(true, usual_place(kind, value));
  }
  template <typename Enum>
  void add_given(kinds::Words<Enum> kind, Enum value) {
    add_feature(true, 1 + usual_place(kind, value));
  }
  void add_given(kinds::Norm kind, Clip const& value) {
    add_feature(true, 1 + usual_place(kind, value));
  }
  void add_given(kinds::Scale kind, LossScale const& value) {
    add_feature(true, 1 + usual_place(kind, value));
  }
  template <typename T>
  void add_given(kinds::Map<T>, T const& value) {
    add_feature(true, 0);
    add(value);
  }
  void add_given(kinds::Offloaded, Offload const& value) {
    add_feature(true, 0);
    add(value);
  }
};

}  // namespace adamant::scenarios
