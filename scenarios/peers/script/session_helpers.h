// The functions of a session's script: what does not depend on the scenario.
#pragma once

#include "scenarios/peers/script/imports.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// Which of them a session needs; ask() it always does.
struct Helpers {
  bool write = false;    // write(*files): paths of files of tensors
  bool base64 = false;   // of which each tensor is a text
  bool act = false;      // act(verb, **fields): a request, and the state after it
  bool element = false;  // element(state, rank, key, index): a number of a rank's file
  bool header = false;   // header(state, rank)
  bool failure = false;  // failure(reply)
  bool flip = false;     // flip(path, at)
  bool digests = false;  // digests(directory, pattern)
};

/// `ask(verb, *wanted, **fields)` and these, with what they import.
void write_helpers(Helpers const& helpers, python::Code& code, python::Imports& imports);

}  // namespace adamant::scenarios::script
