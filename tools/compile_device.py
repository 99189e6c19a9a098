#!/usr/bin/env python3
"""Compiles the device code of a build, to see whether it compiles; nothing is linked or kept.

    tools/compile_device.py BUILD [--host BUILD]     exit code 1 and nvcc's message if something does not compile

BUILD is configured with CUDA, the other one without. What that compiles as C++ (tests/emulation) is host code that a
compiler sees there; so here nvcc makes machine code of it alone, which takes 40 % less time.
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


def device_commands(database, seen_by_host):
    """(file, arguments, folder) of the files that nvcc compiles."""
    for entry in database:
        words = shlex.split(entry["command"])
        if not entry["file"].endswith(".cu") or "nvcc" not in os.path.basename(words[0]):
            continue
        if entry["file"] in seen_by_host:
            words[words.index("-c")] = "-fatbin"
        yield entry["file"], words, entry["directory"]


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
    arguments = parser.parse_args()
    seen = {e["file"] for e in read_database(arguments.host)} if arguments.host else set()
    work = list(device_commands(read_database(arguments.build), seen))
    if not work:
        print("no device code found")
        return 1

    def compile_one(item):
        name, words, folder = item
        with tempfile.TemporaryDirectory() as output:
            words[words.index("-o") + 1] = os.path.join(output, "object")
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
