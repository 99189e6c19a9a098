#!/usr/bin/env python3
"""Checks what the compiler does not: the direction of includes, length of functions, size of folders, preprocessor use.

    tools/check_structure.py [ROOT]             prints one line `file:line: rule: text` per violation; exit code 1
    tools/check_structure.py --headers BUILD    compiles every header alone; BUILD is configured without CUDA

Rules
  include     kernels -> standard library, SIMD intrinsics, CUDA runtime and libraries, dlfcn.h, sys/mman.h, unistd.h
              solvers -> standard library
              operators -> deal.II, Trilinos ML, muParser, Gmsh, zlib, MPI, POSIX, CUDA runtime; apps, tests -> everything
              What of the project a folder may include, see FOLDERS.
              Project headers are named from the root, in quotes; everything else in <>.
  function    at most 60 lines from the opening brace of a function to the closing one, 100 in tests (see LONG)
  folder      at most 32 source files in a folder, not counting folders in it
  conditional #if only on feature macros (see FEATURES); no #ifndef include guards, but #pragma once
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

MAX_LINES = 60
MAX_LINES_OF_TESTS = 100
MAX_FILES = 32
SOURCES = {".h", ".cc", ".cu", ".cuh"}
TOP = ("include", "kernels", "solvers", "operators", "apps", "tests")

# What of the project each folder may include; a point is the folder itself with those in it. The first row whose folder
# (* is any one folder) is the file's, or above it, counts; of what stands in it the last word that matches, where ! forbids.
KERNELS = "kernels !kernels/diagnostics"
# Designs of the Laplace operator, which do not know each other so that each can be deleted: what they share is in march/.
# But rounds are layers with another schedule.
DESIGNS = {
    "column": "",
    "cpu": "",
    "layers": "",
    "lines": "",
    "mma_column": "",
    "mma_layers": "",
    "rounds": "kernels/laplace/layers",
    "strips_2d": "",
}
NO_DESIGN = " ".join(f"!kernels/laplace/{design}" for design in DESIGNS)
OPERATORS = f"{KERNELS} solvers include"
PROGRAMS = f"{OPERATORS} operators apps/common apps/parameters"
FOLDERS = (
    ("include", "."),
    ("kernels/core", "."),
    ("kernels/device", ". kernels/core"),
    ("kernels/diagnostics", "kernels"),
    *((f"kernels/laplace/{design}", f"{KERNELS} {NO_DESIGN} {other} .") for design, other in DESIGNS.items()),
    ("kernels", KERNELS),
    ("solvers", ". include"),
    ("operators/mesh", f"{OPERATORS} ."),
    ("operators/vectors", f"{OPERATORS} . operators/mesh"),
    ("operators/data", f"{OPERATORS} . operators/mesh operators/vectors"),
    ("operators/constant", f"{OPERATORS} . operators/mesh operators/vectors operators/data"),
    ("operators/cellwise", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/constant"),
    ("operators/blocks", f"{OPERATORS} . operators/data"),
    ("operators/division", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/blocks"),
    ("operators/pointwise", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/cellwise operators/blocks operators/division"),
    ("operators/curved", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/blocks operators/division operators/pointwise"),
    ("operators/cellmean", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/blocks operators/division operators/pointwise operators/curved"),
    ("operators/multigrid", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/constant operators/cellwise"),
    ("operators/block_multigrid", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/constant operators/cellwise operators/cellmean operators/blocks operators/division operators/pointwise operators/curved operators/multigrid"),
    ("operators/analysis", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/blocks operators/division operators/pointwise operators/curved operators/multigrid operators/block_multigrid"),
    ("operators/solver", f"{OPERATORS} . operators"),
    ("operators/block_solver", f"{OPERATORS} . operators"),
    ("operators/library", f"{OPERATORS} . operators"),
    ("operators/output", f"{OPERATORS} . operators/mesh operators/vectors operators/data operators/blocks operators/division operators/pointwise operators/analysis"),
    ("apps/common", PROGRAMS),
    # Words for parameters are those of the matrices and stencils.
    ("apps/parameters", f"{PROGRAMS} kernels/diagnostics"),
    ("apps/solve", f"{PROGRAMS} . kernels/diagnostics/scale"),
    # One table has the contractions of both programs.
    ("apps/diagnose/gemm", f"{PROGRAMS} . apps/diagnose apps/compare/table.h kernels/diagnostics"),
    ("apps/*", f"{PROGRAMS} . apps/solve kernels/diagnostics"),
    ("tests", "include kernels solvers operators apps tests"),
)
# Which libraries from outside (beyond the standard library) each folder may include.
INTRINSICS = {"immintrin.h", "x86intrin.h", "arm_neon.h", "arm_sve.h"}
POSIX = {"fcntl.h", "unistd.h", "sys/mman.h", "sys/resource.h", "sys/stat.h"}
CUDA = re.compile(r"(cuda|cublas|cupti_|cusparse|cooperative_groups|mma\.h|nv/|nvtx|vector_types\.h)")
OUTSIDE = {
    # What is installed needs nothing else, but for the headers that are for users of these.
    "include": lambda name: name == "mpi.h" or name.startswith("deal.II/"),
    "kernels": lambda name: name in INTRINSICS | {"dlfcn.h", "sys/mman.h", "unistd.h"} or CUDA.match(name),
    "solvers": lambda name: False,
    "operators": lambda name: name in {"gmsh.h", "mpi.h", "muParser.h", "zlib.h"} | POSIX
    or name.startswith(("deal.II/", "ml_"))
    or CUDA.match(name),
    "apps": lambda name: True,
    "tests": lambda name: True,
}
# Headers of the standard library have no extension.
STANDARD = re.compile(r"(experimental/)?[a-z_0-9]+$")

# Functions that are longer, and why: (file, function).
KERNEL = "a kernel whose registers a call could change"
LONG = {
    ("apps/common/run_record.cc", "write_run_json"): "a line for each entry of the record",
    ("kernels/diagnostics/spmv/sliced.cu", "group_kernel"): KERNEL,
    ("kernels/expression/evaluate.cuh", "run"): "a line for each function that an expression may call",
}

# Macros that code may ask for: compilers, instruction sets, options of the build, versions of
# libraries, flags that a system may lack.
FEATURES = re.compile(
    r"(__cplusplus|__[A-Z0-9_]+__|__has_include|__CUDA_ARCH__|__CUDA_ARCH_FEAT_SM90_ALL|__CUDACC__|CUDART_VERSION"
    r"|TENSORMG_[A-Z0-9_]+|DEAL_II_[A-Z0-9_]+|NDEBUG|MPI_VERSION|OPEN_MPI|MADV_[A-Z]+)$"
)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITIONAL = re.compile(r"\s*#\s*(if|elif|ifdef|ifndef)\b(.*)")


def files(root):
    """The sources that git knows or would add; without git, all of them."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        names = sorted(set(result.stdout.splitlines()))
    else:
        names = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    for name in names:
        path = Path(name)
        if path.suffix in SOURCES and path.parts[0] in TOP and (root / path).is_file():
            yield path


