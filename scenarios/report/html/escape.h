// Foreign text as text of a page: names of scenarios, tensors and files, and what engines say.
#pragma once

#include <string>
#include <string_view>

namespace adamant::scenarios {

/// `text` for the content of an element or an attribute in double quotes, of HTML and of XML. What
/// XML cannot hold, control characters and bytes that are not UTF-8, is U+FFFD.
std::string escaped(std::string_view text);

}  // namespace adamant::scenarios
