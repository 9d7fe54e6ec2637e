// What each number of a manifest can be: one table for all who read them.
#pragma once

#include <string>
#include <string_view>

namespace adamant::real {

/// `number`, where that of this name can be it. Settings of groups are rounded to binary32 later
/// and have to be in their limits then; a loss scale and a norm are binary32 already.
///
/// REQUIRES: the table has the name. Errors: CheckpointError (damaged); `where` begins the message.
double within_limits(std::string_view name, double number, std::string const& where);

/// The same for who has something else than a number, as text. Errors: always.
[[noreturn]] void refuse_as_number(std::string_view name, std::string const& found,
                                   std::string const& where);

}  // namespace adamant::real
