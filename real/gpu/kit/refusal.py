"""Why nothing can be done, as a sentence: what was found, what is needed, what to do."""


class Refusal(Exception):
    """Ends the command with a sentence and a status, which are those of `adamant`."""

    status = 1


class BadInput(Refusal):
    """Bad usage or input, or an output that cannot be written."""

    status = 2


class Lacking(Refusal):
    """This machine lacks what is needed."""

    status = 3
