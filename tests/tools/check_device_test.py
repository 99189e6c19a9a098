#!/usr/bin/env python3
"""tools/check_device.sh with programs, a GPU and a sanitizer that are scripts: what it runs, counts, and calls a failure."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "check_device.sh"
SANITIZER = """#!/bin/bash
while [[ $1 == --* ]]; do [[ $1 == --tool ]] && tool=$2; shift 2; done
case $tool$(cat "$0.mood" 2>/dev/null) in
  racecheckbad) echo '========= RACECHECK SUMMARY: 3 hazards displayed (3 errors, 0 warnings)'; exit 99 ;;
  racecheck*) echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' ;;
  memchecksilent) ;;
  *) printf '%s\\n' '========= ERROR SUMMARY: 0 errors' ;;
esac
TENSORMG_UNDER=$tool exec "$@"
"""


class CheckDevice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "build" / "tests").mkdir(parents=True)
        (self.folder / "bin").mkdir()
        self.script("bin/nvidia-smi", "#!/bin/sh\necho 'A GPU, 1.2'\n")
        self.script("bin/compute-sanitizer", SANITIZER)
        for name in ("vector-cuda", "vector-quotient"):
            self.program(name, 'test -z "$TENSORMG_UNDER" || test "$TENSORMG_TEST_FEW_CASES" = 1')

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def program(self, name, text):
        self.script(f"build/tests/test-kernels-{name}", f"#!/bin/bash\n{text}\n")

    def run_script(self, *options, code=0):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        result = subprocess.run([str(SCRIPT), "--no-build", "--programs", "^kernels-vector-(cuda|quotient)$", *options,
                                 str(self.folder / "build")], env={**os.environ, "PATH": path, "CUDA_HOME": "/nowhere"},
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def summary(self):
        return json.loads((self.folder / "build" / "check_device.json").read_text(encoding="utf-8"))

    def failures(self):
        return {(one["name"], one["tool"]): one["failure"] for one in self.summary()["programs"] if one["failure"]}

    def test_everything_passes(self):
        result = self.run_script("--jobs", "3")
        summary = self.summary()
        self.assertEqual((summary["device"], summary["driver"]), ("A GPU", "1.2"))
        for key in ("git", "date", "command"):
            self.assertTrue(summary[key], key)
        self.assertEqual([(one["name"], one["tool"]) for one in summary["programs"]],
                         [(f"kernels-vector-{name}", tool)
                          for tool in ("test", "memcheck", "racecheck", "initcheck", "synccheck")
                          for name in ("cuda", "quotient")])
        self.assertEqual({(one["errors"], one["skipped"]) for one in summary["programs"]}, {(0, 0)})
        self.assertEqual(len(result.stdout.splitlines()), 11)

    def test_failures_are_told_apart(self):
        self.program("vector-cuda", "echo '[  FAILED  ] A.B (3 ms)'; exit 1")
        self.program("vector-quotient", "sleep 20")
        (self.folder / "bin" / "compute-sanitizer.mood").write_text("bad", encoding="utf-8")
        self.run_script("--tools", "test,racecheck", "--limit", "1", "--jobs", "4", code=1)
        self.assertEqual(self.failures(), {("kernels-vector-cuda", "test"): "exit code 1",
                                           ("kernels-vector-cuda", "racecheck"): "errors",
                                           ("kernels-vector-quotient", "test"): "not over after 1 s",
                                           ("kernels-vector-quotient", "racecheck"): "errors"})
        self.assertEqual([one["errors"] for one in self.summary()["programs"]], [1, 0, 3, 3])

    def test_what_did_not_run_has_not_passed(self):
        self.program("vector-cuda", "echo '[  SKIPPED ] 2 tests.'; exit 77")
        (self.folder / "build" / "tests" / "test-kernels-vector-quotient").unlink()
        (self.folder / "bin" / "compute-sanitizer.mood").write_text("silent", encoding="utf-8")
        self.run_script("--tools", "test,memcheck", code=1)
        self.assertEqual(set(self.failures().values()), {"skipped", "not built"})
        self.assertEqual([one["skipped"] for one in self.summary()["programs"]], [2, 0, 2, 0])
        self.program("vector-cuda", "true")
        self.run_script("--tools", "memcheck", code=1)
        self.assertEqual(self.failures()["kernels-vector-cuda", "memcheck"], "no summary")

    def test_usage(self):
        for options in (("--tools", "memchek"), ("--jobs", "0"), ("--never",), ("another",)):
            self.assertEqual(len(self.run_script(*options, code=2).stderr.splitlines()), 1)
        self.script("bin/nvidia-smi", "#!/bin/sh\nexit 9\n")
        self.assertIn("no GPU", self.run_script(code=77).stderr)


if __name__ == "__main__":
    unittest.main()
