// What the compiler's instrumentation pass (-fsanitize=thread, without its run-time library) calls
// for every load and store. Memory outside the region, such as stacks and the heap, is dismissed by
// one comparison.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "sim/sim.h"
#include "sim/watch/watch.h"

namespace {

using adamant::sim::AccessKind;
using adamant::sim::active_watch;
using adamant::sim::region_bytes;
using adamant::sim::region_offset;

// Never inlined: the function that most accesses leave at once needs no frame of its own then.
template <std::uint32_t bytes, AccessKind kind>
[[gnu::noinline]] void access_in_region(adamant::sim::Watch& watch, std::uint64_t offset) {
  watch.access(offset, bytes, kind);
}

template <std::uint32_t bytes, AccessKind kind>
inline void note(void const* address) {
  adamant::sim::Watch* const watch = active_watch;
  if (watch == nullptr) return;
  std::uint64_t const offset = region_offset(address);
  if (offset < region_bytes) return access_in_region<bytes, kind>(*watch, offset);
  if (watch->watches_foreign(address, bytes)) watch->foreign_access(address, bytes, kind);
}

void note_range(void const* address, std::size_t bytes, AccessKind kind) {
  if (active_watch != nullptr) active_watch->range(address, bytes, kind);
}

// ---- what the sanitizer for undefined behaviour tells; its layouts are fixed ------------------
struct SourcePlace {
  char const* file;
  std::uint32_t line;
  std::uint32_t column;
};
struct Type {
  std::uint16_t kind;  // 0: an integer
  std::uint16_t info;  // of an integer: 1 if signed, and twice the logarithm of its bits
  char name[1];        // in quotes
};
struct PointerData {
  SourcePlace place;
  Type const* type;
  std::uint8_t alignment;  // its logarithm
  std::uint8_t use;        // 1: a store
};
struct AssumptionData {
  SourcePlace place;
  SourcePlace promised_at;
  Type const* type;  // of the pointer
};
struct IndexData {
  SourcePlace place;
  Type const* array;
  Type const* index;
};

// An integer of up to 64 bits is the pointer's own value.
std::int64_t index_of(Type const& type, void const* value) {
  auto const bits = reinterpret_cast<std::uintptr_t>(value);
  unsigned const unused = 64U - std::min(64U, 1U << (type.info >> 1U));
  bool const is_signed = (type.info & 1U) != 0;
  return is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                   : static_cast<std::int64_t>(bits << unused >> unused);
}

// Without its quotes, and without what g++ writes before a structure's name.
std::string_view name_of(Type const& type) {
  std::string_view name(static_cast<char const*>(type.name));
  name = name.substr(1, name.size() - 2);
  for (std::string_view const word : {"const ", "struct "})
    if (name.starts_with(word)) name.remove_prefix(word.size());
  return name;
}

}  // namespace

extern "C" {

// Weak: a program that brings the sanitizer's own library has these from there.
[[gnu::weak]] void __ubsan_handle_type_mismatch_v1(PointerData const* data, void const* pointer) {
  std::uint64_t const offset = region_offset(pointer);
  if (active_watch == nullptr || offset >= region_bytes) return;
  AccessKind const kind = data->use == 1 ? AccessKind::write : AccessKind::read;
  active_watch->report_alignment(offset, 1U << data->alignment, kind, name_of(*data->type));
}

// clang asks where an alignment is promised: by std::assume_aligned, or by who allocates.
[[gnu::weak]] void __ubsan_handle_alignment_assumption(AssumptionData const* data,
                                                       void const* pointer,
                                                       std::uintptr_t alignment,
                                                       std::uintptr_t beyond) {
  std::uint64_t const offset = region_offset(pointer) - beyond;
  if (active_watch == nullptr || offset >= region_bytes) return;
  active_watch->report_alignment(offset, static_cast<unsigned>(alignment), AccessKind::read,
                                 name_of(*data->type));
}

[[gnu::weak]] void __ubsan_handle_out_of_bounds(IndexData const* data, void const* index) {
  if (active_watch == nullptr) return;
  active_watch->report_index(index_of(*data->index, index), name_of(*data->array));
  active_watch->leave();
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define ADAMANT_SIM_ACCESS(bytes)                         \
  void __tsan_read##bytes(void* at) {                     \
    note<bytes, AccessKind::read>(at);                    \
  }                                                       \
  void __tsan_write##bytes(void* at) {                    \
    note<bytes, AccessKind::write>(at);                   \
  }                                                       \
  void __tsan_unaligned_read##bytes(void* at) {           \
    note<bytes, AccessKind::read>(at);                    \
  }                                                       \
  void __tsan_unaligned_write##bytes(void* at) {          \
    note<bytes, AccessKind::write>(at);                   \
  }                                                       \
  void __tsan_volatile_read##bytes(void* at) {            \
    note<bytes, AccessKind::read>(at);                    \
  }                                                       \
  void __tsan_volatile_write##bytes(void* at) {           \
    note<bytes, AccessKind::write>(at);                   \
  }                                                       \
  void __tsan_unaligned_volatile_read##bytes(void* at) {  \
    note<bytes, AccessKind::read>(at);                    \
  }                                                       \
  void __tsan_unaligned_volatile_write##bytes(void* at) { \
    note<bytes, AccessKind::write>(at);                   \
  }                                                       \
  void __tsan_read_write##bytes(void* at) {               \
    note<bytes, AccessKind::read>(at);                    \
    note<bytes, AccessKind::write>(at);                   \
  }                                                       \
  void __tsan_unaligned_read_write##bytes(void* at) {     \
    __tsan_read_write##bytes(at);                         \
  }
