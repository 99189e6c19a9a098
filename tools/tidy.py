#!/usr/bin/env python3
"""clang-tidy on several files at once: headers are parsed and matched once for up to SIZE files of a folder.

    tools/tidy.py build/release [FILE...]     every finding is an error; exit code 1

Files with the same flags, of the same folder, are included by one file, as in a unity build. Where names of
their anonymous namespaces meet, clang cannot compile that file: then they are checked one by one, which is
as good and takes longer. APART names those for which that is known. A header that a file needs and only its
neighbour includes is not missed here; compilers, which see one file at a time, miss it.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

SIZE = 8
# Every program has its main(), every class of the diagnosis its table `rows`.
APART = re.compile(
    r"/main\.cc$|/sparse/(twins|sliced_matrix)\.cc$|/precision/device_methods\.cc$|/thread_team\.cc$"
    r"|/diagnose/(gemm/(batched|gemm)|classes|machine|scale|smallmat|precision/precision"
    r"|spmv/(spmv|device|twins)|stencil/(stencil|device|check))\.cc$"
)
# What is in files that are included is a finding as well; and they are included on purpose.
FILTER = r"/(kernels|operators|solvers|apps)/([^/]*/)*[^/]*\.(h|cc)$"
TOGETHER = ["--checks=-bugprone-suspicious-include", f"--header-filter={FILTER}"]


def flags_of(command):
    """The arguments of a compiler that matter to clang: all but its name, the input and what it writes."""
    words = shlex.split(command)[1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT", "-include"):
            skip = True
        elif word not in ("-MD", "-Winvalid-pch"):
            kept.append(word)
    return kept


def check(tool, files, flags, options):
    command = [tool, "--quiet", *options, *map(str, files), "--", *flags]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def check_group(tool, number, files, flags, folder):
    """Findings in these files, empty if there are none, and whether they had to be checked one by one."""
    if len(files) > 1:
        together = folder / f"tidy_{number}.cc"
        together.write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
        code, text = check(tool, [together], flags, TOGETHER)
        if code == 0:
            return "", False
        if "clang-diagnostic-error" not in text:
            return text, False
    findings = [check(tool, [file], flags, []) for file in files]
    return "".join(text for code, text in findings if code), len(files) > 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a folder with compile_commands.json")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="what to check; else what the standard input names")
    parser.add_argument("--tool", default="clang-tidy-16")
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    arguments = parser.parse_args()
    files = arguments.files or [pathlib.Path(line) for line in sys.stdin.read().split()]
    commands = {
        pathlib.Path(entry["file"]): entry["command"]
        for entry in json.loads((arguments.build / "compile_commands.json").read_text(encoding="utf-8"))
    }

    groups = {}
    for file in map(pathlib.Path.resolve, files):
        if file not in commands:
            sys.exit(f"{file}: not in {arguments.build}/compile_commands.json")
        flags = flags_of(commands[file])
        key = file if APART.search(str(file)) else (file.parent, *flags)
        groups.setdefault(key, (flags, []))[1].append(file)
    parts = [
        (flags, sources[first : first + SIZE]) for flags, sources in groups.values() for first in range(0, len(sources), SIZE)
    ]
    folder = arguments.build / "tidy"
    folder.mkdir(exist_ok=True)
    # The largest first, so that no core waits at the end.
    parts.sort(key=lambda part: -len(part[1]))
    findings, one_by_one = 0, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [
            pool.submit(check_group, arguments.tool, number, sources, flags, folder)
            for number, (flags, sources) in enumerate(parts)
        ]
        for job in concurrent.futures.as_completed(jobs):
            text, apart = job.result()
            one_by_one += apart
            if text:
                print(text, flush=True)
                findings += max(1, len(re.findall(r" error: ", text)))
    print(f"{len(files)} files in {len(parts)} parts, {one_by_one} of them one by one: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
