// Numbers are written seven bits a byte, the lowest first, the eighth bit saying that more follow:
// most are small, and none is negative.
#include "real/checkpoint/headers.h"

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

class Writer {
 public:
  void number(std::uint64_t value) {
    for (; value >= more; value >>= 7) text_.push_back(static_cast<char>(value | more));
    text_.push_back(static_cast<char>(value));
  }
  void word(std::string const& word) {
    number(word.size());
    text_ += word;
  }
  void extents(std::vector<std::int64_t> const& extents) {
    number(extents.size());
    for (std::int64_t const extent : extents) number(static_cast<std::uint64_t>(extent));
  }
  std::string text() && { return std::move(text_); }

 private:
  static constexpr std::uint64_t more = 0x80;

  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string const& text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      ADAMANT_REAL_ASSERT(at_ < text_.size() && shift < 64);
      auto const byte = static_cast<std::uint8_t>(text_[at_++]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string word() {
    std::uint64_t const size = number();
    ADAMANT_REAL_ASSERT(size <= text_.size() - at_);
    at_ += size;
    return text_.substr(at_ - size, size);
  }
  std::vector<std::int64_t> extents() {
    std::vector<std::int64_t> extents(number());
    for (std::int64_t& extent : extents) extent = static_cast<std::int64_t>(number());
    return extents;
  }

 private:
  std::string const& text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string text_of_headers(std::span<FileHeader const> headers) {
  Writer text;
  for (FileHeader const& header : headers) {
    text.number(header.file_bytes);
    text.number(header.parts.size());
    for (SavedPart const& part : header.parts) {
      text.word(part.key);
      text.word(part.dtype);
      text.extents(part.shape);
      text.extents(part.offsets);
      text.extents(part.global_shape);
      text.number(part.begin);
      text.number(part.end);
    }
  }
  return std::move(text).text();
}

std::vector<FileHeader> headers_of_text(std::string const& text) {
  std::vector<FileHeader> headers;
  for (Reader reader(text); !reader.at_end();) {
    FileHeader& header = headers.emplace_back();
    header.file_bytes = reader.number();
    header.parts.resize(reader.number());
    for (SavedPart& part : header.parts) {
      part.key = reader.word();
      part.dtype = reader.word();
      part.shape = reader.extents();
      part.offsets = reader.extents();
      part.global_shape = reader.extents();
      part.begin = reader.number();
      part.end = reader.number();
    }
  }
  return headers;
}

}  // namespace adamant::real
