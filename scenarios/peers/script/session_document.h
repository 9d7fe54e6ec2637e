// A recorded session as a document that somebody else can play, or make a script of: what was
// asked for, what was handed over, what was done to files, and what has to show then. README.md of
// this folder says what each key means.
#pragma once

#include <string>

#include "scenarios/peers/script/session.h"

namespace adamant::scenarios::script {

/// The text of the document, in JSON: a request a line.
///
/// Errors: NoScript where no reply shows the violation.
std::string document_of(Session const& session);

}  // namespace adamant::scenarios::script
