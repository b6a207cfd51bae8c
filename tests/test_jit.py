"""The compiler's cache: nothing compiles at import, nothing goes stale, and there is always a folder to write to."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numba
import pytest

from tollero_env import jit

PACKAGE = Path(jit.__file__).parent
ROOT = PACKAGE.parent
VARIABLES = ("NUMBA_DISABLE_JIT", "TOLLERO_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH")


def run_python(code, cwd=ROOT, **variables):
    """What a Python of its own prints; the folder it runs in goes before the installed package."""
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    env |= {"PYTHONPATH": str(cwd), **{name: str(value) for name, value in variables.items()}}
    words = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# ---------------------------------------------------------------- importing

COUNT = """
    import sys
    from numba.core import event
    from numba.core.dispatcher import Dispatcher

    class Listener(event.Listener):
        compiled = 0
        def on_start(self, event):
            self.compiled += 1
        def on_end(self, event):
            pass

    listener = Listener()
    event.register("numba:compile", listener)

    def count():
        found = {}
        for name, module in list(sys.modules.items()):
            if name.startswith("tollero_env"):
                found |= {id(one): one for one in vars(module).values() if isinstance(one, Dispatcher)}
        return len(found), sum(len(one.signatures) for one in found.values()), listener.compiled
"""


def test_importing_the_package_does_not_even_load_the_compiler():
    code = """
        import sys
        import tollero_env
        print(*sorted({"numba", "llvmlite", "torch", "pygame", "tollero_env.games"} & set(sys.modules)), "nothing")
    """
    assert run_python(code) == ["nothing"]


def test_importing_everything_compiles_nothing(tmp_path):
    code = f"""{COUNT}
    import pkgutil, importlib
    import tollero_env, tollero_env.games.tollero
    for module in pkgutil.walk_packages(tollero_env.__path__, "tollero_env."):
        if not module.name.startswith("tollero_env.adapters"):
            importlib.import_module(module.name)
    from tollero_env import Position, new_game, playouts
    print(*count())
    """
    kernels, signatures, compiled = map(int, run_python(code, TOLLERO_CACHE_DIR=tmp_path))
    assert kernels > 50
    assert (signatures, compiled) == (0, 0)
    assert not list(tmp_path.rglob("*.nb?"))


def test_making_rules_compiles_nothing(tmp_path):
    code = f"""{COUNT}
    from tollero_env.game import get_rules
    get_rules("tollero", 3, floors=4)
    print(*count())
    """
    assert run_python(code, TOLLERO_CACHE_DIR=tmp_path)[1:] == ["0", "0"]


def test_the_second_process_loads_what_the_first_compiled(tmp_path):
    code = f"""{COUNT}
    import numpy as np
    from tollero_env.game import get_rules
    rules = get_rules("tollero", 2)
    points = np.zeros(2, np.int64)
    rules.game.scores(np.zeros(1, rules.game.state), 0, rules.tables, points)
    hits = sum(rules.game.scores.stats.cache_hits.values())
    print(hits, listener.compiled > 0)
    """
    assert run_python(code, TOLLERO_CACHE_DIR=tmp_path) == ["0", "True"]
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("kernels-")
    assert sorted(path.suffix for path in folder.iterdir()) == [".nbc", ".nbi"]
    assert run_python(code, TOLLERO_CACHE_DIR=tmp_path) == ["1", "False"]


def test_uncompiled_everything_is_plain_python():
    code = """
        from tollero_env.games.tollero import GAME
        from tollero_env import bits, jit
        print(jit.DISABLED, type(GAME.moves).__name__, type(bits.popcount).__name__)
    """
    assert run_python(code, NUMBA_DISABLE_JIT=1) == ["True", "function", "function"]


# ---------------------------------------------------------------- never stale


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, whose sources the digest is taken of."""
    copy = tmp_path / "tollero_env"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "_PACKAGE", copy)
    return copy


def digest():
    """Taken anew, not remembered."""
    return jit.source_digest.__wrapped__()


def test_the_digest_is_of_the_sources_alone(package):
    before = digest()
    assert len(before) == 16
    assert before == jit.source_digest()  # the copy is like the original
    (package / "notes.txt").write_text("not a source")
    os.utime(package / "bits.py", (0, 0))
    assert digest() == before


def test_any_change_of_a_source_changes_the_digest(package):
    sources = sorted(package.rglob("*.py"))
    assert len(sources) > 15
    seen = {digest()}
    for path in sources:
        path.write_bytes(path.read_bytes() + b"\n")
        seen.add(digest())
    assert len(seen) == 1 + len(sources)


def test_so_does_a_file_more_a_file_less_and_another_name(package):
    seen = {digest()}
    (package / "more.py").write_text("")
    seen.add(digest())
    (package / "more.py").rename(package / "games" / "more.py")
    seen.add(digest())
    (package / "bits.py").unlink()
    seen.add(digest())
    assert len(seen) == 4


@pytest.mark.parametrize("flag", ["BOUNDSCHECK", "OPT", "CPU_NAME", "CPU_FEATURES", "ENABLE_AVX"])
def test_so_do_the_flags_that_change_the_machine_code(flag, monkeypatch):
    before = digest()
    monkeypatch.setattr(numba.config, flag, "something else")
    assert digest() != before


