"""Colours in a terminal, as escape codes of the 256-colour kind."""

import re

_CODE = re.compile(r"\x1b\[[0-9;]*m")


def paint(text: str, colour: int | None = None, background: int | None = None, bold: bool = False) -> str:
    """The text with codes around it, if there is anything to say."""
    codes = ["1"] * bold
    codes += [] if colour is None else [f"38;5;{colour}"]
    codes += [] if background is None else [f"48;5;{background}"]
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes and text else text


def strip(text: str) -> str:
    """The text without its codes."""
    return _CODE.sub("", text)
