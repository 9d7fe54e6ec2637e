#include "oracle/torch/clip.h"

#include "oracle/formats/formats.h"

namespace adamant::oracle {

float torch_clip_coefficient(float max_norm, float norm, NumberFormat format) {
  float const guarded = rounded(norm + 1e-6F, format);
  float const reciprocal = rounded(1.0F / guarded, format);
  float const coefficient = rounded(reciprocal * max_norm, format);
  return coefficient > 1.0F ? 1.0F : coefficient;
}

float torch_scaled(float gradient, float factor, NumberFormat format) {
  return rounded(gradient * factor, format);
}

}  // namespace adamant::oracle
