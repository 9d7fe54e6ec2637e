// Pages in a browser: as wide as a desktop's and as a telephone's, in both looks.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "scenarios/report/html/ledger_tables.h"
#include "scenarios/report/html/testing/pages.h"

namespace adamant::scenarios {
namespace {

using Json = nlohmann::json;

std::string output_of(std::string const& command) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (std::size_t const size = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), size);
  return text;
}

bool has_chromium() {
  return std::system("chromium --version > /dev/null 2>&1") == 0;
}

/// As text of a script within a page.
std::string literal(std::string const& text) {
  std::string json = Json(text).dump();
  for (std::size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3)
    json.replace(at, 2, "<\\/");
  return json;
}

/// Shows `page` in frames of several widths, and what each is then: what it is wide, how wide what
/// is in it, the colour behind it, and how much was fetched for it.
std::string frames_of(std::string const& page) {
  return "<!DOCTYPE html><html><head><meta name=\"color-scheme\" content=\"light "
         "dark\"></head><body><script>\nconst page = " +
         literal(page) +
         ";\nlet seen = [];\n"
         "for (const width of [1280, 400]) {\n"
         "  const frame = document.createElement('iframe');\n"
         "  frame.style = `border:0;height:800px;width:${width}px`;\n"
         "  frame.onload = () => {\n"
         "    const root = frame.contentDocument.documentElement;\n"
         "    seen.push({width, content: root.scrollWidth,\n"
         "      color: frame.contentWindow.getComputedStyle(root).backgroundColor,\n"
         "      fetched: frame.contentWindow.performance.getEntriesByType('resource').length,\n"
         "      pictures: frame.contentDocument.querySelectorAll('svg').length});\n"
         "    document.documentElement.setAttribute('data-seen',\n"
         "      encodeURIComponent(JSON.stringify(seen)));\n"
         "  };\n"
         "  frame.srcdoc = page;\n"
         "  document.body.appendChild(frame);\n"
         "}\n</script></body></html>\n";
}

std::string decoded(std::string const& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool const is_code = text[i] == '%';
    result += is_code ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    if (is_code) i += 2;
  }
  return result;
}

Json seen_by_chromium(std::string const& html, std::string const& options) {
  auto const file = std::filesystem::path(testing::TempDir()) / "adamant_chromium_test.html";
  std::ofstream(file) << frames_of(html);
  std::string const dom =
      output_of("timeout 60 chromium --headless --no-sandbox --disable-gpu " + options +
                " --window-size=1400,900 --dump-dom 'file://" + file.string() + "' 2>/dev/null");
  std::filesystem::remove(file);
  std::string const key = "data-seen=\"";
  auto const begin = dom.find(key);
  if (begin == std::string::npos) return Json::array();
  auto const from = begin + key.size();
  return Json::parse(decoded(dom.substr(from, dom.find('"', from) - from)));
}

Page page_with_everything() {
  Page page =
      page_of({item_of("bugs/step_skips_wait_for_reduction.yaml"), item_of("bugs/te_2795.yaml"),
               item_of("bugs/empty_shard_skips_collective.yaml"),
               plain_item(std::string(300, 'w'), true), plain_item("short", false)});
  page.items[0].scenario += "about: " + std::string(500, 'x') + "\n";
  page.items[0].reported.replay += std::string(500, 'y');
  page.cut_short = "interrupted";
  page.ledger = ledger_section(small_ledger());
  return page;
}

TEST(Chromium, ShowsNothingWiderThanTheScreenAndFetchesNothing) {
  if (!has_chromium()) GTEST_SKIP() << "no `chromium` here; the package of that name has it";
  std::string const html = to_html(page_with_everything());
  for (bool const is_dark : {false, true}) {
    Json const seen = seen_by_chromium(html, is_dark ? "--force-dark-mode" : "");
    ASSERT_EQ(seen.size(), 2U);
    for (Json const& frame : seen) {
      EXPECT_LE(frame.at("content"), frame.at("width"));
      EXPECT_EQ(frame.at("color"), is_dark ? "rgb(21, 24, 29)" : "rgb(255, 255, 255)");
      EXPECT_EQ(frame.at("fetched"), 0);
      EXPECT_GT(frame.at("pictures"), 3);
    }
  }
}

}  // namespace
}  // namespace adamant::scenarios
