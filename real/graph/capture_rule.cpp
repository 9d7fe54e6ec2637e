#include "real/graph/capture_rule.h"

namespace adamant::real {

namespace {

std::string_view words_of(GradientHandover handover) {
  switch (handover) {
    case GradientHandover::view:
      return "a view of the gradient buffer, which stays";
    case GradientHandover::kept_copy:
      return "a cast copy that stays; costs its bytes";
    case GradientHandover::passing_copy:
      break;
  }
  return "a cast copy that `zero_grad` gives back";
}

std::string row_of(bool decoupled, bool equal, bool keep) {
  Formats const formats{.gradient = equal ? NumberFormat::fp32 : NumberFormat::bf16,
                        .decoupled_gradient = decoupled};
  bool const allowed = can_be_captured(formats, keep);
  std::string row = "| ";
  row += decoupled ? "true" : "false";
  row += equal ? " | equal" : " | different";
  row += keep ? " | true | " : " | false | ";
  row += words_of(gradient_handover(formats, keep));
  row += allowed ? " | yes |\n" : " | refused: decouple, equal types, or keep the copy |\n";
  return row;
}

}  // namespace

std::string why_not_captured(std::string_view parameter, Formats const& formats) {
  std::string text = "parameter `";
  text += parameter;
  text += "` hands its ";
  text += name_of(formats.gradient);
  text += " gradient to ";
  text += name_of(formats.weight());
  text +=
      " weights as a cast copy that zero_grad gives back, so a graph would keep a stale address; ";
  text += "decouple it (decoupled_grad: true), use equal types, or keep the copy ";
  text += "(keep_cast_grad: true)";
  return text;
}

std::string capture_table() {
  std::string table =
      "| `decoupled_grad` | types of gradient and optimizer's weights | `keep_cast_grad` | the "
      "optimizer takes | capture |\n|---|---|---|---|---|\n";
  for (bool const decoupled : {true, false})
    for (bool const equal : {true, false})
      for (bool const keep : {false, true}) table += row_of(decoupled, equal, keep);
  return table;
}

}  // namespace adamant::real