def is_in(name, folder):
    """Is that file, or folder, in `folder`, of which * is any one folder?"""
    parts, wanted = name.split("/"), folder.split("/")
    return len(parts) >= len(wanted) and all(w in ("*", p) for p, w in zip(parts, wanted))


def may_include(path, name):
    """Whether the table lets the file include a header of the project; None where its folder has no row."""
    for folder, words in FOLDERS:
        if not is_in(path.parent.as_posix(), folder):
            continue
        allowed = False
        for word in words.split():
            pattern = "/".join(path.parts[: len(folder.split("/"))]) if word == "." else word.removeprefix("!")
            # A header beside folders is in none of them.
            if is_in(name if pattern.endswith(".h") else str(Path(name).parent), pattern):
                allowed = not word.startswith("!")
        return allowed
    return None


def check_include(path, bracket, name):
    """The violation of an #include in a file, or None."""
    if name.startswith("tensormg/"):  # the headers that are installed
        name = f"include/{name}"
    first, top = name.split("/")[0], path.parts[0]
    if bracket == '"':
        if name == "version.h":
            return None if top in ("apps", "tests") else f'{top} must not include "{name}"'
        if first not in TOP:
            return f'"{name}" is not named from the root of the repository'
        allowed = may_include(path, name)
        if allowed is None:
            return f"{path.parent} has no row in the table FOLDERS of tools/check_structure.py"
        return None if allowed else f'{path.parent} must not include "{name}"'
    if first in TOP and "/" in name:
        return f'<{name}> belongs to the project: write "{name}"'
    if STANDARD.match(name) or OUTSIDE[top](name):
        return None
    return f"{top} must not include <{name}>"


