#!/usr/bin/env python3
"""tools/compile_device.py with compilers that write down how they are called."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "compile_device.py"
COMPILER = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/calls"
case "$*" in *broken*) echo "no such instruction"; exit 2;; esac
"""


def run(folder, device_files, host_files, *options):
    """Exit code, output, and the calls of the compilers: nvcc, and c++ for what begins with `plain`."""
    for name in ("nvcc", "c++"):
        (folder / name).write_text(COMPILER, encoding="utf-8")
        (folder / name).chmod(0o755)
    for build, files in (("device", device_files), ("host", host_files)):
        (folder / build).mkdir(exist_ok=True)
        database = [{"file": f"/k/{name}", "directory": str(folder),
                     "command": f"{folder}/{'c++' if name.startswith('plain') or build == 'host' else 'nvcc'} -Ofc=max -DTENSORMG_HIGHEST_DEGREE=3 -MD -MT x.o -MF x.d -c /k/{name} -o objects/x.o"}
                    for name in files]
        (folder / build / "compile_commands.json").write_text(json.dumps(database), encoding="utf-8")
    result = subprocess.run([sys.executable, TOOL, folder / "device", "--host", folder / "host", *options],
                            capture_output=True, text=True, check=False)
    calls = folder / "calls"
    return (result.returncode, result.stdout,
            calls.read_text(encoding="utf-8").splitlines() if calls.exists() else [])


def check(condition, *what):
    if not condition:
        raise AssertionError(what)


def main():
    with tempfile.TemporaryDirectory() as name:
        code, output, calls = run(pathlib.Path(name), ["a.cu", "b.cu", "c.cc"], ["b.cu"])
        check(code == 0 and "2 files of device code" in output, code, output)
        check(len(calls) == 2, calls)
        for call in calls:
            words = call.split()
            check(("-fatbin" in words) == ("/k/b.cu" in words), call)
            check(("-c" in words) == ("/k/a.cu" in words), call)
            check("x.d" not in words and "-MD" not in words, call)
            check(not os.path.exists(words[words.index("-o") + 1]), call)
    with tempfile.TemporaryDirectory() as name:
        code, output, calls = run(pathlib.Path(name), ["a.cu", "broken.cu"], [])
        check(code == 1 and "/k/broken.cu does not compile" in output, code, output)
        check("no such instruction" in output, output)
    with tempfile.TemporaryDirectory() as name:
        code, output, calls = run(pathlib.Path(name), ["c.cc"], [])
        check(code == 1 and "no device code" in output and not calls, code, output)
    with tempfile.TemporaryDirectory() as name:
        code, output, calls = run(pathlib.Path(name), ["a.cu", "b.cu"], [], "--keep", "/k/b.cu")
        check(code == 0, output)
        for call in calls:
            words = call.split()
            kept = "/k/b.cu" in words
            check(("-fatbin" in words) == kept and ("-Ofc=max" in words) != kept, call)
            check(("-DTENSORMG_HIGHEST_DEGREE=3" in words) != kept, call)
            check((words[words.index("-o") + 1] == "objects/x.o") == kept, call)
        check((pathlib.Path(name) / "objects").is_dir())
        code, output, calls = run(pathlib.Path(name), ["a.cu"], [], "--keep", "/k/b.cu")
        check(code == 1 and "not compiled in this build: /k/b.cu" in output, code, output)
    with tempfile.TemporaryDirectory() as name:
        code, output, calls = run(pathlib.Path(name), ["a.cu", "left/b.cu", "leftover.cu"], [], "--skip", "/k/left")
        check(code == 0 and "2 files of device code" in output, output)
        check(not any("/k/left/b.cu" in call for call in calls), calls)
    with tempfile.TemporaryDirectory() as name:
        code, output, calls = run(pathlib.Path(name), ["a.cu", "plain_seen.cu", "plain_unseen.cu", "plain.cc"], ["plain_seen.cu"])
        check(code == 0 and len(calls) == 2, output, calls)
        check(any("-fsyntax-only /k/plain_unseen.cu" in call for call in calls), calls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
