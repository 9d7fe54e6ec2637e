#include "real/cuda/numbers.h"

#include <cstring>

namespace adamant::real {

namespace {

template <typename T>
std::vector<std::byte> encoded_as(std::span<float const> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T const number = stored<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &number, sizeof(T));
  }
  return bytes;
}

template <typename T>
std::vector<float> rounded_to(std::span<float const> values) {
  std::vector<float> result;
  result.reserve(values.size());
  for (float const value : values) result.push_back(widened(stored<T>(value)));
  return result;
}

template <typename T>
std::vector<float> decoded_from(std::span<std::byte const> bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  std::vector<float> values;
  for (T const number : numbers) values.push_back(widened(number));
  return values;
}

}  // namespace

std::vector<float> decoded(std::span<std::byte const> bytes, NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return decoded_from<float>(bytes);
    case NumberFormat::bf16:
      return decoded_from<__nv_bfloat16>(bytes);
    case NumberFormat::fp16:
      break;
  }
  return decoded_from<__half>(bytes);
}

std::vector<std::byte> encoded(std::span<float const> values, NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return encoded_as<float>(values);
    case NumberFormat::bf16:
      return encoded_as<__nv_bfloat16>(values);
    case NumberFormat::fp16:
      break;
  }
  return encoded_as<__half>(values);
}

std::vector<float> rounded(std::span<float const> values, NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return {values.begin(), values.end()};
    case NumberFormat::bf16:
      return rounded_to<__nv_bfloat16>(values);
    case NumberFormat::fp16:
      break;
  }
  return rounded_to<__half>(values);
}

}  // namespace adamant::real
