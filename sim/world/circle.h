// A circle of ranks and streams of which each waits for the next: why a world cannot go on, however
// many others wait for those in it.
#pragma once

#include <string>

namespace adamant::sim {

class World;

/// The circle in words, from the lowest rank that is in one, and there the shortest; empty where
/// the world waits for something that never comes, such as a rank that has ended.
///
/// Each waits for all that it is said to wait for, so that a circle alone is a deadlock.
/// REQUIRES: nothing in the world can go on.
std::string describe_circle(World& world);

}  // namespace adamant::sim
