// Does the compiler report every load and store of this code to somebody (as the simulator's
// checked build asks it to)? Intrinsics and system calls are not reported: where this is true,
// plain loops and copies stand in for them, to the same effect.
#pragma once

namespace adamant::real {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool accesses_are_reported = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool accesses_are_reported = true;
#else
inline constexpr bool accesses_are_reported = false;
#endif
#else
inline constexpr bool accesses_are_reported = false;
#endif

}  // namespace adamant::real
