#include "scenarios/language/yaml/help.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/program/listings.h"
#include "scenarios/program/outputs.h"

namespace adamant::scenarios {

Status help_command(Arguments const& arguments) {
  auto const entries = help_on(arguments.word);
  for (HelpEntry const& entry : entries) print(arguments, text_of(entry));
  if (!entries.empty()) return Status::met;
  auto const known = words_with_help();
  complain("help: no key, value, operation or law is called `" + arguments.word + "`" +
           suggest(arguments.word, known) + "; known: " + list_words(known));
  return Status::bad_input;
}

}  // namespace adamant::scenarios
