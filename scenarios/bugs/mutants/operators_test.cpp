// Each operator on a function in which it finds one place.
#include "scenarios/bugs/mutants/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/bugs/weaver/functions.h"

namespace adamant::bugs {
namespace {

// What the rest of a file says.
constexpr char other_names[] =
    "comm computed exp_avg_sq parameters beta2 fp16 cudaMemcpyDeviceToHost reduce_scatter back max";

/// What `name` makes of the body of a function: one text for each place.
std::vector<std::string> made_by(std::string_view name, std::string const& body,
                                 std::string const& result = "void") {
  std::string const source = result + " f(int n) { " + body + " }\n// " + other_names + "\n";
  Function const function = find_functions(source).at(0);
  Body const code(source, function);
  std::vector<std::string> all;
  for (Operator const& one : operators()) {
    if (one.name != name) continue;
    for (Replacement const& replacement : replacements_of(one, code)) {
      std::size_t const begin = code[replacement.first].offset;
      std::size_t const end = code[replacement.last].end();
      std::string const text = source.substr(function.open + 2, begin - function.open - 2) +
                               replacement.text + source.substr(end, function.close + 1 - end);
      all.push_back(text.substr(0, text.rfind(" }")));
    }
  }
  return all;
}

struct Case {
  std::string_view operator_name;
  std::string before;
  std::string after;
};

std::vector<Case> const cases = {
    {"drop_wait", "event.make_wait(comm); f();", "; f();"},
    {"drop_record", "event.record(comm);", ";"},
    {"drop_release", "buffer.free_on(comm);", ";"},
    {"drop_disk", "file->sync();", ";"},
    {"drop_refusal", "if (bad) throw Error(\"a\");", "if (bad) ;"},
    {"drop_call", "ADAMANT_TRY(cudaMemcpyAsync(a, b, n, k, s));", ";"},
    {"drop_assignment", "sequence_ = sequence;", ";"},
    {"skip_body", "f(); g();", "return; f(); g();"},
    {"release_earlier", "use(); buffer.free_on(comm);", "buffer.free_on(comm); use();"},
    {"record_earlier", "use(); event.record(comm);", "event.record(comm); use();"},
    {"wait_later", "event.make_wait(comm); use();", "use(); event.make_wait(comm);"},
    {"disk_order", "file->sync(); storage.rename(a, b);", "storage.rename(a, b); file->sync();"},
    {"swap_statements", "first(); second();", "second(); first();"},
    {"never", "if (n == 0) return;", "if (false && (n == 0)) return;"},
    {"always", "if (n == 0) return;", "if (true || (n == 0)) return;"},
    {"skip_loop", "for (int i : all) use(i);", "if (false) for (int i : all) use(i);"},
    {"skip_first_round", "for (int i = 0; i < n; ++i) use(i);",
     "for (int i = 1; i < n; ++i) use(i);"},
    {"skip_every_other", "for (int i = 0; i < n; ++i) use(i);",
     "for (int i = 0; i < n; i += 2) use(i);"},
    {"swap_choice", "int const a = n ? x : y;", "int const a = n ? y : x;"},
    {"other_jump", "for (int i : all) continue;", "for (int i : all) break;"},
    {"boundary", "while (i < n) use();", "while (i <= n) use();"},
    {"opposite_order", "while (i < n) use();", "while (i >= n) use();"},
    {"opposite_equality", "use(i == n);", "use(i != n);"},
    {"plus_minus", "use(i + n);", "use(i - n);"},
    {"times_divide", "use(i * n);", "use(i / n);"},
    {"and_or", "use(a && b);", "use(a || b);"},
    {"drop_not", "use(!a);", "use( a);"},
    {"drop_term", "use(i + n < m);", "use(i  < m);"},
    {"drop_condition", "use(a && b == c);", "use(a );"},
    {"other_assignment", "sum += n;", "sum = n;"},
    {"size_plus_one", "use(layout.numel);", "use((layout.numel + 1));"},
    {"size_minus_one", "use(all.size());", "use((all.size() - 1));"},
    {"place_plus_one", "use(row_begin);", "use((row_begin + 1));"},
    {"place_minus_one", "use(piece.end);", "use((piece.end - 1));"},
    {"other_number", "use(0);", "use(1);"},
    {"other_bool", "use(true);", "use(false);"},
    {"next_rank", "use(where.rank);", "use((where.rank + 1));"},
    {"first_rank", "use(where.rank);", "use((where.rank * 0));"},
    {"last_rank", "use(where.rank);", "use((where.world_size - 1));"},
    {"pageable", "use(shape.pinned);", "use(false);"},
    {"checksum_range", "use(crc32c(bytes));", "use(crc32c(bytes.first(bytes.size() - 1)));"},
    {"swap_arguments", "use(a.b, c);", "use(c, a.b);"},
    {"other_stream", "use(streams.compute);", "use(streams.comm);"},
    {"other_event", "slot.gathered.f();", "slot.computed.f();"},
    {"other_tensor", "use(TensorKind::exp_avg);", "use(TensorKind::exp_avg_sq);"},
    {"other_purpose", "use(Purpose::main);", "use(Purpose::parameters);"},
    {"other_field", "use(s.beta1);", "use(s.beta2);"},
    {"other_format", "use(NumberFormat::bf16);", "use(NumberFormat::fp16);"},
    {"other_direction", "use(cudaMemcpyHostToDevice);", "use(cudaMemcpyDeviceToHost);"},
    {"other_collective", "comm.all_gather(a);", "comm.reduce_scatter(a);"},
    {"last_for_first", "use(all.front());", "use(all.back());"},
    {"min_max", "use(std::min(a, b));", "use(std::max(a, b));"},
};

TEST(Operators, FindOnePlaceAndMakeTheMistake) {
  for (Case const& one : cases)
    EXPECT_EQ(made_by(one.operator_name, one.before), std::vector{one.after}) << one.operator_name;
  EXPECT_EQ(made_by("nothing_returned", "return n + 1;", "int"),
            std::vector<std::string>{"return {};"});
}

TEST(Operators, EachHasItsNameAndIsShown) {
  std::set<std::string_view> names;
  for (Operator const& one : operators()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  EXPECT_GE(names.size(), 25U);
  for (Case const& one : cases) names.erase(one.operator_name);
  EXPECT_EQ(names, std::set<std::string_view>{"nothing_returned"});
}

TEST(Operators, LeaveAssertionsAndWordsOfErrorsAlone) {
  std::string const body =
      "ADAMANT_REAL_ASSERT(n < 2); ADAMANT_SIM_ASSERT(n < 2); refuse_damaged(a, n + 1);"
      "throw Error(n == 3); return fmt::format(a, n + 1);";
  for (std::string_view const name : {"boundary", "plus_minus", "opposite_equality", "drop_call"})
    EXPECT_EQ(made_by(name, body), std::vector<std::string>()) << name;
}

TEST(Operators, TakeATemplateForNoComparison) {
  EXPECT_TRUE(made_by("boundary", "use(static_cast<int>(n));").empty());
  EXPECT_TRUE(made_by("times_divide", "Window* w = find();").empty());
}

TEST(Operators, MoveNoStatementOutOfALoop) {
  EXPECT_TRUE(made_by("record_earlier", "for (int i : all) use(i); event.record(comm);").empty());
}

TEST(Operators, LeaveLabelsAlone) {
  EXPECT_TRUE(made_by("other_format", "switch (n) { case NumberFormat::bf16: use(); }").empty());
}

TEST(Operators, SeeNothingOfWhatNvccAloneCompiles) {
  std::string const body = "\n#ifdef __CUDACC__\n use(i < n);\n#else\n use(i == n);\n#endif\n";
  EXPECT_TRUE(made_by("boundary", body).empty());
  EXPECT_EQ(made_by("opposite_equality", body).size(), 1U);
}

TEST(Operators, FindStatementsWithinLambdas) {
  EXPECT_EQ(made_by("drop_record", "attempt([&] { event.record(s); });"),
            std::vector<std::string>{"attempt([&] { ; });"});
}

}  // namespace
}  // namespace adamant::bugs
