#include "scenarios/bugs/weaver/functions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace adamant::bugs {
namespace {

/// Each function as its name and what stands between its braces.
std::string found(std::string const& source) {
  std::string all;
  for (Function const& function : find_functions(source)) {
    EXPECT_EQ(source[function.open], '{');
    EXPECT_EQ(source[function.close], '}');
    all += function.name + "{" +
           source.substr(function.open + 1, function.close - function.open - 1) + "} ";
  }
  return all;
}

TEST(Functions, HaveTheNamesOfTheirScopes) {
  EXPECT_EQ(found("int f() {1}"), "f{1} ");
  EXPECT_EQ(found("namespace a::b { namespace { int f() {1} } } int g() {2}"), "a::b::f{1} g{2} ");
  EXPECT_EQ(found("namespace a { inline namespace v1 { int C::f() {1} } }"), "a::v1::C::f{1} ");
  EXPECT_EQ(found("namespace [[deprecated]] a { int f() {1} } namespace b = a; int g() {2}"),
            "a::f{1} g{2} ");
  EXPECT_EQ(found("extern \"C\" { int f() {1} } extern \"C\" int g() {2}"), "f{1} g{2} ");
  EXPECT_EQ(found("class C final : public B<int, (3 > 2)> { public: int f() {1} struct D { void "
                  "g() const {2} }; private: int x; };"),
            "C::f{1} C::D::g{2} ");
  EXPECT_EQ(found("struct alignas(16) [[nodiscard]] S { int f() {1} } s; int g() {2}"),
            "S::f{1} g{2} ");
  EXPECT_EQ(found("template <> struct hash<K> { size_t operator()(K k) const {1} };"),
            "hash::operator(){1} ");
  EXPECT_EQ(found("union U { int f() {1} }; struct { int f() {2} } anonymous;"), "U::f{1} f{2} ");
}

TEST(Functions, MayBeWrittenInManyWays) {
  EXPECT_EQ(found("auto f(int a = {}, B b = B{1}) const noexcept(true) -> std::vector<X> {1}"),
            "f{1} ");
  EXPECT_EQ(found("auto f() -> decltype(g()) {1} auto h() -> int (*)(int) {2}"), "f{1} h{2} ");
  EXPECT_EQ(found("template <typename T, int n = (3 > 2)> requires (n > 1) T f(T t) {1}"), "f{1} ");
  EXPECT_EQ(found("template <typename T> void f(T t) requires (sizeof(T) > 1) {1}"), "f{1} ");
  EXPECT_EQ(found("template <typename T> void f(T t) requires requires(T u) { u.x; } {1}"),
            "f{1} ");
  EXPECT_EQ(found("struct S make(int x) {1} class C* other() {2}"), "make{1} other{2} ");
  EXPECT_EQ(found("__global__ void __launch_bounds__(256) kernel(A const a) {1}"), "kernel{1} ");
  EXPECT_EQ(found("[[gnu::cold]] static int f() {1} __attribute__((noinline)) int g() {2}"),
            "f{1} g{2} ");
  EXPECT_EQ(found("std::map<int, std::vector<int>> S<T>::f(int x) {1}"), "S<T>::f{1} ");
  EXPECT_EQ(found("TEST(Suite, Name) {1}"), "TEST{1} ");
}

TEST(Functions, ConstructorsInitialiseWithBracesToo) {
  EXPECT_EQ(found("C::C(int a) : a_{a}, b_(f({1})), Base<int>{a} {1}"), "C::C{1} ");
  EXPECT_EQ(found("struct C { explicit(true) C(int a) noexcept : a_(a) {1} ~C() {2} };"),
            "C::C{1} C::~C{2} ");
  EXPECT_EQ(found("C::~C() {1}"), "C::~C{1} ");
  EXPECT_EQ(found("template <typename... B> C<B...>::C(B... b) : B{b}... {1}"), "C<B...>::C{1} ");
  EXPECT_EQ(found("C::C() : f_{[] { return 1; }} {1}"), "C::C{1} ");
}

TEST(Functions, OperatorsAreCalledAsTheyAreWritten) {
  EXPECT_EQ(found("bool operator==(A a, A b) {1} A& A::operator=(A const&) {2}"),
            "operator=={1} A::operator={2} ");
  EXPECT_EQ(found("void A::operator()(int) const {1} int A::operator[](int i) {2}"),
            "A::operator(){1} A::operator[]{2} ");
  EXPECT_EQ(found("struct A { explicit operator bool() const {1} bool operator<(A) {2} };"),
            "A::operator bool{1} A::operator<{2} ");
  EXPECT_EQ(found("int operator\"\"_kb(unsigned long long n) {1} void* operator new(size_t n) {2}"),
            "operator\"\"_kb{1} operator new{2} ");
  EXPECT_EQ(found("friend std::ostream& operator<<(std::ostream& o, A a) {1}"), "operator<<{1} ");
}

TEST(Functions, LambdasAndLocalClassesBelongToWhatTheyStandIn) {
  EXPECT_EQ(found("void f() { auto g = [](int x) { return x; }; struct L { void h() {} }; } void "
                  "i() {1}"),
            "f{ auto g = [](int x) { return x; }; struct L { void h() {} }; } i{1} ");
}

TEST(Functions, InitialisersAndListsAreNone) {
  EXPECT_EQ(found("int const a = 3; constexpr int b[] = {1, 2}; std::array<int, 2> c = {{1, 2}};"),
            "");
  EXPECT_EQ(found("auto const f = [](int x) { return x; }; int g() {1}"), "g{1} ");
  EXPECT_EQ(found("A const a = make(1) ? A{2} : A{3}; int g() {1}"), "g{1} ");
  EXPECT_EQ(found("int a{3}; std::vector<int> b{1, 2}; int g() {1}"), "g{1} ");
  EXPECT_EQ(found("enum class E : int { a = f(3), b }; enum { c }; int g() {1}"), "g{1} ");
  EXPECT_EQ(found("struct S { int a : 3 {0}; std::function<int(int)> f{[](int x) { return x; }}; "
                  "int g() {1} };"),
            "S::g{1} ");
  EXPECT_EQ(found("template <typename T> concept C = requires(T t) { t.x; }; int g() {1}"),
            "g{1} ");
  EXPECT_EQ(found("int f(); void g() = delete; C() = default; using F = int (*)(int); int h() {1}"),
            "h{1} ");
}

TEST(Functions, TextAndDirectivesHideBraces) {
  EXPECT_EQ(found("int f() { return \"}\"[0] + '}' /* } */; } // }\nint g() {1}"),
            "f{ return \"}\"[0] + '}' /* } */; } g{1} ");
  EXPECT_EQ(found("int f() { return R\"x(} )\" )x\"[0]; } int g() {1}"),
            "f{ return R\"x(} )\" )x\"[0]; } g{1} ");
  EXPECT_EQ(found("#define OPEN {\n#define F(x) int x() \\\n  { return 1; }\nint g() {1}"),
            "g{1} ");
  EXPECT_EQ(
      found("#ifdef A\nint f() {1}\n#else\nint f() {2}\n#endif\nint g() {\n#if B\n3\n#endif\n}"),
      "f{1} f{2} g{\n#if B\n3\n#endif\n} ");
}

TEST(Functions, BeginWhereTheirDeclarationDoes) {
  auto const functions =
      find_functions("int a;\n#define A\n/// F.\ntemplate <int n>\nint f(\n    int x) {\n  1\n}\n");
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].first_line, 4);
  EXPECT_EQ(functions[0].open_line, 6);
  EXPECT_EQ(functions[0].close_line, 8);
}

