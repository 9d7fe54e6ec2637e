#include "sim/nccl/arithmetic.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "sim/nccl/small_floats.h"
#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

// ---- the types: how elements are stored and in what they are computed ---------------------------

template <typename T>
struct Integer {
  using Stored = T;
  using Computed = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

template <typename T, typename Bits, Bits nan>
struct Native {
  using Stored = T;
  using Computed = T;
  static T load(T value) { return value; }
  static T store(T value) { return value == value ? value : std::bit_cast<T>(nan); }
};
using Float = Native<float, std::uint32_t, 0x7FFFFFFFU>;
using Double = Native<double, std::uint64_t, 0x7FF8000000000000ULL>;

struct Half {
  using Stored = std::uint16_t;
  using Computed = float;
  static float load(std::uint16_t value) { return half_to_float(value); }
  static std::uint16_t store(float value) { return float_to_half(value); }
};

struct Bfloat {
  using Stored = std::uint16_t;
  using Computed = float;
  static float load(std::uint16_t value) { return bfloat_to_float(value); }
  static std::uint16_t store(float value) { return float_to_bfloat(value); }
};

// ---- the operators ------------------------------------------------------------------------------

template <typename T>
auto wrapping(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else {
    return value;
  }
}

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};

struct Product {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};

// fminf and fmaxf: a number wins over a NaN, and -0 is below +0.
template <bool maximum>
struct Extreme {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return (a < b) == maximum ? b : a;
    } else {
      if (a == b) return equal(a, b);
      if (a != a) return b;
      if (b != b) return a;
      return (a < b) == maximum ? b : a;
    }
  }
  template <typename T>
  static T equal(T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    auto const x = std::bit_cast<Bits>(a);
    auto const y = std::bit_cast<Bits>(b);
    return std::bit_cast<T>(maximum ? x & y : x | y);
  }
};

// ---- the loops ----------------------------------------------------------------------------------

template <typename Type, typename Operator>
void combine(void* received, void const* own, std::size_t count) {
  auto* const to = static_cast<typename Type::Stored*>(received);
  auto const* const from = static_cast<typename Type::Stored const*>(own);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = Type::store(Operator::apply(Type::load(from[i]), Type::load(to[i])));
  }
}

template <typename Type>
void scale(void* own, void const* scalar, std::size_t count) {
  typename Type::Stored stored;
  std::memcpy(&stored, scalar, sizeof stored);
  auto const factor = Type::load(stored);
  auto* const values = static_cast<typename Type::Stored*>(own);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = Type::store(Product::apply(factor, Type::load(values[i])));
  }
}

template <typename T>
void divide(void* sums, int ranks, std::size_t count) {
  auto* const values = static_cast<T*>(sums);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_signed_v<T>) {
      values[i] = static_cast<T>(std::int64_t{values[i]} / ranks);
    } else {
      values[i] = static_cast<T>(values[i] / static_cast<std::uint64_t>(ranks));
    }
  }
}

template <typename Type>
ReductionArithmetic arithmetic_of(Reduction reduction) {
  ReductionArithmetic result{.scale = scale<Type>};
  switch (reduction) {
    case Reduction::none:
      break;
    case Reduction::sum:
    case Reduction::average:
    case Reduction::scaled_sum:
      result.combine = combine<Type, Sum>;
      break;
    case Reduction::product:
      result.combine = combine<Type, Product>;
      break;
    case Reduction::maximum:
      result.combine = combine<Type, Extreme<true>>;
      break;
    case Reduction::minimum:
      result.combine = combine<Type, Extreme<false>>;
      break;
  }
  if constexpr (std::is_integral_v<typename Type::Computed>) {
    if (reduction == Reduction::average) result.divide = divide<typename Type::Computed>;
  }
  return result;
}

template <typename T>
Scalar scalar_of(T value) {
  Scalar result;
  std::memcpy(result.bytes.data(), &value, sizeof value);
  return result;
}

}  // namespace

char const* name_of(ncclDataType_t type) {
  static constexpr std::array<char const*, ncclNumTypes> names = {
      "int8", "uint8", "int32",  "uint32",   "int64",    "uint64",
      "half", "float", "double", "bfloat16", "fp8 e4m3", "fp8 e5m2"};
  return names[static_cast<std::size_t>(type)];
}

char const* name_of(Reduction reduction) {
  static constexpr std::array<char const*, 7> names = {"none",    "sum",     "product",   "maximum",
                                                       "minimum", "average", "scaled sum"};
  return names[static_cast<std::size_t>(reduction)];
}

std::size_t element_bytes(ncclDataType_t type) {
  static constexpr std::array<std::uint8_t, ncclNumTypes> bytes = {1, 1, 4, 4, 8, 8,
                                                                   2, 4, 8, 2, 1, 1};
  return bytes[static_cast<std::size_t>(type)];
}

bool is_integer(ncclDataType_t type) {
  return type <= ncclUint64;
}

bool is_reducible(ncclDataType_t type) {
  return type != ncclFloat8e4m3 && type != ncclFloat8e5m2;
}

bool depends_on_order(ncclDataType_t type, Reduction reduction) {
  bool const selects = reduction == Reduction::maximum || reduction == Reduction::minimum;
  return !is_integer(type) && !selects && reduction != Reduction::none;
}

Scalar reciprocal(ncclDataType_t type, int ranks) {
  double const value = 1.0 / ranks;
  switch (type) {
    case ncclFloat16:
      return scalar_of(float_to_half(static_cast<float>(value)));
    case ncclBfloat16:
      return scalar_of(float_to_bfloat(static_cast<float>(value)));
    case ncclFloat32:
      return scalar_of(static_cast<float>(value));
    default:
      ADAMANT_SIM_ASSERT(type == ncclFloat64);
      return scalar_of(value);
  }
}

ReductionArithmetic arithmetic(ncclDataType_t type, Reduction reduction) {
  switch (type) {
    case ncclInt8:
      return arithmetic_of<Integer<std::int8_t>>(reduction);
    case ncclUint8:
      return arithmetic_of<Integer<std::uint8_t>>(reduction);
    case ncclInt32:
      return arithmetic_of<Integer<std::int32_t>>(reduction);
    case ncclUint32:
      return arithmetic_of<Integer<std::uint32_t>>(reduction);
    case ncclInt64:
      return arithmetic_of<Integer<std::int64_t>>(reduction);
    case ncclUint64:
      return arithmetic_of<Integer<std::uint64_t>>(reduction);
    case ncclFloat16:
      return arithmetic_of<Half>(reduction);
    case ncclBfloat16:
      return arithmetic_of<Bfloat>(reduction);
    case ncclFloat32:
      return arithmetic_of<Float>(reduction);
    case ncclFloat64:
      return arithmetic_of<Double>(reduction);
    default:
      ADAMANT_SIM_ASSERT(is_reducible(type));
      return {};
  }
}

}  // namespace adamant::sim
