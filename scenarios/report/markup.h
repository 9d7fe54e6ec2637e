// Foreign text as text of a page or of XML: names of scenarios, tensors and files, and what engines
// say. And numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace adamant::scenarios {

/// `text` for the content of an element or an attribute in double quotes, of HTML and of XML. What
/// XML cannot hold, control characters and bytes that are not UTF-8, is U+FFFD.
std::string escaped(std::string_view text);

/// "35 553 280": in groups of three, by spaces at which no line breaks.
std::string grouped(std::uint64_t number, std::string_view separator = "\u00A0");

/// "9.8 ms", "1.2 s", "3 min 5 s"; empty where it is 0: nobody measured it.
std::string duration(double seconds);

}  // namespace adamant::scenarios
