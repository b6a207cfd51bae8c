"""The rows as tables, one a group: on the terminal, and in a page between two marks."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.pages import markdown_table, replace_between

TITLES = {
    "kernel": "Rules alone: compiled random games, deal and scoring included",
    "aec": "The AEC loop: last(), a random legal action, step()",
    "batch": "1024 games at once: observation, mask and auto-reset in every step",
    "scaling": "Other numbers of games and threads, slots, 2 players",
}
TEXTS = ("case", "unit", "times as fast as")  # columns that begin at the left
Cells = list[list[str]]


def tables(rows: Sequence[dict[str, Any]]) -> dict[str, Cells]:
    """Cells by title, headings first: a table for each group in the order of the rows, the scaling by itself."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault("scaling" if is_scaling(row) else row.get("group", ""), []).append(row)
    return {
        TITLES.get(group, group): scaling_cells(members) if group == "scaling" else table_cells(members)
        for group, members in groups.items()
    }


def is_scaling(row: dict[str, Any]) -> bool:
    """Is this one of many sizes of one case?"""
    return bool(row["case"].endswith(" scaling"))


def table_cells(rows: Sequence[dict[str, Any]]) -> Cells:
    """Headings, then one row a case; columns that would be empty are left out."""
    cells = [["case", "players", "median", "middle half", "unit", "bytes/step", "times as fast as"]]
    for row in rows:
        spread = f"{short(row['low'])} to {short(row['high'])}"
        ratios = ", ".join(f"{ratio:.2g} × {peer}" for peer, ratio in row.get("ratios", {}).items())
        size = f"{row['bytes']:,}" if "bytes" in row else ""
        cells.append([case_name(row), str(row["players"]), short(row["value"]), spread, row["unit"], size, ratios])
    kept = [column for column in zip(*cells) if any(column[1:])]
    return [list(line) for line in zip(*kept)]


def case_name(row: dict[str, Any]) -> str:
    """The case, with what sets apart rows of one name."""
    words = [row["case"], *([row["board"]] if "board" in row else [])]
    return ", ".join([*words, *([f"{row['hand']} in hand"] if "hand" in row else [])])


def scaling_cells(rows: Sequence[dict[str, Any]]) -> Cells:
    """A line for each number of games, a column for each number of threads."""
    threads = sorted({row["threads"] for row in rows})
    found = {(row["games"], row["threads"]): f"{short(row['value'])} {row['unit']}" for row in rows}
    headings = ["games", *(f"{number} thread{'s' * (number > 1)}" for number in threads)]
    return [
        headings,
        *([str(games), *(found.get((games, number), "") for number in threads)]
          for games in sorted({row["games"] for row in rows})),
    ]  # fmt: skip


def print_tables(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """All of them."""
    for title, (headings, *body) in tables(rows).items():
        table = Table()
        for heading in headings:
            table.add_column(heading, justify="left" if heading in TEXTS else "right", no_wrap=True)
        for cells in body:
            table.add_row(*cells)
        console.print(title, table, highlight=False)


def write_markdown(path: str, rows: Sequence[dict[str, Any]]) -> None:
    """Put them between the two marks in a page."""
    parts = [f"**{title}**\n\n{_aligned(cells)}" for title, cells in tables(rows).items()]
    replace_between(path, "bench", "\n" + "\n\n".join(parts) + "\n")


def _aligned(cells: Cells) -> str:
    lines = markdown_table(cells).splitlines()
    lines[1] = f"| {' | '.join('---' if heading in TEXTS else '---:' for heading in cells[0])} |"
    return "\n".join(lines)


def short(value: float) -> str:
    """Three digits and a letter."""
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {letter}"
    return f"{value:.3g}"
