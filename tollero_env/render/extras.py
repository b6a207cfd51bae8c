"""Packages that only some pictures need are imported when one is asked for."""

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """The module; without it, an error that says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{package} is not installed, which this kind of picture needs: pip install 'tollero-env[{extra}]'"
        ) from error
