// Every value that the tables of the language offer, by its path: "load.layout: bucketed". What a
// number may be is told by its kinds: the usual one, the least, another. One walk lists them all
// and says which of them a scenario has, so that a new key, word or verb is asked for by itself.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/language/table.h"
#include "scenarios/language/verbs.h"

namespace adamant::scenarios {

/// Calls `found` with each value of what it is given, and with all that there are where it is given
/// nothing.
class ValueWalk {
 public:
  explicit ValueWalk(std::function<void(std::string const&)> found) : found_(std::move(found)) {}

  /// The keys of a T.
  template <typename T>
  void keys(std::string const& path, T const* whole) {
    for_each_key<T>([&](auto const& row) {
      using Row = std::remove_cvref_t<decltype(row)>;
      using Value = typename KindOf<Row>::Value;
      std::string const place = path + std::string(row.key);
      if constexpr (may_be_absent<T, Row>) {
        bool const is_there = whole != nullptr && value_at(*whole, row.place).has_value();
        if (!is_there) found_(place + ": absent");
        if (whole != nullptr && !is_there) return;
        visit(row.kind, place, is_there ? &*value_at(*whole, row.place) : nullptr, Value{});
      } else if (whole == nullptr) {
        visit(row.kind, place, static_cast<Value const*>(nullptr), value_at(T{}, row.place));
      } else {
        Value const value = value_at(*whole, row.place);
        visit(row.kind, place, &value, value_at(T{}, row.place));
      }
    });
  }

 private:
  // ---- leaves: one of a few labels ----
  void leaf(std::string const& path, std::vector<std::string_view> const& all,
            std::string_view one) {
    if (one.empty())
      for (std::string_view const label : all) found_(path + ": " + std::string(label));
    else
      found_(path + ": " + std::string(one));
  }
  template <typename Value>
  void number(std::string const& path, Value const* value, Value usual, Value least) {
    auto const name = [&](Value of) {
      return of == least ? "the least" : of == usual ? "the usual" : "another";
    };
    std::vector<std::string_view> all{"the least", "another"};
    if (usual > least) all.push_back("the usual");
    leaf(path, all, value == nullptr ? "" : name(*value));
  }
  void some(std::string const& path, bool const* is_empty) {
    leaf(path, {"none", "some"}, is_empty == nullptr ? "" : *is_empty ? "none" : "some");
  }
  template <typename Kind, typename List>
  void list(Kind const&, std::string const& path, List const* value) {
    bool const is_empty = value != nullptr && value->empty();
    some(path, value == nullptr ? nullptr : &is_empty);
  }

  template <typename Enum>
  void visit(kinds::Words<Enum>, std::string const& path, Enum const* value, Enum) {
    leaf(path, {words_of<Enum>.begin(), words_of<Enum>.end()},
         value == nullptr ? "" : word_for(*value));
  }
  void visit(kinds::Flag, std::string const& path, bool const* value, bool) {
    leaf(path, {"false", "true"}, value == nullptr ? "" : *value ? "true" : "false");
  }
  void visit(kinds::Real kind, std::string const& path, float const* value, float usual) {
    number(path, value, usual, kind.range == RealRange::positive ? -1.0F : 0.0F);
  }
  void visit(kinds::Fraction, std::string const& path, double const* value, double usual) {
    leaf(path, {"0", "the usual", "another", "1"},
         value == nullptr  ? ""
         : *value == 0     ? "0"
         : *value == 1     ? "1"
         : *value == usual ? "the usual"
                           : "another");
  }
  void visit(kinds::Integer kind, std::string const& path, std::int64_t const* value,
             std::int64_t usual) {
    number(path, value, usual, kind.range.least);
  }
  void visit(kinds::Seed, std::string const& path, std::uint64_t const* value, std::uint64_t) {
    leaf(path, {"a number"}, value == nullptr ? "" : "a number");
  }
  void visit(kinds::Betas, std::string const& path, std::array<float, 2> const* value,
             std::array<float, 2> usual) {
    leaf(path, {"the usual", "the first 0", "the second 0", "others"},
         value == nullptr   ? ""
         : *value == usual  ? "the usual"
         : (*value)[0] == 0 ? "the first 0"
         : (*value)[1] == 0 ? "the second 0"
                            : "others");
  }
  void visit(kinds::Norm, std::string const& path, Clip const* value, Clip const&) {
    leaf(path, {"none", "a number"}, value == nullptr ? "" : *value ? "a number" : "none");
  }
  void visit(kinds::Scale, std::string const& path, LossScale const* value, LossScale const&) {
    visit(kinds::Words<LossScale::Kind>{}, path, value == nullptr ? nullptr : &value->kind, {});
  }
  void visit(kinds::Shape, std::string const& path, std::vector<std::int64_t> const* value,
             std::vector<std::int64_t> const&) {
    auto const name = [](std::vector<std::int64_t> const& shape) {
      for (std::int64_t const extent : shape)
        if (extent == 0) return "without elements";
      return shape.empty() ? "none" : shape.size() == 1 ? "a vector" : "more dimensions";
    };
    leaf(path, {"none", "a vector", "more dimensions", "without elements"},
         value == nullptr ? "" : name(*value));
  }
  void visit(kinds::Expected, std::string const& path, Expectation const* value,
             Expectation const&) {
    static constexpr std::string_view names[] = {"pass", "violates", "refused"};
    leaf(path, {names[0], names[1], names[2]},
         value == nullptr ? "" : names[static_cast<int>(value->kind)]);
  }
  void visit(kinds::Version, std::string const&, std::int64_t const*, std::int64_t) {}
  void visit(kinds::Text kind, std::string const& path, std::string const* value,
             std::string const&) {
    list(kind, path, value);
  }
  void visit(kinds::Name kind, std::string const& path, std::string const* value,
             std::string const&) {
    list(kind, path, value);
  }
  void visit(kinds::Names kind, std::string const& path, std::vector<std::string> const* value,
             std::vector<std::string> const&) {
    list(kind, path, value);
  }
  void visit(kinds::Parts kind, std::string const& path, std::vector<std::string> const* value,
             std::vector<std::string> const&) {
    list(kind, path, value);
  }
  void visit(kinds::Earlier kind, std::string const& path, std::string const* value,
             std::string const&) {
    list(kind, path, value);
  }
  void visit(kinds::EngineName, std::string const& path, std::string const* value,
             std::string const& usual) {
    leaf(path, {"the usual", "another"},
         value == nullptr  ? ""
         : *value == usual ? "the usual"
                           : "another");
  }
  void visit(kinds::EngineOptions kind, std::string const& path, EngineOptions const* value,
             EngineOptions const&) {
    list(kind, path, value);
  }
  void visit(kinds::Choices kind, std::string const& path, std::vector<std::uint32_t> const* value,
             std::vector<std::uint32_t> const&) {
    list(kind, path, value);
  }
  void visit(kinds::Bug kind, std::string const& path, std::string const* value,
             std::string const&) {
    list(kind, path, value);
  }

