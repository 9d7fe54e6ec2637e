// May a kernel's loop over lanes be a plain one, of which a CPU's compiler makes vectors? Only in
// the simulator's unchecked engine, which runs models of real size, and only where the lanes would
// cost it much: GPUs and the checked engine have the lanes, and all have the same bits.
#pragma once

namespace adamant::real {

#ifdef ADAMANT_SIM_UNCHECKED
inline constexpr bool has_plain_loops = true;
#else
inline constexpr bool has_plain_loops = false;
#endif

}  // namespace adamant::real
