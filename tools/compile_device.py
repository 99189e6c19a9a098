#!/usr/bin/env python3
"""Compiles the device code of a build, to see whether it compiles; nothing is linked, or kept but what is asked for.

    tools/compile_device.py BUILD [--host BUILD] [--keep FILE...] [--skip FOLDER...]   exit code 1 and nvcc's message if something does not compile

BUILD is configured with CUDA, the other one without. What that compiles as C++ (tests/emulation) is host code that a
compiler sees there; so here nvcc makes machine code of it alone, which takes 40 % less time. Tests without device code, which
BUILD compiles as C++, are looked at if the other build has left them out. The files to keep are compiled with all optimisation and
for all degrees, whatever BUILD says, and their machine code, nothing else, lies where the build would put the object. Files in
the folders to skip are left out.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile


def in_any_build(name, build):
    """A file that configuration has written to the build folder has the same name in all of them."""
    return os.path.relpath(name, build) if name.startswith(os.path.abspath(build) + os.sep) else name


def device_commands(build, database, seen_by_host, keep, skip=()):
    """(file, arguments, folder, whether to keep the result) of the files *.cu that nobody else compiles."""
    for entry in database:
        words = shlex.split(entry["command"])
        is_seen = in_any_build(entry["file"], build) in seen_by_host
        is_cpp = "nvcc" not in os.path.basename(words[0])
        if not entry["file"].endswith(".cu") or is_cpp and is_seen:
            continue
        if any(entry["file"].startswith(folder + os.sep) for folder in skip):
            continue
        is_kept = entry["file"] in keep
        if is_kept:
            words = [word for word in words if not word.startswith(("-Ofc", "-DTENSORMG_HIGHEST_DEGREE"))]
        if is_cpp:
            words[words.index("-c")] = "-fsyntax-only"
        elif is_kept or is_seen:
            words[words.index("-c")] = "-fatbin"
        yield entry["file"], words, entry["directory"], is_kept


def without_dependencies(words):
    """No record of included headers is wanted, nor is there a folder for it."""
    kept, skip = [], False
    for word in words:
        if skip or word == "-MD":
            skip = False
        elif word in ("-MT", "-MF"):
            skip = True
        else:
            kept.append(word)
    return kept


def read_database(build):
    path = pathlib.Path(build) / "compile_commands.json"
    return json.loads(path.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--host", help="build without CUDA")
    parser.add_argument("--keep", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--skip", nargs="*", default=[], metavar="FOLDER")
    arguments = parser.parse_args()
    seen = ({in_any_build(e["file"], arguments.host) for e in read_database(arguments.host)}
            if arguments.host else set())
    keep = {os.path.abspath(name) for name in arguments.keep}
    skip = [os.path.abspath(name) for name in arguments.skip]
    work = list(device_commands(arguments.build, read_database(arguments.build), seen, keep, skip))
    if missing := keep - {name for name, *_ in work}:
        print("not compiled in this build:", *sorted(missing))
        return 1
    if not work:
        print("no device code found")
        return 1

    def compile_one(item):
        name, words, folder, is_kept = item
        with tempfile.TemporaryDirectory() as output:
            place = words.index("-o") + 1
            if is_kept:
                os.makedirs(os.path.dirname(os.path.join(folder, words[place])), exist_ok=True)
            else:
                words[place] = os.path.join(output, "object")
            result = subprocess.run(without_dependencies(words), cwd=folder, capture_output=True,
                                    text=True, check=False)
        return name, result.returncode, result.stdout + result.stderr

    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code, text in pool.map(compile_one, work):
            if code != 0 and not failed:
                print(f"{name} does not compile:\n{text}")
            failed = failed or code != 0
    print(f"{len(work)} files of device code")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
