#include "scenarios/language/yaml/tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "scenarios/language/yaml/file.h"
#include "scenarios/language/yaml/problem.h"
#include "scenarios/language/yaml/syntax.h"

namespace adamant::scenarios {

namespace {

constexpr std::string_view core_tag_prefix = "tag:yaml.org,2002:";

/// Receives yaml-cpp's events in document order and grows the tree.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Tree& tree) : tree_(tree) {}

  void OnDocumentStart(YAML::Mark const& mark) override {
    if (++documents_ > 1) fail(mark, "expected one document, found a second one");
  }
  void OnDocumentEnd() override {}

  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override {
    Node node = scalar(mark, "", ScalarKind::null);
    // The mark of nothing is that of whatever follows; the key it belongs to is where to look.
    if (!frames_.empty() && frames_.back().has_key) node.line = frames_.back().key_line;
    add_leaf(std::move(node), anchor, mark);
  }

  void OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) override {
    auto const found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      fail(mark, "this alias stands inside of what it refers to; cyclic aliases are not allowed");
    }
    attach(*found->second, mark);
  }

  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                std::string const& value) override {
    add_leaf(scalar(mark, value, kind_by_tag(mark, tag, value)), anchor, mark);
  }

  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::sequence, "seq", tag, anchor, mark);
  }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, "map", tag, anchor, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  /// The path of keys to where the events have come: what an error there is about.
  std::string path() const {
    std::string path;
    for (Frame const& frame : frames_) {
      if (frame.node->kind == Node::Kind::sequence) {
        path = join_path(path, frame.node->items.size());
      } else if (frame.has_key) {
        path = join_path(path, frame.key);
      }
    }
    return path.empty() ? "document" : path;
  }

 private:
  /// A collection that is not closed yet.
  struct Frame {
    Node* node;
    YAML::anchor_t anchor;
    YAML::Mark mark;
    bool has_key = false;  // of a map: the next node is the value of `key`
    std::string key;
    int key_line = 1;
    std::set<std::string> keys;
  };

  static int line_of(YAML::Mark const& mark) { return mark.line + 1; }

  [[noreturn]] void fail(YAML::Mark const& mark, std::string message) const {
    throw BadInput({line_of(mark), path(), std::move(message)});
  }

  ScalarKind kind_by_tag(YAML::Mark const& mark, std::string const& tag,
                         std::string const& value) const {
    auto const plain = kind_of_plain(value);
    if (tag.empty() || tag == "?") return plain;
    if (tag == "!") return ScalarKind::text;  // quoted, or tagged as "not to be resolved"
    static std::pair<std::string_view, ScalarKind> const kinds[] = {
        {"str", ScalarKind::text},    {"null", ScalarKind::null},  {"bool", ScalarKind::boolean},
        {"int", ScalarKind::integer}, {"float", ScalarKind::real},
    };
    for (auto const& [name, kind] : kinds) {
      if (tag != std::string(core_tag_prefix) + std::string(name)) continue;
      bool const widened = kind == ScalarKind::real && plain == ScalarKind::integer;
      if (kind == ScalarKind::text || kind == plain || widened) return kind;
      fail(mark, "the tag !!" + std::string(name) + " does not fit what follows it");
    }
    fail(mark, "the tag `" + tag + "` is not of YAML's core schema; custom tags are not allowed");
  }

  static Node scalar(YAML::Mark const& mark, std::string text, ScalarKind kind) {
    Node node;
    node.line = line_of(mark);
    node.text = std::move(text);
    node.scalar = kind;
    return node;
  }

  void add_leaf(Node node, YAML::anchor_t anchor, YAML::Mark const& mark) {
    tree_.nodes.push_back(std::move(node));
    attach(tree_.nodes.back(), mark);
    remember(anchor, tree_.nodes.back());
  }

  void remember(YAML::anchor_t anchor, Node const& node) {
    if (anchor != YAML::NullAnchor) anchored_[anchor] = &node;
  }

  void open(Node::Kind kind, std::string_view kind_tag, std::string const& tag,
            YAML::anchor_t anchor, YAML::Mark const& mark) {
    bool const core = tag.empty() || tag == "?" || tag == "!" ||
                      tag == std::string(core_tag_prefix) + std::string(kind_tag);
    if (!core)
      fail(mark, "the tag `" + tag + "` is not of YAML's core schema; custom tags are not allowed");
    if (frames_.size() >= depth_max) fail(mark, "nested deeper than 64 levels");
    if (is_key_next()) fail(mark, "expected a key, which is a scalar, found a collection");
    tree_.nodes.emplace_back();
    tree_.nodes.back().kind = kind;
    tree_.nodes.back().line = line_of(mark);
    tree_.nodes.back().height = 1;
    frames_.push_back(
        {.node = &tree_.nodes.back(), .anchor = anchor, .mark = mark, .key = {}, .keys = {}});
    count(1, mark);
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    node_count_ -= frame.node->node_count;  // attach() counts it again, as any finished node
    attach(*frame.node, frame.mark);
    remember(frame.anchor, *frame.node);
  }

  bool is_key_next() const {
    return !frames_.empty() && frames_.back().node->kind == Node::Kind::map &&
           !frames_.back().has_key;
  }

  void count(std::int64_t nodes, YAML::Mark const& mark) {
    node_count_ += nodes;
    if (node_count_ > nodes_max) fail(mark, "too many nodes: a scenario has at most 200,000");
  }

  /// Puts a finished node where the document has come to.
  void attach(Node const& node, YAML::Mark const& mark) {
    count(node.node_count, mark);
    if (static_cast<int>(frames_.size()) + node.height > depth_max)
      fail(mark, "nested deeper than 64 levels");
    if (frames_.empty()) {
      tree_.root = &node;
    } else if (is_key_next()) {
      take_key(node, mark);
    } else {
      take_value(node);
    }
  }

  void take_key(Node const& node, YAML::Mark const& mark) {
    Frame& frame = frames_.back();
    if (node.kind != Node::Kind::scalar)
      fail(mark, "expected a key, which is a scalar, found a collection");
    if (node.scalar == ScalarKind::null) fail(mark, "expected a key, found nothing");
    frame.node->node_count += 1;
    frame.key = node.text;
    frame.key_line = line_of(mark);
    frame.has_key = true;
    if (node.text == "<<")
      fail(mark, "merge keys are no part of the format; write the keys out here");
    if (!frame.keys.insert(node.text).second) fail(mark, "this key occurs twice in one map");
  }

  void take_value(Node const& node) {
    Frame& frame = frames_.back();
    frame.node->node_count += node.node_count;
    frame.node->height = std::max(frame.node->height, node.height + 1);
    if (frame.node->kind == Node::Kind::sequence) {
      frame.node->items.push_back(&node);
    } else {
      frame.node->entries.push_back({std::move(frame.key), frame.key_line, &node});
      frame.has_key = false;
    }
  }

  Tree& tree_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Node const*> anchored_;
  std::int64_t node_count_ = 0;
  int documents_ = 0;
};

int line_count(std::string_view text) {
  auto const breaks = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  return std::max(1, breaks + (text.ends_with('\n') ? 0 : 1));
}

/// `text` with a comment after its last line break: yaml-cpp 0.7 takes a quoted scalar for closed
/// where the file ends right after a line break.
std::string guard_end(std::string_view text) {
  std::string guarded(text);
  if (text.ends_with('\n') || text.ends_with('\r')) guarded += '#';
  return guarded;
}

}  // namespace

Tree parse_tree(std::string_view text) {
  check_bytes(text);
  Tree tree;
  TreeBuilder builder(tree);
  try {
    std::istringstream stream{guard_end(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (YAML::Exception const& error) {
    auto const line = std::clamp(error.mark.line + 1, 1, line_count(text));
    auto const cause = find_syntax_cause(text, line).value_or(SyntaxCause{line, error.msg});
    throw BadInput({cause.line, builder.path(), "wrong YAML syntax: " + cause.message});
  }
  return tree;
}

}  // namespace adamant::scenarios