ADAMANT_SIM_ACCESS(1)
ADAMANT_SIM_ACCESS(2)
ADAMANT_SIM_ACCESS(4)
ADAMANT_SIM_ACCESS(8)
ADAMANT_SIM_ACCESS(16)
#undef ADAMANT_SIM_ACCESS

void __tsan_read_range(void* at, std::size_t bytes) {
  note_range(at, bytes, AccessKind::read);
}
void __tsan_write_range(void* at, std::size_t bytes) {
  note_range(at, bytes, AccessKind::write);
}
void __tsan_vptr_read(void** at) {
  note<8, AccessKind::read>(at);
}
void __tsan_vptr_update(void** at, void*) {
  note<8, AccessKind::write>(at);
}

// Calls to these in instrumented code come here, because the pass reports nothing for them.
void* adamant_sim_memcpy(void* to, void const* from, std::size_t bytes) {
  if (bytes == 0) return to;  // of an empty vector the address may be null
  note_range(from, bytes, AccessKind::read);
  note_range(to, bytes, AccessKind::write);
  return std::memmove(to, from, bytes);
}
void* adamant_sim_memmove(void* to, void const* from, std::size_t bytes) {
  return adamant_sim_memcpy(to, from, bytes);
}
void* adamant_sim_memset(void* to, int value, std::size_t bytes) {
  note_range(to, bytes, AccessKind::write);
  return std::memset(to, value, bytes);
}

// Newer versions of clang call these themselves.
void* __tsan_memcpy(void* to, void const* from, std::size_t bytes) {
  return adamant_sim_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, void const* from, std::size_t bytes) {
  return adamant_sim_memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  return adamant_sim_memset(to, value, bytes);
}

// Atomics of the language, as std::shared_ptr and static variables use them. One OS thread runs
// everything, so that the plain operation is atomic.
#define ADAMANT_SIM_ATOMIC(bits, Type)                                                             \
  Type __tsan_atomic##bits##_load(Type const volatile* at, int) {                                  \
    note<bits / 8, AccessKind::atomic>(const_cast<Type const*>(at));                               \
    return *at;                                                                                    \
  }                                                                                                \
  void __tsan_atomic##bits##_store(Type volatile* at, Type value, int) {                           \
    note<bits / 8, AccessKind::write>(const_cast<Type*>(at));                                      \
    *at = value;                                                                                   \
  }                                                                                                \
  ADAMANT_SIM_FETCH(bits, Type, exchange, value)                                                   \
  ADAMANT_SIM_FETCH(bits, Type, fetch_add, static_cast<Type>(old + value))                         \
  ADAMANT_SIM_FETCH(bits, Type, fetch_sub, static_cast<Type>(old - value))                         \
  ADAMANT_SIM_FETCH(bits, Type, fetch_and, static_cast<Type>(old & value))                         \
  ADAMANT_SIM_FETCH(bits, Type, fetch_or, static_cast<Type>(old | value))                          \
  ADAMANT_SIM_FETCH(bits, Type, fetch_xor, static_cast<Type>(old ^ value))                         \
  int __tsan_atomic##bits##_compare_exchange_strong(Type volatile* at, Type* expected,             \
                                                    Type desired, int, int) {                      \
    note<bits / 8, AccessKind::atomic>(const_cast<Type*>(at));                                     \
    bool const equal = *at == *expected;                                                           \
    if (equal) {                                                                                   \
      *at = desired;                                                                               \
    } else {                                                                                       \
      *expected = *at;                                                                             \
    }                                                                                              \
    return equal;                                                                                  \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(Type volatile* at, Type* expected, Type desired, \
                                                  int success, int failure) {                      \
    return __tsan_atomic##bits##_compare_exchange_strong(at, expected, desired, success, failure); \
  }                                                                                                \
  Type __tsan_atomic##bits##_compare_exchange_val(Type volatile* at, Type expected, Type desired,  \
                                                  int success, int failure) {                      \
    __tsan_atomic##bits##_compare_exchange_strong(at, &expected, desired, success, failure);       \
    return expected;                                                                               \
  }
#define ADAMANT_SIM_FETCH(bits, Type, name, result)                       \
  Type __tsan_atomic##bits##_##name(Type volatile* at, Type value, int) { \
    note<bits / 8, AccessKind::atomic>(const_cast<Type*>(at));            \
    [[maybe_unused]] Type const old = *at;                                \
    *at = result;                                                         \
    return old;                                                           \
  }
ADAMANT_SIM_ATOMIC(8, std::uint8_t)
ADAMANT_SIM_ATOMIC(16, std::uint16_t)
ADAMANT_SIM_ATOMIC(32, std::uint32_t)
ADAMANT_SIM_ATOMIC(64, std::uint64_t)
#undef ADAMANT_SIM_FETCH
#undef ADAMANT_SIM_ATOMIC

void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"

void adamant::sim::copy_watched(void* to, void const* from, std::size_t bytes) {
  adamant_sim_memcpy(to, from, bytes);
}
