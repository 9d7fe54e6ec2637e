// What the parts of a script share while it is written.
#pragma once

#include "scenarios/peers/script/imports.h"
#include "scenarios/peers/script/names.h"
#include "scenarios/peers/script/plan.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// One script under construction: what it is to do, and what is written of it so far.
struct Draft {
  Plan const& plan;
  Names const& names;
  python::Imports& imports;
  python::Code& code;
};

}  // namespace adamant::scenarios::script