  // ---- what holds others ----
  template <typename T>
  void visit(kinds::Map<T>, std::string const& path, T const* value, T const&) {
    keys(path + ".", value);
  }
  template <typename T>
  void each(std::string const& path, std::vector<T> const* value) {
    bool const is_empty = value != nullptr && value->empty();
    some(path, value == nullptr ? nullptr : &is_empty);
    if (value == nullptr) return keys<T>(path + ".", nullptr);
    for (T const& one : *value) keys(path + ".", &one);
  }
  template <typename T>
  void visit(kinds::Maps<T>, std::string const& path, std::vector<T> const* value,
             std::vector<T> const&) {
    each(path, value);
  }
  void visit(kinds::Worlds, std::string const& path, std::vector<World> const* value,
             std::vector<World> const&) {
    each(path, value);
  }
  void visit(kinds::Params, std::string const& path, kinds::Params::Value const* value,
             kinds::Params::Value const&) {
    leaf(path, {"listed", "of a model"},
         value == nullptr ? ""
         : value->model   ? "of a model"
                          : "listed");
    each(path, value == nullptr ? nullptr : &value->list);
  }
  void visit(kinds::Groups, std::string const& path, std::vector<Group> const* value,
             std::vector<Group> const&) {
    bool const is_empty = value != nullptr && value->empty();
    some(path, value == nullptr ? nullptr : &is_empty);
    if (value == nullptr) return keys<AdamOverride>(path + ".", nullptr);
    for (Group const& group : *value) keys(path + ".", &group.settings);
  }
  void visit(kinds::Offloaded, std::string const& path, Offload const* value, Offload const&) {
    if (value == nullptr || std::holds_alternative<std::monostate>(*value)) found_(path + ": none");
    auto const* states = value == nullptr ? nullptr : std::get_if<OffloadedStates>(value);
    auto const* hybrid = value == nullptr ? nullptr : std::get_if<HybridOffload>(value);
    if (value == nullptr || states != nullptr) keys(path + ".states.", states);
    if (value == nullptr || hybrid != nullptr) keys(path + ".hybrid.", hybrid);
  }
  void visit(kinds::Operations, std::string const& path, std::vector<Operation> const* value,
             std::vector<Operation> const&) {
    bool const recorded = path != "program";
    std::string const before = recorded ? path + "." : "";
    for_each_verb<Action>([&](auto const& verb) {
      using Struct = typename std::remove_cvref_t<decltype(verb)>::Action;
      if (recorded && !verb.traits.recorded) return;
      std::string const place = before + std::string(verb.word);
      if (value == nullptr) return visit_verb<Struct>(verb.argument, place, nullptr);
      for (Operation const& operation : *value)
        if (auto const* action = std::get_if<Struct>(&operation.action))
          visit_verb<Struct>(verb.argument, place, action);
    });
  }

  // ---- verbs ----
  template <typename Struct>
  void visit_verb(NoArgument, std::string const& path, Struct const*) {
    found_(path + ": there");
  }
  template <typename Struct>
  void visit_verb(OptionalKeys, std::string const& path, Struct const* action) {
    keys(path + ".", action);
  }
  template <typename Struct>
  void visit_verb(NameOrKeys, std::string const& path, Struct const* action) {
    keys(path + ".", action);
  }
  template <typename Struct, typename Place, typename Kind>
  void visit_verb(OneValue<Place, Kind> const& argument, std::string const& path,
                  Struct const* action) {
    using Value = typename Kind::Value;
    Value const* const value = action == nullptr ? nullptr : &value_at(*action, argument.place);
    visit(argument.kind, path, value, Value{});
  }

  std::function<void(std::string const&)> found_;
};

}  // namespace adamant::scenarios