def check_conditional(directive, condition):
    """The violation of an #if, or None."""
    condition = re.sub(r"//.*|/\*.*?\*/", "", condition)
    condition = re.sub(r"__has_include\s*\([^)]*\)", "__has_include", condition)
    if directive == "if" and condition.strip() in {"0", "1"}:
        return "code that is switched off by hand: delete it"
    for word in IDENTIFIER.findall(re.sub(r"\b0[xX][0-9a-fA-F]+\w*|\b\d\w*", "", condition)):
        if word == "defined" or FEATURES.match(word):
            continue
        if directive == "ifndef":
            return f"{word}: include guards are #pragma once"
        return f"{word} is no feature macro: choose the variant by a table or a template"
    return None


def head_of(lines, at):
    """What stands before the brace of line `at`, in one line, without comments and template parameters."""
    words = []
    for line in reversed(lines[:at]):
        text = re.sub(r"\s*//.*", "", line).strip()
        is_initializer = text.startswith((": ", ", "))
        if not is_initializer and (not text or text.startswith("#") or text.endswith((";", "{", "}", ":"))):
            break
        words.insert(0, text)
    head = " ".join(words)
    while (shorter := re.sub(r"<[^<>]*>", "", head)) != head:
        head = shorter
    return head


def functions(lines):
    """(index of the line of the opening brace, that of the closing one, name) of the functions in formatted code."""
    at = 0
    while at < len(lines):
        brace = re.fullmatch(r"(\s*)\{", lines[at])
        head = head_of(lines, at) if brace else ""
        outside = re.sub(r"\([^()]*\)", "", head)
        if not brace or re.search(r"\b(namespace|class|struct|union|enum)\b|^extern \"C\"$", outside):
            at += 1
            continue
        # Blocks in it are indented further.
        end = at + 1
        while end < len(lines) - 1 and not re.match(brace.group(1) + r"\}", lines[end]):
            end += 1
        head = re.sub(r"__launch_bounds__\([^()]*(\([^()]*\)[^()]*)*\)", "", head)
        name = re.search(r"(operator\s*\S+?|~?\w+)\s*\(", head)
        yield at, end, name.group(1) if name else head
        at = end + 1


def without_raw_strings(text):
    """The same lines; what is in raw strings is left out."""
    return re.sub(r'R"(\w*)\(.*?\)\1"', lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)


def check_functions(path, lines):
    """The functions that are too long, as (line, text)."""
    most = MAX_LINES_OF_TESTS if path.parts[0] == "tests" else MAX_LINES
    excepted = {name for file, name in LONG if file == path.as_posix()}
    too_long = set()
    for begin, end, name in functions(lines):
        length = end - begin + 1
        if length > most:
            too_long.add(name)
            if name not in excepted:
                yield begin + 1, f"{name} has {length} lines, at most {most}"
    for name in sorted(excepted - too_long):
        yield 1, f"{name} is not too long: delete it from the table LONG"


