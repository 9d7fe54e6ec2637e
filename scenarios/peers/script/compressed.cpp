#include "scenarios/peers/script/compressed.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <string_view>
#include <vector>

namespace adamant::scenarios::script {

namespace {

std::string base64(std::span<Bytef const> bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t const count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < count; ++k) group |= std::uint32_t{bytes[i + k]} << (16 - 8 * k);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[(group >> (18 - 6 * k)) & 63U] : '=';
  }
  return text;
}

}  // namespace

std::string compressed(std::span<std::byte const> bytes) {
  auto const* const source = reinterpret_cast<Bytef const*>(bytes.data());
  uLongf size = compressBound(bytes.size());
  std::vector<Bytef> packed(size);
  if (compress2(packed.data(), &size, source, bytes.size(), Z_BEST_COMPRESSION) != Z_OK)
    throw std::bad_alloc();  // there is room enough, and the level is one
  return base64({packed.data(), size});
}

void write_compressed_text(python::Code& code, std::string_view before,
                           std::span<std::byte const> bytes, std::string_view after) {
  constexpr std::size_t columns = python::wide_columns_max;
  std::string const text = compressed(bytes);
  std::string const end = fmt::format("\"\"\")){}", after);
  std::string_view rest = text;
  code.line(fmt::format("{}zlib.decompress(base64.b64decode(\"\"\"", before));
  while (rest.size() + end.size() > columns) {
    code.line(rest.substr(0, columns));
    rest.remove_prefix(std::min(columns, rest.size()));
  }
  code.line(fmt::format("{}{}", rest, end));
}

}  // namespace adamant::scenarios::script