def test_so_does_another_compiler(monkeypatch):
    before = digest()
    monkeypatch.setattr(numba, "__version__", "0.0.1")
    assert digest() != before


def test_a_caller_sees_the_change_of_a_helper_in_another_file(tmp_path):
    """numba's own cache would not: the file that defines the caller is the same."""
    package = tmp_path / "tollero_env"
    package.mkdir()
    shutil.copy(PACKAGE / "jit.py", package)
    (package / "__init__.py").write_text("")
    decorated = "from tollero_env.jit import jit\n"
    caller = "from tollero_env.helper import helper\n@jit(entry=True)\ndef caller(x):\n    return helper(x)\n"
    (package / "caller.py").write_text(decorated + caller)
    code = """
        from tollero_env.caller import caller
        print(caller(1), sum(caller.stats.cache_hits.values()))
    """
    for step, hits in ((1, 0), (1, 1), (2, 0), (1, 1)):
        (package / "helper.py").write_text(f"{decorated}@jit\ndef helper(x):\n    return x + {step}\n")
        assert run_python(code, cwd=tmp_path) == [str(1 + step), str(hits)]


def test_kernels_of_the_same_name_in_files_of_the_same_name_are_kept_apart(tmp_path):
    """Every game has a rules.py."""
    package = tmp_path / "tollero_env"
    for game, value in (("one", 1), ("two", 2)):
        (package / game).mkdir(parents=True)
        (package / game / "__init__.py").write_text("")
        source = f"from tollero_env.jit import jit\n@jit(entry=True)\ndef play(x):\n    return x + {value}\n"
        (package / game / "rules.py").write_text(source)
    (package / "__init__.py").write_text("")
    shutil.copy(PACKAGE / "jit.py", package)
    code = """
        from tollero_env.one.rules import play as one
        from tollero_env.two.rules import play as two
        print(one(0), two(0), sum(two.stats.cache_hits.values()))
    """
    assert run_python(code, cwd=tmp_path) == ["1", "2", "0"]
    assert run_python(code, cwd=tmp_path) == ["1", "2", "1"]


# ---------------------------------------------------------------- where it is written


def folder():
    return Path(jit.cache_folder.__wrapped__())


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Package, user's cache folder and temporary folder below tmp_path."""
    for name in ("package", "user", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path / "package")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("TOLLERO_CACHE_DIR", raising=False)
    return tmp_path


def spoil(path):
    """A file where a folder is wanted: not even root can make one there."""
    path.write_text("")


def test_the_package_folder_comes_first(places):
    assert folder() == places / "package" / "__pycache__" / f"kernels-{jit.source_digest()}"
    assert folder().is_dir()
    assert list(folder().iterdir()) == []  # trying it leaves nothing behind


def test_then_the_cache_folder_of_the_user(places):
    spoil(places / "package" / "__pycache__")
    assert folder() == places / "user" / "tollero_env" / f"kernels-{jit.source_digest()}"


def test_which_is_below_the_home_folder_if_no_other_is_named(places, monkeypatch):
    spoil(places / "package" / "__pycache__")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(places / "home"))
    assert folder().parent == places / "home" / ".cache" / "tollero_env"


def test_and_at_last_a_temporary_one(places):
    spoil(places / "package" / "__pycache__")
    spoil(places / "user" / "tollero_env")
    assert folder().parent == places / "temporary"
    assert folder().is_dir()


def test_a_folder_that_exists_but_takes_no_file_is_passed_over(places, monkeypatch):
    """A read-only file system: the folder is there, writing fails."""
    make_file = tempfile.TemporaryFile

    def refuse(*args, dir=None, **rest):
        if str(dir).startswith(str(places / "package")):
            raise PermissionError(30, "Read-only file system", str(dir))
        return make_file(*args, dir=dir, **rest)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert folder().parent == places / "user" / "tollero_env"


def test_a_variable_goes_before_all(places, monkeypatch):
    monkeypatch.setenv("TOLLERO_CACHE_DIR", str(places / "asked" / "for"))
    assert folder().parent == places / "asked" / "for"
    monkeypatch.setenv("TOLLERO_CACHE_DIR", "")
    assert folder().parent == places / "package" / "__pycache__"


def test_unless_it_cannot_be_written(places, monkeypatch):
    spoil(places / "asked")
    monkeypatch.setenv("TOLLERO_CACHE_DIR", str(places / "asked"))
    assert folder().parent == places / "package" / "__pycache__"


def test_kernels_work_where_nothing_but_a_temporary_folder_can_be_written(tmp_path):
    package = tmp_path / "tollero_env"
    package.mkdir()
    shutil.copy(PACKAGE / "jit.py", package)
    (package / "__init__.py").write_text("")
    (package / "caller.py").write_text(
        "from tollero_env.jit import jit\n@jit(entry=True)\ndef caller(x):\n    return x + 1\n"
    )
    spoil(package / "__pycache__")
    spoil(tmp_path / "user")
    (tmp_path / "temporary").mkdir()
    code = "from tollero_env.caller import caller; print(caller(1))"
    variables = {"XDG_CACHE_HOME": tmp_path / "user", "TMPDIR": tmp_path / "temporary", "PYTHONDONTWRITEBYTECODE": 1}
    assert run_python(code, cwd=tmp_path, **variables) == ["2"]
    assert list((tmp_path / "temporary").rglob("*.nbi"))
