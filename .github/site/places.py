"""Pages of .github/ stand in project/: hosts of pages leave out folders that begin with a dot."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for file in files:
        if file.src_uri.startswith(".github/"):
            file.dest_uri = file.dest_uri.replace(".github/", "project/", 1)
            file.url = file.url.replace(".github/", "project/", 1)
    return files
