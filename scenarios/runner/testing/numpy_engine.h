// How tests start the engine in NumPy, and damage to the checkpoints that it writes of
// small_scenario(): damage that no tensor notices, and damage that one does.
#pragma once

#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/runner/testing/python.h"

namespace adamant::scenarios {

/// Arguments of an engine that looks at no checksums.
inline constexpr char const* no_checksums = "--bug no_checksums";
/// The same, and honest about it: its hello does not promise to notice flipped bits.
inline constexpr char const* promises_less = "--bug no_checksums | sed -u 's/\"flip_byte\", //'";

/// A flipped bit in a letter of a key of the index, which is not looked at without checksums.
inline Fault harmless_damage() {
  return {.at = Fault::Where::load, .then = Fault::Then::flip_byte, .file = 0, .byte = 3};
}

/// A flipped bit in a tensor: rank 0's file has a header of 1,263 bytes and 384 bytes of them.
inline Fault harmful_damage() {
  return {.at = Fault::Where::load, .then = Fault::Then::flip_byte, .file = 1, .byte = 1'400};
}

}  // namespace adamant::scenarios
