#include "sim/lexer/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/lexer/tokens.h"

namespace adamant::sim {
namespace {

std::string const launch = "::adamant_sim_launch_chevron(";
std::string const chevron = ", ::adamant_sim_chevron(";

struct Case {
  char const* name;
  std::string source;
  std::string expected;
};

std::vector<Case> const launches = {
    {"PlainName", "void f() { k<<<1, 2>>>(a, b); }",
     "void f() { " + launch + "k" + chevron + "1, 2), a, b); }"},
    {"NoArguments", "k<<<1, 2>>>();", launch + "k" + chevron + "1, 2) );"},
    {"FourParts", "k<<<g, dim3(8, 8), n * sizeof(float), s>>>(p);",
     launch + "k" + chevron + "g, dim3(8, 8), n * sizeof(float), s), p);"},
    {"TemplateArguments", "k<int, 4><<<1, 2>>>(a);", launch + "k<int, 4>" + chevron + "1, 2), a);"},
    {"NestedTemplateArguments", "k<A<B<int>>, (x > 3)><<<1, 2>>>(a);",
     launch + "k<A<B<int>>, (x > 3)>" + chevron + "1, 2), a);"},
    {"Namespaces", "else ::a::b::k<<<1, 2>>>(a);",
     "else " + launch + "::a::b::k" + chevron + "1, 2), a);"},
    {"QualifiedByATemplate", "A<int>::k<<<1, 2>>>(a);",
     launch + "A<int>::k" + chevron + "1, 2), a);"},
    {"Members", "x = t->table[i].kernel<<<1, 2>>>(a);",
     "x = " + launch + "t->table[i].kernel" + chevron + "1, 2), a);"},
    {"Parentheses", "if (c) (c ? k : l)<<<1, 2>>>(a);",
     "if (c) " + launch + "(c ? k : l)" + chevron + "1, 2), a);"},
    {"ShiftsInParts", "k<<<(n >> 3), 1 << 4>>>(n >> 2);",
     launch + "k" + chevron + "(n >> 3), 1 << 4), n >> 2);"},
    {"ATemplateBeforeTheEnd", "k<<<1, b<int>>>>(a);", launch + "k" + chevron + "1, b<int>), a);"},
    {"CommentsBetween", "k /* < */ <<<1, /* >>>( */ 2>>> // (\n (a);",
     launch + "k /* < */ " + chevron + "1, /* >>>( */ 2) // (\n ,a);"},
    {"LinesBetween", "k<\n4><<<\n1,\n2>>>\n(\na);",
     launch + "k<\n4>" + chevron + "\n1,\n2)\n,\na);"},
    {"ALaunchInALambda", "auto f = [&] { k<<<1, 2>>>(g([] { return 1; })); };",
     "auto f = [&] { " + launch + "k" + chevron + "1, 2),g([] { return 1; })); };"},
    {"ADeducedTemplate",
     "template <class T> __global__ void k(T* p) {}\nvoid f() { k<<<1, 2>>>(p); }",
     "template <class T> __global__ void k(T* p) {}\nvoid f() { " + launch +
         "::adamant_sim_deduced(\"k\", [](auto... adamant_argument) { k(adamant_argument...); })" +
         chevron + "1, 2), p); }"},
    {"APartlyDeducedTemplate",
     "template <int n, class T> __global__ void k(T* p) {}\nvoid f() { k<4><<<1, 2>>>(p); }",
     "template <int n, class T> __global__ void k(T* p) {}\nvoid f() { " + launch +
         "::adamant_sim_deduced(\"k<4>\", [](auto... adamant_argument) { "
         "k<4>(adamant_argument...); })" +
         chevron + "1, 2), p); }"},
    {"ASpelledOutTemplate",
     "template <int n, class T> __global__ void k(T* p) {}\nvoid f() { k<4, A<int, 2>><<<1, "
     "2>>>(p); }",
     "template <int n, class T> __global__ void k(T* p) {}\nvoid f() { " + launch +
         "k<4, A<int, 2>>" + chevron + "1, 2), p); }"},
};

/// Blanks differ where the arguments begin; the compiler does not see them.
std::string squeezed(std::string text) {
  std::erase(text, ' ');
  return text;
}

TEST(Rewrite, TurnsLaunchesIntoCalls) {
  for (Case const& one : launches) {
    EXPECT_EQ(squeezed(rewrite(one.source, "k.cu")), squeezed(one.expected)) << one.name;
  }
}

TEST(Rewrite, KeepsTheNumberOfLines) {
  auto const lines = [](std::string const& text) { return std::ranges::count(text, '\n'); };
  for (Case const& one : launches) {
    EXPECT_EQ(lines(rewrite(one.source, "k.cu")), lines(one.source)) << one.name;
  }
  std::string const shared = "void f() {\nextern __shared__\n  __align__(16)\nfloat\nname[]\n;\n}";
  EXPECT_EQ(lines(rewrite(shared, "k.cu")), lines(shared));
  std::string const literal =
      "template <class T> __global__ void k(T) {}\nvoid f() {\nk[R\"(\n)\"]<<<1, 2>>>(a); }";
  EXPECT_EQ(lines(rewrite(literal, "k.cu")), lines(literal));
}

TEST(Rewrite, LeavesEverythingElseByteForByte) {
  std::vector<std::string> const sources = {
      "",
      "int x = a << b >> c; bool y = a<b>::c; auto z = std::vector<std::vector<int>>{};",
      "// k<<<1, 2>>>(a)\n/* k<<<1, 2>>>(a) */ 'k' \"k<<<1, 2>>>(a)\" \"\\\"<<<\"",
      "auto s = R\"x(k<<<1, 2>>>(a) )\" )x\"; auto t = u8R\"(<<<)\";",
      "#define S \"k<<<1, 2>>>(a)\" // k<<<1, 2>>>(a)\n#define C /* <<< */ a << b <c> d\n",
      "#define PRINT(T) operator<<<T>\n#error <<<\n#define\n#define EMPTY\n#undef GO\n#\n",
      "// a spliced comment \\\n k<<<1, 2>>>(a)\n",
      "auto n = 1'000'000 + 0x1p-3 + 1e+5; char c = '\\''; char d = '\"';",
      "#if 0\ndon't\n#endif\n",
      "std::ostream& operator<<<int>(std::ostream&, A<int>);",
      "extern int declared; extern \"C\" { void f(); } __shared__ float fixed[4];",
  };
  for (std::string const& source : sources) EXPECT_EQ(rewrite(source, "k.cu"), source);
}

TEST(Rewrite, MakesALaunchOfAMacroAnErrorWhereItIsUsed) {
  auto const error = [](std::string const& macro, int line) {
    return " _Pragma(\"GCC error \\\"the macro " + macro + " of line " + std::to_string(line) +
           " spells a kernel launch (<<<...>>>), which is not modelled in macros: write it in a "
           "function or a lambda\\\"\")";
  };
  EXPECT_EQ(rewrite("\n#define GO(k, ...) k<<<1, 2>>>(__VA_ARGS__)\nint i;", "k.cu"),
            "\n#define GO(k, ...)" + error("GO", 2) + "\nint i;");
  EXPECT_EQ(rewrite("  # define A <<<\n", "k.cu"), "  # define A" + error("A", 1) + "\n");
  EXPECT_EQ(rewrite("#define ARGS (g) <<<g, 1>>>", "k.cu"), "#define ARGS" + error("ARGS", 1));
  EXPECT_EQ(rewrite("#define GO(a, \\\n k) k<<<1, 2>>>(a) /* a\n comment */ + \\\n"
                    " k<<<3, 4>>>(b)\nvoid f() { k<<<1, 2>>>(); }",
                    "k.cu"),
            "#define GO(a, \\\n k)" + error("GO", 1) + " \\\n \\\n\nvoid f() { " + launch + "k" +
                chevron + "1, 2) ); }");
}

TEST(Rewrite, GivesDynamicSharedMemoryAPointer) {
  EXPECT_EQ(rewrite("__global__ void k() { extern __shared__ float s[]; }", "k.cu"),
            "__global__ void k() { float* const s = "
            "static_cast<float*>(::adamant_sim_dynamic_shared()); }");
  EXPECT_EQ(rewrite("void k() {extern volatile __shared__ __align__(16) unsigned char s[];}", "k"),
            "void k() {volatile unsigned char* const s = "
            "static_cast<volatile unsigned char*>(::adamant_sim_dynamic_shared());}");
}

std::string message(std::string const& source) {
  try {
    rewrite(source, "dir/k.cu");
  } catch (RewriteError const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Rewrite, KeepsFunctionsOutOfLineThatAskForIt) {
  EXPECT_EQ(rewrite("__device__ __noinline__ int f();", "k.cu"),
            "__device__ __attribute__((noinline)) int f();");
  for (std::string const of_the_compiler :
       {"__attribute__((__noinline__)) int f();", "__attribute__((cold, __noinline__)) int f();",
        "[[gnu::__noinline__]] int f();", "[[__noinline__]] int f();"})
    EXPECT_EQ(rewrite(of_the_compiler, "k.cu"), of_the_compiler);
}

TEST(Rewrite, NamesFileAndLineOfWhatItCannotRead) {
  EXPECT_EQ(message("int i;\nvoid f() {\n  k<<<1, 2>>> a;\n}"),
            "dir/k.cu:3: <<< without >>>( after it");
  EXPECT_EQ(message("\n<<<1, 2>>>(a);"), "dir/k.cu:2: <<< without the name of a kernel before it");
  EXPECT_EQ(message("k<<<(1, 2>>>(a);"), "dir/k.cu:1: this bracket is never closed");
  EXPECT_EQ(message("void f() {\n  k<<<1, k<<<1, 2>>>(a);\n}"),
            "dir/k.cu:2: this is a part of two launches or declarations at once");
  EXPECT_EQ(message("int>\n<<<1, 2>>>(a);"), "dir/k.cu:2: the kernel before <<< has unbalanced >");
  EXPECT_EQ(message("namespace a {\nextern __shared__ float s[];\n}"),
            "dir/k.cu:2: declare dynamic shared memory inside the kernel");
  EXPECT_EQ(message("void k() { extern __shared__ float s[][4]; }"),
            "dir/k.cu:1: dynamic shared memory reads: extern __shared__ T name[];");
}

TEST(Rewrite, RefusesVariablesInDeviceMemory) {
  for (std::string const declaration :
       {"__device__ int counter;", "static __device__ float sums[4];", "__device__ int a = 1;",
        "__managed__ float* values;", "__constant__ float table[16];", "__device__ A<B<int>> pair;",
        "extern __device__ int far;", "__device__ alignas(16) char room[64] = {};"}) {
    EXPECT_NE(message("namespace a {\n" + declaration + "\n}")
                  .find("dir/k.cu:2: a variable in device memory ("),
              std::string::npos)
        << declaration;
  }
}

TEST(Rewrite, TakesFunctionsOfADeviceAndWhatCannotChange) {
  for (std::string const declaration :
       {"__device__ int f(int x) { return x; }", "__host__ __device__ constexpr float pi = 3.0f;",
        "static __device__ __forceinline__ T<int> g();", "__constant__ float table[2] = {1, 2};",
        "struct A { __device__ A() = default; __device__ bool operator==(A) const; int x; };",
        "template <typename T = A<int>> __device__ T h(T x) { return x; }",
        "__device__ const int sizes[2] = {3, 4};", "void f() { auto g = [=] __device__(int) {}; }",
        "__device__ __launch_bounds__(64) void k();", "[[maybe_unused]] __device__ int f();"}) {
    EXPECT_EQ(message(declaration), "accepted") << declaration;
  }
}

TEST(Rewrite, NamesCallsWhoseResultNobodyTakes) {
  auto const dropped = [](std::string const& call, std::string const& name) {
    return "::adamant_sim_discard(\"" + name + "\", " + call + ");";
  };
  EXPECT_EQ(rewrite("void f() { cudaFree(p); }", "k.cu"),
            "void f() { " + dropped("cudaFree(p)", "cudaFree") + " }");
  EXPECT_EQ(rewrite("void f() { if (a) cudaFree(p); else ::ncclGroupEnd(); }", "k.cu"),
            "void f() { if (a) " + dropped("cudaFree(p)", "cudaFree") + " else " +
                dropped("::ncclGroupEnd()", "ncclGroupEnd") + " }");
  EXPECT_EQ(rewrite("void f() { for (;;) cudaFreeAsync(p, g(1)); }", "k.cu"),
            "void f() { for (;;) " + dropped("cudaFreeAsync(p, g(1))", "cudaFreeAsync") + " }");
  for (std::string const taken :
       {"cudaError_t cudaFree(void*);", "void f() { (void)cudaFree(p); }",
        "void f() { auto e = cudaFree(p); }", "void f() { return cudaFree(p); }",
        "void f() { check(cudaFree(p)); }", "void f() { if (cudaFree(p)) g(); }",
        "void f() { cudaFree(p) == cudaSuccess || die(); }",
        "void f() { static_cast<void>(cudaFree(p)); }",
        "void f() { cudaGetLastError(); cudaPeekAtLastError(); }",
        "void f() { cudaStream_t s; mine::cudaFree(p); a.cudaFree(p); }"}) {
    EXPECT_EQ(rewrite(taken, "k.cu"), taken);
  }
}

// A macro need be no expression, and a function of the program's own may return nothing.
TEST(Rewrite, LeavesTheProgramsOwnNamesAlone) {
  for (std::string const own :
       {"#define cudaCheckErrors(m) do {} while (0)\nvoid f() { cudaCheckErrors(\"m\"); }",
        "void cudaCheck(cudaError_t);\nvoid f() { cudaCheck(e); ncclCheck(r); }",
        "#define cudaFree(p) do { g(p); } while (0)\nvoid f() { cudaFree(p); }",
        "  # define ncclGroupEnd() {}\nvoid f() { if (a) ncclGroupEnd(); }"}) {
    EXPECT_EQ(rewrite(own, "k.cu"), own);
  }
}

TEST(Rewrite, MarksEveryCallThatTheCloneDeclares) {
  for (std::string const call :
       {"cudaMalloc", "cudaLaunchKernelEx", "cudaGraphLaunch", "ncclBcast"})
    EXPECT_NE(rewrite("void f() { " + call + "(p); }", "k.cu").find("adamant_sim_discard"),
              std::string::npos)
        << call;
}

TEST(Tokenize, CoversEveryByteOnce) {
  for (Case const& one : launches) {
    std::string joined;
    for (Token const& token : tokenize(one.source)) {
      EXPECT_EQ(token.offset, joined.size());
      EXPECT_EQ(token.line, 1 + std::ranges::count(joined, '\n'));
      joined += token.text;
    }
    EXPECT_EQ(joined, one.source) << one.name;
  }
  EXPECT_EQ(tokenize("\"never closed").size(), 1U);
  EXPECT_EQ(tokenize("/* never closed").size(), 1U);
  EXPECT_EQ(tokenize("R\"x(never closed").size(), 1U);
  EXPECT_EQ(tokenize("'\\").size(), 1U);
}

}  // namespace
}  // namespace adamant::sim
