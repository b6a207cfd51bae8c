"""The only caller of numba.njit: one decorator, and a cache folder that cannot go stale.

numba keys its on-disk cache by the file that defines a function, so a caller goes stale when a helper in another
file changes. Here the folder's name is a digest of every source file of the package, of numba's version and of the
flags that change the machine code: another source is another folder.
"""

import contextlib
import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import llvmlite
import numba
from numba.core import caching
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

_PACKAGE = Path(__file__).resolve().parent
_Function = TypeVar("_Function", bound=Callable[..., Any])

DISABLED = bool(numba.config.DISABLE_JIT)


@functools.cache
def source_digest() -> str:
    """Names the sources, the compiler and its flags in 16 hex digits."""
    config = numba.config
    flags = (config.BOUNDSCHECK, config.OPT, config.CPU_NAME, config.CPU_FEATURES, config.ENABLE_AVX)
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {flags}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def cache_folder() -> str:
    """TOLLERO_CACHE_DIR if set, else the package's own folder, else the user's cache folder, else a temporary one."""
    candidates = [_PACKAGE / "__pycache__"]
    if os.environ.get("TOLLERO_CACHE_DIR"):
        candidates.insert(0, Path(os.environ["TOLLERO_CACHE_DIR"]))
    with contextlib.suppress(RuntimeError):  # nobody knows where home is
        candidates.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tollero_env")
    for candidate in candidates:
        folder = candidate / f"kernels-{source_digest()}"
        if _is_writable(folder):
            return str(folder)
    return tempfile.mkdtemp(prefix="tollero_env-kernels-")


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file = py_file
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"

    def get_cache_path(self) -> str:
        return cache_folder()

    def get_source_stamp(self) -> str:
        return source_digest()

    def get_disambiguator(self) -> str:
        # numba adds only the file's base name, and every game has a rules.py
        return hashlib.sha256(self._name.encode()).hexdigest()[:10]

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls(py_func, py_file)


class _CacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        # numba adds what a closure holds, and compiled functions have another identity in every process; here the
        # folder stands for all sources and the file's name for the owner, which say what the closure holds
        return (sig, codegen.magic_tuple())


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Lowering for functions that only compiled ones call: no machine code, no optimizing yet.

    As it comes, numba optimizes every function together with all that it calls, and turns it into machine code, over
    and over along a chain of calls: minutes for a game whose rules run deep. Here that is done once, in each entry.
    """

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        library = state.library = context.codegen().create_library(state.func_id.func_qualname)
        library._optimize_final_module = lambda: None
        library._finalize_final_module = lambda: setattr(library, "_finalized", True)
        state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        context.get_executable = lambda *_: object()  # callers need no more than a key
        try:
            done = bool(super().run_pass(state))
        finally:
            del context.get_executable
        if state.func_id.func in _APART:
            library.get_function(state.cr.fndesc.llvm_func_name).add_function_attribute("noinline")
        return done


class _InnerCompiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(_InnerLowering if step is NativeLowering else step, name) for step, name in manager.passes]
        manager._finalized = False
        manager.finalize()
        return [manager]


_APART: set[Any] = set()  # functions that are not melted into their callers


def _inner(py_func: Any, **how: Any) -> Any:
    """A function that compiled ones call; if Python calls it, it is compiled once more, in the usual way."""
    dispatcher = numba.njit(pipeline_class=_InnerCompiler, **how)(py_func)
    usual = numba.njit(**how)(py_func)
    dispatcher.add_overload = lambda found: dispatcher.overloads.__setitem__(tuple(found.signature.args), found)
    dispatcher._compile_for_args = usual._compile_for_args
    return dispatcher


@overload
def jit(function: _Function) -> _Function: ...
@overload
def jit(*, entry: bool = False, inline: bool = False, apart: bool = False) -> Callable[[_Function], _Function]: ...
def jit(function: _Function | None = None, *, entry: bool = False, inline: bool = False, apart: bool = False) -> Any:
    """Compile at the first call. `entry`: called from Python, so kept on disk; `inline`: melted into its callers.

    `apart`: never melted into them, for what is large and called from many places: it compiles once.
    """

    def decorate(py_func: _Function) -> _Function:
        if DISABLED:
            return py_func
        if apart:
            _APART.add(py_func)
        if not entry:
            return cast(_Function, _inner(py_func, forceinline=inline))
        dispatcher = numba.njit(nogil=True, forceinline=inline)(py_func)
        dispatcher._cache = _Cache(py_func)
        return cast(_Function, dispatcher)

    return decorate if function is None else decorate(function)


def loop_for(owner: str, function: _Function) -> _Function:
    """Compile a loop over functions that it closes over, kept on disk; no owner (a module) has two of one name."""
    function.__module__, function.__qualname__ = owner, function.__name__
    return jit(entry=True)(function)
