// Variants told apart with no word for "all others": a function for each alternative, or for a list
// of them that has a name. Whoever adds an alternative hears from the compiler who has to decide.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace adamant::scenarios {

/// Is it one of these types?
template <typename T, typename... Types>
concept OneOf = (std::is_same_v<std::remove_cvref_t<T>, Types> || ...);

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Does the variant hold one of these types?
template <typename... Types, typename Variant>
bool is(Variant const& variant) {
  return (std::holds_alternative<Types>(variant) || ...);
}

/// Calls the function for what the variant holds. One that names a type wins over one for a list.
template <typename Variant, typename... Functions>
decltype(auto) match(Variant&& variant, Functions&&... functions) {
  return std::visit(Overloaded{std::forward<Functions>(functions)...},
                    std::forward<Variant>(variant));
}

}  // namespace adamant::scenarios
