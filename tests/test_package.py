"""What is installed: tollero_env alone, typed, with its tile sets."""

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import tollero_env

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CACHES = shutil.ignore_patterns("__pycache__", "*.egg-info")


def setuptools_version():
    """The first number, 0 if there is none; setuptools need not be installed."""
    try:
        return int(importlib.metadata.version("setuptools").partition(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return 0


def wanted_files():
    """Every source of the package, the marker and the tile sets."""
    sources = {path for path in (ROOT / "tollero_env").rglob("*") if path.suffix in (".py", ".typed", ".toml")}
    return {path.relative_to(ROOT).as_posix() for path in sources}


@pytest.fixture
def tree(tmp_path):
    """A copy of what could end up in a wheel, so that building leaves nothing here; a folder more, as a trap."""
    for name in ("tollero_env", "agents", "experiments", "tests", "docs"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=CACHES)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "agents").mkdir(exist_ok=True)
    (tmp_path / "agents" / "__init__.py").touch()
    return tmp_path


@pytest.mark.skipif(
    setuptools_version() < 77 or not importlib.util.find_spec("build"), reason="needs build and setuptools 77"
)
def test_the_wheel_holds_the_package_alone(tree):
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tree / "out"), str(tree)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tree / "out").iterdir()
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == wanted_files()


@pytest.mark.skipif(not setuptools_version(), reason="needs setuptools")
def test_setuptools_finds_the_package_alone(tree):
    """What pyproject.toml asks setuptools to look for, looked for by setuptools itself; works with old ones too."""
    include = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    code = "import sys, setuptools; print(*setuptools.find_namespace_packages(sys.argv[1], include=sys.argv[2:]))"
    words = [sys.executable, "-W", "ignore", "-c", code, str(tree), *include]
    found = set(subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout.split())
    assert {name.partition(".")[0] for name in found} == {"tollero_env"}
    data = PROJECT["tool"]["setuptools"]["package-data"]
    assert list(data) == ["tollero_env"]
    files = {path for name in found for path in (tree / name.replace(".", "/")).glob("*.py")}
    files |= {path for pattern in data["tollero_env"] for path in (tree / "tollero_env").glob(pattern)}
    assert {path.relative_to(tree).as_posix() for path in files} == wanted_files()


def test_the_files_that_must_be_there_are():
    assert {"tollero_env/py.typed", "tollero_env/games/tollero/tilesets/reconstruction.toml"} <= wanted_files()


def test_one_version():
    assert PROJECT["project"]["version"] == tollero_env.__version__
    assert f"version: {tollero_env.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_library_needs_no_command_line_package():
    needed = " ".join(PROJECT["project"]["dependencies"])
    for name in ("tyro", "rich", "torch", "scipy", "pydantic"):
        assert name not in needed
