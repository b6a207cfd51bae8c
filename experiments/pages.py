"""Tables in Markdown pages, and how a command replaces its own between two marks."""

from collections.abc import Sequence
from pathlib import Path

from tollero_env.files import write_beside


def marks(name: str) -> tuple[str, str]:
    """The two marks between which a command of that name writes."""
    return f"<!-- {name} -->", f"<!-- /{name} -->"


def markdown_table(cells: Sequence[Sequence[str]]) -> str:
    """Lines of a table whose first row are the headings."""
    headings, *body = cells
    return "\n".join(f"| {' | '.join(row)} |" for row in [headings, ["---"] * len(headings), *body])


def replace_between(path: str, name: str, text: str) -> None:
    """Put the text between the two marks in a page; the rest stays as it is."""
    before, after = split_page(path, name)
    with write_beside(path) as file:
        file.write(f"{before}\n{text}\n{after}")


def split_page(path: str, name: str) -> tuple[str, str]:
    """A page up to the first mark and from the second on, both marks included."""
    first, last = marks(name)
    before, start, rest = Path(path).read_text(encoding="utf-8").partition(first)
    _, end, after = rest.partition(last)
    if not start or not end:
        raise ValueError(f"{path}: the marks {first} and {last} are not there")
    return before + start, end + after