def check_file(root, path):
    """The violations of a file as (line, rule, text)."""
    text = (root / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    if path.suffix in {".h", ".cuh"} and "#pragma once" not in lines:
        yield 1, "conditional", "a header without #pragma once"
    for number, line in enumerate(lines, 1):
        if match := INCLUDE.match(line):
            if violation := check_include(path, *match.groups()):
                yield number, "include", violation
        elif match := CONDITIONAL.match(line):
            if violation := check_conditional(*match.groups()):
                yield number, "conditional", violation
    for number, violation in check_functions(path, without_raw_strings(text).splitlines()):
        yield number, "function", violation


def check(root):
    """All violations below `root` as (file, line, rule, text)."""
    paths = list(files(root))
    for path in paths:
        for line, rule, text in check_file(root, path):
            yield path, line, rule, text
    for folder, count in sorted(Counter(path.parent for path in paths).items()):
        if count > MAX_FILES:
            yield folder, 1, "folder", f"{count} source files, at most {MAX_FILES}"


def flags_of(entry):
    """The compiler and those of its arguments that say how a file is read."""
    kept, skip = [], False
    for word in shlex.split(entry["command"]):
        if skip or word in ("-c", "-MD", "-Winvalid-pch") or word == entry["file"]:
            skip = False
        elif word in ("-o", "-MT", "-MF", "-include"):
            skip = True
        elif os.path.basename(word) != "ccache" and not word.startswith("-O"):
            kept.append(word)
    return kept


def proved(root, path):
    """Is the header the first thing that a source file of its name, which the build compiles, includes?"""
    for suffix in (".cc", ".cu"):
        source = root / path.with_suffix(suffix)
        if source.is_file():
            first = re.search(r'^#include ["<](.*)[">]', source.read_text(encoding="utf-8"), re.MULTILINE)
            if first and first.group(1) == path.as_posix():
                return True
    return False


def nearest(entries, path):
    """That of the files in the same folder or else in one as near as possible."""
    parts = path.parent.parts

    def distance(name):
        other = Path(name).parent.parts
        common = len(os.path.commonprefix([parts, other]))
        return len(parts) + len(other) - 2 * common

    return entries[min(sorted(entries), key=distance)]


def check_headers(root, build):
    """Compiles all headers one by one; returns the number of those that do not compile."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    host, device = {}, {}
    for entry in database:
        name = os.path.relpath(entry["file"], root)
        if name.startswith(TOP[:-1]):
            # Tests, and the kernels for other instruction sets, have flags of their own.
            (device if name.endswith(".cu") else host).setdefault(name, flags_of(entry))
    headers = [p for p in files(root) if p.suffix in {".h", ".cuh"} and p.parts[0] != "tests" and not proved(root, p)]
    if not device:
        print("no emulation in this build: headers of device code are not compiled")
        headers = [path for path in headers if path.suffix == ".h"]

    def compile_alone(path):
        if path.suffix == ".cuh":  # nvcc includes the runtime by itself
            command = nearest(device, path) + ["-include", "cuda_runtime.h"]
        else:
            # The headers that are installed are for users of MPI and deal.II, too.
            command = nearest(host, Path("operators/solver/solver.h") if path.parts[0] == "include" else path)
        # Found by -I alone: the emulation has headers in place of some.
        text = f"#include <{path.as_posix()}>\n"
        command += ["-fsyntax-only", "-xc++", "-"]
        return path, subprocess.run(command, cwd=root, input=text, capture_output=True, text=True, check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, result in pool.map(compile_alone, headers):
            if result.returncode != 0:
                failed += 1
                errors = [line for line in result.stderr.splitlines() if "error:" in line]
                print(f"{path}: does not compile alone: {errors[0] if errors else result.stderr}")
    print(f"{len(headers)} headers compiled alone, {failed} do not compile")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--headers", type=Path, metavar="BUILD")
    arguments = parser.parse_args()
    if arguments.headers:
        return 1 if check_headers(arguments.root, arguments.headers) else 0
    violations = list(check(arguments.root))
    for path, line, rule, text in violations:
        print(f"{path}:{line}: {rule}: {text}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
