"""The recorded session, the schema and this engine say the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conversation import Json
from record_session import SESSION, recorded

LINES: list[Json] = [json.loads(line) for line in SESSION.read_text().splitlines()]
PAIRS = list(zip(LINES[::2], LINES[1::2], strict=True))
SCHEMA = Path(SESSION).with_name("engine.schema.json")


def without_versions(lines: list[Json]) -> list[Json]:
    """Those of NumPy and Python may differ."""
    return [{key: at for key, at in line.items() if key != "versions"} for line in lines]


def test_this_engine_still_says_what_was_recorded() -> None:
    """Line by line; else record anew and see what changed."""
    assert without_versions(recorded()) == without_versions(LINES)


@pytest.mark.parametrize(("request_line", "reply"), PAIRS, ids=lambda at: at.get("request", ""))
def test_each_line_is_what_the_schema_asks_for(request_line: Json, reply: Json) -> None:
    """A request by its name, and the reply by that of its request."""
    jsonschema = pytest.importorskip("jsonschema", reason="the package jsonschema is not installed")
    schema = json.loads(SCHEMA.read_text())
    name = request_line["request"]
    for line, kind in ((request_line, "request"), (reply, "reply")):
        part = {"$ref": f"#/$defs/{name}_{kind}", "$defs": schema["$defs"]}
        jsonschema.Draft202012Validator(part).validate(line)
        jsonschema.Draft202012Validator(schema).validate(line)
