// The time around a violation as a picture in SVG: a row for every host and stream that matters,
// the events it is about, the edges that order what is shown, and the one that is missing. A
// function of values: it knows neither the page around it nor who ran what.
#pragma once

#include <optional>
#include <string>

#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// Units: pixels.
struct Scene {
  std::string title = {};
  std::string description = {};  // for who cannot see it
  std::string body = {};         // the elements within <svg>, which the style sheet colours
  std::string key = {};          // what of its lines and boxes has to be explained, as HTML
  int width = 0;
  int height = 0;
  friend bool operator==(Scene const&, Scene const&) = default;
};

/// Nothing where the timeline has none of what the violation is about.
std::optional<Scene> draw_scene(Timeline const& timeline, Violation const& violation);

/// The whole element. `id` is unlike those of the page's other pictures.
std::string to_svg(Scene const& scene, std::string const& id);

}  // namespace adamant::scenarios
