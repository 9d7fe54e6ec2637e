// What goes wrong on purpose between a save and a load: a rank that dies, and files that are not
// any more what was written.
#pragma once

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// Functions that the following call, as far as the plan has any.
void write_damage_functions(Draft& draft);

/// Before a save, of which this rank does not come to the end.
void write_crash(Draft& draft, World const& world, Act const& save, Fault const& fault);
/// After the ranks of a world that crashes: ends the script where the death was another one.
void write_death_check(Draft& draft, World const& world);
/// Before a save: its directory as it is, for a file that comes back later.
void write_keeping_older(Draft& draft, World const& world, Act const& save);
/// Before a load, by one rank while the others wait.
void write_damage(Draft& draft, World const& world, Act const& load, Fault const& fault);

/// Which rank a fault makes die.
std::int64_t dying_rank(World const& world, Fault const& fault);

}  // namespace adamant::scenarios::script
