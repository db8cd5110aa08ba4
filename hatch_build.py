"""The build of the compiled core: native/*.c becomes the extension lovevec/_core, for wheels and for editable installs.

The core is optional. Without a compiler, or where it does not compile, one line says so and the install succeeds; numpy
then computes. The environment variable LOVEVEC_BUILD changes that:

    none        leave the core out: a pure wheel, py3-none-any
    required    what keeps the core from being built is an error (for wheels that are published, and for CI)

CPython >= 3.11 gets one extension for all versions by the limited API (cp311-abi3). 3.10, whose limited API has no
buffer protocol, and free-threaded builds, which have no limited API, get an extension for their version only.

An extension that lies in src/lovevec, from an editable install, never goes into a wheel: each wheel compiles its own.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "src" / "lovevec"
CHOICE = "LOVEVEC_BUILD"
IS_LIMITED = (
    sys.implementation.name == "cpython"
    and sys.version_info >= (3, 11)
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)
# The same bits on every processor: no fused multiply-add, no reordered sums, whatever CFLAGS say. No paths and no
# debugging symbols, so that two builds are equal.
GCC = [
    "-O3",
    "-std=c11",
    "-fno-fast-math",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",
]
MSVC = ["/O2", "/std:c11", "/fp:precise", "/W3"]
GCC_LINK = ["-Wl,-x"] if sys.platform == "darwin" else ["-Wl,-s", "-Wl,--build-id=none"]
MSVC_LINK = ["/Brepro"]
SANITIZE = ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
SANITIZE += ["-fsanitize=address,undefined,float-cast-overflow"]


class NotBuilt(Exception):
    """The core could not be compiled."""


def compile_core(folder: Path, sanitized: bool = False) -> Path:
    """Compile the core into a folder, replacing what lies there; its path. `sanitized`: with ASan and UBSan."""
    try:
        from setuptools import Distribution, Extension, errors
        from setuptools.command.build_ext import build_ext
    except ImportError as error:
        raise NotBuilt(str(error)) from None

    class Build(build_ext):
        def build_extensions(self) -> None:
            is_msvc = self.compiler.compiler_type == "msvc"
            if is_msvc and sanitized:
                raise NotBuilt("sanitizers need gcc or clang")
            compiled, linked = (MSVC, MSVC_LINK) if is_msvc else ([*GCC, f"-ffile-prefix-map={ROOT}=."], GCC_LINK)
            self.extensions[0].extra_compile_args = [*compiled, *(SANITIZE if sanitized else [])]
            self.extensions[0].extra_link_args = SANITIZE if sanitized else linked
            if not is_msvc:  # some Pythons tell the linker where they themselves lie
                command = [part for part in self.compiler.linker_so if not part.startswith("-Wl,-rpath")]
                self.compiler.set_executables(linker_so=command)
            super().build_extensions()

    extension = Extension(
        "_core",
        sorted(map(str, (ROOT / "native").glob("*.c"))),
        include_dirs=[str(ROOT / "native")],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if IS_LIMITED else [],
        libraries=[] if sys.platform == "win32" else ["m"],
        py_limited_api=IS_LIMITED,
    )
    with tempfile.TemporaryDirectory() as name:
        command = Build(Distribution({"name": "lovevec", "ext_modules": [extension]}))
        command.build_lib, command.build_temp = name, name
        try:
            command.ensure_finalized()
            command.run()
        except (errors.BaseError, errors.CCompilerError, OSError) as error:
            raise NotBuilt(str(error)) from error
        built = Path(command.get_ext_fullpath("_core"))
        folder.mkdir(parents=True, exist_ok=True)
        remove_core(folder)
        # by way of a new file: a process that has the old one loaded keeps it
        shutil.copyfile(built, folder / f"{built.name}.new")
        return (folder / f"{built.name}.new").replace(folder / built.name)


def remove_core(folder: Path) -> None:
    """Remove every extension from a folder that this Python would import as the core."""
    for suffix in EXTENSION_SUFFIXES:
        (folder / f"_core{suffix}").unlink(missing_ok=True)


def build_core(folder: Path) -> Path | None:
    """What LOVEVEC_BUILD asks for: the core's path, or None where it is left out. Then there is none in the folder."""
    choice = os.environ.get(CHOICE, "")
    if choice not in ("", "none", "required"):
        raise SystemExit(f"lovevec: {CHOICE} is none, required or not set, not {choice!r}")
    reason = f"{CHOICE}=none"
    if choice != "none":
        try:
            return compile_core(folder)
        except NotBuilt as error:
            reason = " ".join(str(error).split())
    if choice == "required":
        raise SystemExit(f"lovevec: the compiled core was not built ({reason})")
    remove_core(folder)
    print(
        f"lovevec: the compiled core was not built ({reason}); numpy computes instead, several times as slowly",
        file=sys.stderr,
        flush=True,
    )
    return None


class CoreHook(BuildHookInterface):
    """Hatchling's hook: the core into the wheel, or beside the sources of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            build_core(PACKAGE)
            return
        self.folder = tempfile.TemporaryDirectory()
        core = build_core(Path(self.folder.name))
        if core is not None:
            build_data["force_include"][str(core)] = f"lovevec/{core.name}"
            build_data["pure_python"] = False
            tag = self.build_config.builder.get_best_matching_tag()
            build_data["tag"] = f"cp311-abi3-{tag.split('-')[2]}" if IS_LIMITED else tag

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
