#include "sim/testing/random_program.h"

#include <algorithm>

#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

using Program = RandomProgram;
using Known = std::set<int>;  // steps that happened before

bool overlap(Program::Use const& a, Program::Use const& b) {
  return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}

bool conflict(Program::Step const& a, Program::Step const& b) {
  return overlap(a.writes, b.writes) || overlap(a.writes, b.reads) || overlap(a.reads, b.writes);
}

// What every stream and the host know while the steps are issued one after another.
class Knowledge {
 public:
  explicit Knowledge(int streams) : of_stream_(static_cast<std::size_t>(streams)) {}

  /// What `step` knows when it starts, its waits included.
  Known& before(Program::Step const& step) {
    Known& known = step.stream == Program::host ? host_ : of_stream(step.stream);
    known.insert(host_.begin(), host_.end());  // whatever is issued knows what its host knew
    for (int const earlier : step.after) wait(known, earlier);
    return known;
  }
  void wait(Known& known, int earlier) {
    Known const& event = after_[static_cast<std::size_t>(earlier)];
    known.insert(event.begin(), event.end());
  }
  /// The step has been issued; an event recorded now would know this.
  void issued(Known& known) {
    known.insert(static_cast<int>(after_.size()));
    after_.push_back(known);
  }

 private:
  Known& of_stream(int stream) { return of_stream_[static_cast<std::size_t>(stream)]; }

  Known host_;
  std::vector<Known> of_stream_;
  std::vector<Known> after_;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : prng_(seed) {}

  Program program() {
    program_.streams = 2 + below(3);
    int const buffers = 3 + below(3);
    for (int b = 0; b < buffers; ++b) add_buffer();
    int const steps = 5 + below(20);
    for (int i = 0; i < steps; ++i) add_work();
    for (int b = 0; b < buffers; ++b) release(b);
    add_edges();
    return program_;
  }

 private:
  int below(int count) { return static_cast<int>(prng_.below(static_cast<std::uint32_t>(count))); }
  int any_stream() { return below(program_.streams); }
  Program::Place place(int buffer) const {
    return program_.buffers[static_cast<std::size_t>(buffer)];
  }
  static Program::Use whole(int buffer) { return {buffer, 0, Program::elements}; }

  Program::Step& add(Program::Kind kind, int stream) {
    Program::Step& step = program_.steps.emplace_back();
    step.kind = kind;
    step.stream = stream;
    return step;
  }

  // Every buffer is written whole before anybody reads it.
  void add_buffer() {
    int const buffer = static_cast<int>(program_.buffers.size());
    auto const where = static_cast<Program::Place>(below(3));
    program_.buffers.push_back(where);
    if (where == Program::Place::in_order) {
      add(Program::Kind::allocate, any_stream()).writes = whole(buffer);
    }
    add(Program::Kind::fill, any_stream()).writes = whole(buffer);
  }

  void release(int buffer) {
    if (place(buffer) != Program::Place::in_order || below(3) == 0) return;
    add(Program::Kind::release, any_stream()).writes = whole(buffer);
  }

  Program::Use part(int buffer) {
    int const begin = below(Program::elements);
    int const length = 1 + below(Program::elements - begin);
    return {buffer, begin, begin + length};
  }

  void add_work() {
    int const buffers = static_cast<int>(program_.buffers.size());
    int const to = below(buffers);
    int const from = (to + 1 + below(buffers - 1)) % buffers;
    bool const to_host = place(to) == Program::Place::pinned;
    bool const from_host = place(from) == Program::Place::pinned;
    int const what = below(6);
    if (what <= 1) return add_kernel(to, from);
    if (what == 2 && !(to_host && from_host)) return add_copy(to, from);
    if (what == 3 && to_host) return add_host_function(to);
    if (what == 4 && to_host) return add_host_access(to);
    add(Program::Kind::fill, any_stream()).writes = part(to);
  }

  void add_kernel(int to, int from) {
    Program::Step& step = add(Program::Kind::kernel, any_stream());
    step.reads = part(from);
    step.writes = part(to);
  }
  void add_copy(int to, int from) {
    Program::Step& step = add(Program::Kind::copy, any_stream());
    step.reads = part(from);
    step.writes = {to, step.reads.begin, step.reads.end};
  }
  void add_host_function(int to) {
    add(Program::Kind::host_function, any_stream()).writes = part(to);
  }
  void add_host_access(int to) {
    Program::Step& step = add(Program::Kind::host_access, Program::host);
    (below(2) == 0 ? step.reads : step.writes) = part(to);
  }

  // The latest conflicting step first: it often knows of the others.
  void add_edges() {
    Knowledge knowledge(program_.streams);
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      Program::Step& step = program_.steps[i];
      Known& known = knowledge.before(step);
      for (std::size_t j = i; j-- > 0;) {
        Program::Step& earlier = program_.steps[j];
        if (!conflict(earlier, step) || known.contains(static_cast<int>(j))) continue;
        knowledge.wait(known, static_cast<int>(j));
        step.after.push_back(static_cast<int>(j));
        earlier.recorded = true;
      }
      knowledge.issued(known);
    }
  }

  Prng prng_;
  Program program_;
};

}  // namespace

RandomProgram RandomProgram::draw(std::uint64_t seed) {
  return Draw(seed).program();
}

std::vector<RandomProgram::Edge> RandomProgram::edges() const {
  std::vector<Edge> result;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t e = 0; e < steps[i].after.size(); ++e) {
      result.push_back({static_cast<int>(i), e});
    }
  }
  return result;
}

RandomProgram RandomProgram::without(Edge const& edge) const {
  RandomProgram result = *this;
  std::vector<int>& after = result.steps[static_cast<std::size_t>(edge.step)].after;
  after.erase(after.begin() + static_cast<std::ptrdiff_t>(edge.index));
  return result;
}

bool RandomProgram::ordered() const {
  Knowledge knowledge(streams);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Known& known = knowledge.before(steps[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (conflict(steps[j], steps[i]) && !known.contains(static_cast<int>(j))) return false;
    }
    knowledge.issued(known);
  }
  return true;
}

}  // namespace adamant::sim
