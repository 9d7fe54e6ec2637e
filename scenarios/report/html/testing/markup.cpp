#include "scenarios/report/html/testing/markup.h"

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace adamant::scenarios {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Markup document() {
    if (take("<!DOCTYPE")) until('>');
    space();
    Markup root = element();
    space();
    if (at_ != text_.size()) fail("text behind the root");
    return root;
  }

 private:
  [[noreturn]] void fail(std::string const& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_) + ": " +
                             std::string(text_.substr(at_, 60)));
  }

  char peek() const {
    if (at_ >= text_.size()) fail("the end");
    return text_[at_];
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail("expected " + std::string(word));
  }
  std::string_view until(char end) {
    std::size_t const begin = at_;
    while (peek() != end) ++at_;
    ++at_;
    return text_.substr(begin, at_ - 1 - begin);
  }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  std::string name() {
    std::size_t const begin = at_;
    while (std::string_view(" =/>\n").find(peek()) == std::string_view::npos) ++at_;
    if (begin == at_) fail("expected a name");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string decoded(std::string_view raw) const {
    std::string result;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '<') fail("a < in text");
      if (raw[i] != '&') {
        result += raw[i];
        continue;
      }
      bool known = false;
      for (auto const& [entity, character] :
           {std::pair("&amp;", '&'), {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}}) {
        if (raw.substr(i, std::string_view(entity).size()) != entity) continue;
        result += character;
        i += std::string_view(entity).size() - 1;
        known = true;
        break;
      }
      if (!known) fail("an entity that is none");
    }
    return result;
  }

  Markup element() {
    expect("<");
    Markup markup{.name = name()};
    for (space(); peek() != '>' && peek() != '/'; space()) {
      std::string attribute = name();
      expect("=\"");
      if (!markup.attributes.emplace(attribute, decoded(until('"'))).second)
        fail("twice the attribute " + attribute);
    }
    if (take("/>")) return markup;
    expect(">");
    while (!take("</")) add_content(markup);
    if (name() != markup.name) fail("the end of another than " + markup.name);
    expect(">");
    return markup;
  }

  void add_content(Markup& markup) {
    if (peek() == '<') {
      markup.children.push_back(element());
      markup.text += markup.children.back().text;
      return;
    }
    std::size_t const begin = at_;
    while (peek() != '<') ++at_;
    markup.text += decoded(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string Markup::operator[](std::string const& attribute) const {
  auto const found = attributes.find(attribute);
  return found == attributes.end() ? "" : found->second;
}

bool Markup::has_class(std::string const& wanted) const {
  std::istringstream classes((*this)["class"]);
  for (std::string each; classes >> each;)
    if (each == wanted) return true;
  return false;
}

Markup read_markup(std::string_view text) {
  return Reader(text).document();
}

std::vector<Markup const*> find_all(Markup const& markup,
                                    std::function<bool(Markup const&)> const& holds) {
  std::vector<Markup const*> found;
  for (Markup const& child : markup.children) {
    if (holds(child)) found.push_back(&child);
    auto const below = find_all(child, holds);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::vector<Markup const*> find_all(Markup const& markup, std::string const& name) {
  return find_all(markup, [&](Markup const& each) { return each.name == name; });
}

}  // namespace adamant::scenarios
