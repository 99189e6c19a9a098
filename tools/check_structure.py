#!/usr/bin/env python3
"""Checks what the compiler does not: the direction of includes, file length, preprocessor use.

    tools/check_structure.py [ROOT]

Rules
  include     kernels -> standard library, SIMD intrinsics, CUDA runtime and libraries, dlfcn.h, sys/mman.h, kernels
              solvers -> standard library, solvers
              operators -> kernels, solvers, operators; deal.II, muParser, zlib, MPI, POSIX, CUDA runtime
              apps -> everything above, apps, version.h; tests -> everything
              Project headers are named from the root, in quotes; everything else in <>.
  length      at most 400 lines in a source file
  conditional #if only on feature macros (see FEATURES); no #ifndef include guards, but #pragma once

Prints one line `file:line: rule: text` per violation and exits with 1 if there is any.
"""

import re
import subprocess
import sys
from pathlib import Path

MAX_LINES = 400
SOURCES = {".h", ".cc", ".cu", ".cuh"}

# Which folders of the project each folder may include.
PROJECT = {
    "kernels": {"kernels"},
    "solvers": {"solvers"},
    "operators": {"kernels", "solvers", "operators"},
    "apps": {"kernels", "solvers", "operators", "apps", "version.h"},
    "tests": {"kernels", "solvers", "operators", "apps", "tests", "version.h"},
}
# Which libraries from outside (beyond the standard library) each folder may include.
INTRINSICS = {"immintrin.h", "x86intrin.h", "arm_neon.h", "arm_sve.h"}
POSIX = {"fcntl.h", "unistd.h", "sys/mman.h", "sys/resource.h", "sys/stat.h"}
CUDA = re.compile(r"(cuda|cublas|cupti_|cusparse|cooperative_groups|mma\.h|nv/|nvtx|vector_types\.h)")
OUTSIDE = {
    "kernels": lambda name: name in INTRINSICS | {"dlfcn.h", "sys/mman.h"} or CUDA.match(name),
    "solvers": lambda name: False,
    "operators": lambda name: name in {"mpi.h", "muParser.h", "zlib.h"} | POSIX
    or name.startswith("deal.II/")
    or CUDA.match(name),
    "apps": lambda name: True,
    "tests": lambda name: True,
}
# Headers of the standard library have no extension.
STANDARD = re.compile(r"(experimental/)?[a-z_0-9]+$")

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
        if path.suffix in SOURCES and path.parts[0] in PROJECT and (root / path).is_file():
            yield path


def check_include(folder, bracket, name):
    """The violation of an #include in a file of `folder`, or None."""
    first = name.split("/")[0]
    if bracket == '"':
        if first not in PROJECT and first != "version.h":
            return f'"{name}" is not named from the root of the repository'
        if first not in PROJECT[folder]:
            return f'{folder} must not include "{name}"'
        return None
    if first in PROJECT and "/" in name:
        return f'<{name}> belongs to the project: write "{name}"'
    if STANDARD.match(name) or OUTSIDE[folder](name):
        return None
    return f"{folder} must not include <{name}>"


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


def check(root):
    """All violations below `root` as (file, line, rule, text)."""
    for path in files(root):
        folder = path.parts[0]
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        if len(lines) > MAX_LINES:
            yield path, len(lines), "length", f"{len(lines)} lines, at most {MAX_LINES}"
        if path.suffix in {".h", ".cuh"} and "#pragma once" not in lines:
            yield path, 1, "conditional", "a header without #pragma once"
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                if text := check_include(folder, *match.groups()):
                    yield path, number, "include", text
            elif match := CONDITIONAL.match(line):
                if text := check_conditional(*match.groups()):
                    yield path, number, "conditional", text


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    violations = list(check(root))
    for path, line, rule, text in violations:
        print(f"{path}:{line}: {rule}: {text}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
