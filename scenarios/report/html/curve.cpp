#include "scenarios/report/html/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "scenarios/report/html/escape.h"
#include "scenarios/report/html/numbers.h"

namespace adamant::scenarios {

namespace {

constexpr int width = 560;
constexpr int height = 150;
constexpr int left = 44;
constexpr int bottom = 124;
constexpr int top = 14;
constexpr int right = width - 20;

}  // namespace

std::string step_curve(std::vector<std::uint64_t> events, std::uint64_t last,
                       std::string const& title) {
  std::sort(events.begin(), events.end());
  auto const x = [&](std::uint64_t number) {
    return left + static_cast<double>(right - left) * static_cast<double>(number) /
                      static_cast<double>(last);
  };
  auto const y = [&](std::size_t count) {
    return bottom - static_cast<double>(bottom - top) * static_cast<double>(count) /
                        static_cast<double>(std::max<std::size_t>(events.size(), 1));
  };
  std::string path = fmt::format("M{} {}", left, bottom);
  std::string points;
  for (std::size_t i = 0; i < events.size(); ++i) {
    path += fmt::format("H{:.1f}V{:.1f}", x(events[i]), y(i + 1));
    points +=
        fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3"><title>case {}</title></circle>)",
                    x(events[i]), y(i + 1), events[i]);
  }
  path += fmt::format("H{}", right);
  return fmt::format(
      R"(<figure><div class="scroll" tabindex="0"><svg xmlns="http://www.w3.org/2000/svg" )"
      R"(class="curve" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" )"
      R"(aria-label="{2}"><path class="r" d="M{3} {4}H{5}M{3} {6}H{5}"/><path class="w" d="{7}"/>{8})"
      R"(<text class="g" x="{9}" y="{10}">{11}</text><text class="g" x="{9}" y="{12}">0</text>)"
      R"(<text x="{3}" y="{13}" class="g s">case 0</text>)"
      R"(<text x="{5}" y="{13}" class="g e">{14}</text></svg></div></figure>)"
      "\n",
      width, height, escaped(title), left, bottom, right, top, path, points, left - 14, top + 4,
      events.size(), bottom + 4, bottom + 18, grouped(last));
}

}  // namespace adamant::scenarios