TEST(Functions, InAClassBeginBelowTheLabelOfTheirAccess) {
  auto const functions = find_functions("class C {\n public:\n  int f() { return 1; }\n};\n");
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].first_line, 3);
}

TEST(Functions, AreCalledByAsMuchOfTheirScopeAsOneLikes) {
  Function const function{.name = "adamant::real::StepTable::advance"};
  EXPECT_TRUE(function.is_called("advance"));
  EXPECT_TRUE(function.is_called("StepTable::advance"));
  EXPECT_TRUE(function.is_called("adamant::real::StepTable::advance"));
  EXPECT_FALSE(function.is_called("Table::advance"));
  EXPECT_FALSE(function.is_called("vance"));
  EXPECT_FALSE(function.is_called("::adamant::real::StepTable::advance"));
  EXPECT_FALSE(function.is_called(""));
}

TEST(Functions, BrokenTextHoldsWhatCanBeTold) {
  EXPECT_EQ(found("int f() { if ("), "");
  EXPECT_EQ(found("} } int f() {1}"), "f{1} ");
  EXPECT_EQ(found("namespace"), "");
  EXPECT_EQ(found("class"), "");
  EXPECT_EQ(found("operator"), "");
  EXPECT_EQ(found("template <"), "");
  EXPECT_EQ(found("("), "");
  EXPECT_EQ(found("{"), "");
  std::string const nasty =
      "template <int n> C<n>::C() : a{1}, b(2) { x(\"}\"); } struct S { operator bool() {1} };";
  for (std::size_t cut = 0; cut < nasty.size(); ++cut) {
    find_functions(nasty.substr(0, cut));
    find_functions(nasty.substr(cut));
  }
}

}  // namespace
}  // namespace adamant::bugs
