// Numbers as people read them on a page.
#pragma once

#include <cstdint>
#include <string>

namespace adamant::scenarios {

/// "35 553 280": in groups of three, by spaces at which no line breaks.
std::string grouped(std::uint64_t number);

/// "9.8 ms", "1.2 s", "3 min 5 s"; empty where it is 0: nobody measured it.
std::string duration(double seconds);

}  // namespace adamant::scenarios
