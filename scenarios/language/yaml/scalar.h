// Scalars by the core schema of YAML 1.2: `1e-3` is a number, `no` is text, and what stands in
// quotes is text. Text in, values out; it knows no node and no key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace adamant::scenarios {

enum class ScalarKind { null, boolean, integer, real, text };

/// What a plain (unquoted) scalar stands for.
ScalarKind kind_of_plain(std::string_view text);

/// The integer that `text` of kind integer stands for, or none where it does not fit the type.
std::optional<std::int64_t> to_int64(std::string_view text);
std::optional<std::uint64_t> to_uint64(std::string_view text);

/// The nearest binary64 of `text` of kind integer or real; infinite where it is too large.
/// Rounding: once, to nearest even.
double to_double(std::string_view text);

/// The nearest binary32 of a binary64; infinite where it is too large.
/// Rounding: once, to nearest even.
float to_float(double value);

/// The shortest decimal that reads back, through binary64, as exactly `value`.
std::string write_number(float value);
std::string write_number(double value);

/// `text` as a plain scalar where that reads back as the same text, else in double quotes.
std::string write_text(std::string_view text);

}  // namespace adamant::scenarios
