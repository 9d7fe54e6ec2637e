// `adamant doctor --engine` as its users call it.
#include <cstdlib>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

class DoctorOfAnEngine : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "there is no python3";
  }

  /// `doctor` for the fake engine that does this at that request.
  Called examine(std::string const& how, std::string const& more = "") const {
    return call("doctor " + more +
                " --engine 'exec:exec python3 " ADAMANT_SOURCE_DIR
                "/scenarios/peers/client/testing/hostile_engine.py " +
                how + "'");
  }
};

TEST_F(DoctorOfAnEngine, ThatCannotBeStartedIsThree) {
  Called const called = call("doctor --engine exec:/nonexistent/engine");
  EXPECT_EQ(called.status, 3);
  EXPECT_EQ(called.out, "");
  EXPECT_NE(called.err.find("engine exec:/nonexistent/engine cannot be started"), std::string::npos)
      << called.err;
  EXPECT_NE(examine("exits hello").err.find("out of coffee"), std::string::npos);
}

TEST_F(DoctorOfAnEngine, WithoutAnEngineWritesWhatTheMachineHas) {
  EXPECT_EQ(call("doctor --json out.json").status, 0);
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("command"), "doctor");
  EXPECT_NE(document.at("machine").at("built by").get<std::string>(), "");
  EXPECT_EQ(call("doctor --json missing/out.json").status, 2);
}

TEST_F(DoctorOfAnEngine, WithoutAnEngineSaysWhatADriverSaysOfTheFirstGpu) {
  Called const called =
      shell("LD_LIBRARY_PATH='" ADAMANT_FAKE_DRIVER_FOLDER "' PROGRAM doctor --json out.json");
  ASSERT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.out.find("1 (the first is NVIDIA H200, 9.0, with a driver for CUDA 13.1)"),
            std::string::npos)
      << called.out;
  auto const gpus = read_json("out.json").at("gpus");
  EXPECT_EQ(gpus.at("count"), 1);
  EXPECT_EQ(gpus.at("name"), "NVIDIA H200");
  EXPECT_EQ(gpus.at("compute_capability"), "9.0");
  EXPECT_EQ(gpus.at("driver_cuda"), "13.1");
}

TEST_F(DoctorOfAnEngine, ThatIsInsideTheProgramIsTwo) {
  EXPECT_EQ(call("doctor --engine sim").status, 2);
  EXPECT_EQ(call("doctor --engine exec:").status, 2);
}

TEST_F(DoctorOfAnEngine, ThatFailsIsOneWithALineThatSaysWhatWasFound) {
  Called const called = examine("wrong_version hello");
  EXPECT_EQ(called.status, 1);
  EXPECT_NE(called.out.find("failed      hello says what it offers: hello: version: expected 1, "
                            "found 2\n"),
            std::string::npos)
      << called.out;
  EXPECT_NE(called.out.find("0 ok, 1 failed, 0 not offered\n"), std::string::npos) << called.out;
}

TEST_F(DoctorOfAnEngine, IsThereForMachines) {
  Called const called = examine("unknown_arithmetic hello", "--json -");
  EXPECT_EQ(called.status, 1);
  auto const document = nlohmann::json::parse(called.out);
  EXPECT_EQ(document.at("command"), "doctor");
  EXPECT_EQ(document.at("probes").at(0).at("probe"), "hello says what it offers");
  EXPECT_EQ(document.at("probes").at(0).at("outcome"), "failed");
  EXPECT_NE(document.at("probes").at(0).at("text").get<std::string>().find("voodoo"),
            std::string::npos);
}

}  // namespace
}  // namespace adamant::scenarios
