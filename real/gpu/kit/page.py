"""The results for people: a page of Markdown, made of the same document as the JSON."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent
LINES = 4  # of the output of what failed; results.json has more
FAILURES = 60  # on the page


def of(document):
    """The whole page."""
    parts = [_head(document), _steps(document)]
    conformance = [step for step in document["steps"] if step["name"] == "conformance"]
    for step in conformance:
        parts.append(_conformance(step))
    parts.append(_failed([step for step in document["steps"] if step["name"] != "conformance"]))
    parts.append(_rows(document["steps"]))
    return "\n".join(part for part in parts if part)


def _head(document):
    versions = document["versions"]
    lines = [
        f"# {versions.get('card', 'a GPU')}, {document['began'][:10]}",
        "",
        f"The run took {document['seconds']:.0f} of {document['limit_seconds']:.0f} s and is {document['ended']}.",
        "",
        "| | |",
        "|---|---|",
    ]
    lines += [f"| {name.replace('_', ' ')} | {value} |" for name, value in versions.items()]
    return "\n".join(lines) + "\n"


def _steps(document):
    lines = ["## Steps", "", "| step | what | outcome | counts | s |", "|---|---|---|---|---|"]
    for step in document["steps"]:
        outcome = step["outcome"] + (f": {_cell(step['why'])}" if step["why"] else "")
        counts = ", ".join(f"{count} {name}" for name, count in step["counts"].items())
        lines.append(f"| {step['name']} | {step['what']} | {outcome} | {counts} | {step['seconds']:.0f} |")
    return "\n".join(lines) + "\n"


def _cell(text):
    return " ".join(text.split()).replace("|", "\\|")[:300]


def _conformance(step):
    title = "## Conformance: rules from which this card deviates"
    if step["outcome"] == "not run":
        return f"{title}\n\nNot looked at.\n"
    if not step["failed"]:
        return f"{title}\n\nNone of {step['counts'].get('ok', 0)} that were looked at.\n"
    return "\n".join([title, "", *_entries(step["failed"])])


def _failed(steps):
    lines = []
    for step in steps:
        if step["failed"]:
            lines += [f"## What failed in {step['name']}", "", *_entries(step["failed"])]
    return "\n".join(lines)


def _entries(failed):
    lines = []
    for failure in failed[:FAILURES]:
        lines += [f"- `{failure['name']}`: {failure['result']}", ""]
        if failure["last_lines"]:
            lines += ["  ```", *(f"  {line[:300]}" for line in failure["last_lines"][-LINES:]), "  ```", ""]
    if len(failed) > FAILURES:
        lines += [f"- and {len(failed) - FAILURES} more, in `results.json`", ""]
    return lines


def _rows(steps):
    rows = [row for step in steps for row in step["rows"]]
    if not rows:
        return ""
    lines = [
        "## What was measured",
        "",
        "| suite | row | value | least to most | time |",
        "|---|---|---|---|---|",
    ]
    by_name = {(row["suite"], row["name"]): row for row in rows}
    for row in rows:
        beside = {
            end: by_name.get((row["suite"], f"{row['name']}_{end}")) for end in ("least", "most", "time")
        }
        base, _, end = row["name"].rpartition("_")
        if end in beside and (row["suite"], base) in by_name:
            continue  # it stands in the line of its row
        lines.append(_line(row, **beside))
    return "\n".join(lines) + "\n"


def _line(row, least, most, time):
    spread = f"{_number(least)} to {_number(most)}" if least and most else ""
    seconds = f"{_number(time)} {time['unit']}" if time else ""
    return f"| {row['suite']} | {row['name']} | {_number(row)} {row['unit']} | {spread} | {seconds} |"


def _number(row):
    return f"{row['value']:.4g}"
