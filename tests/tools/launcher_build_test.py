#!/usr/bin/env python3
"""The launcher before and while it builds: answers without a build, what is missing, progress, and what is configured again."""

import fcntl
import shutil
import subprocess
import threading
import unittest

from launcher_copy import SOURCE, LauncherCopy

QUERY = """#!/bin/sh
echo "install ok installed g++ 12"
[ ! -e "$(dirname "$0")/boost" ] || echo "install ok installed libboost-context-dev 1.74"
"""


class LauncherBuilds(LauncherCopy):
    def setUp(self):
        super().setUp()
        (self.root / "build/release/bin/tensormg-solve").unlink()

    def describe_parameters(self):
        (self.root / "docs").mkdir()
        shutil.copy(SOURCE / "docs/parameters.md", self.root / "docs")
        self.write(self.root / "a.prm", "subsection problem\n  set degree = 2\nend\n")

    def test_answers_before_the_build(self):
        self.describe_parameters()
        for program in ("solve", "converge", "compare", "diagnose"):
            self.assertIn("--print-parameters", self.started(program, "--help"))
            self.assertIn("subsection output", self.started(program, "--print-parameters"))
        self.assertNotIn("subsection diagnose", self.started("solve", "--print-parameters"))
        self.assertIn("subsection diagnose", self.started("solve", "--print-parameters", "--all"))
        self.assertRegex(self.started("solve", "a.prm", "--print-parameters"), "set degree *= 2 *# default: 3")
        self.assertRegex(self.started("solve", "--version"), r"^tensormg \d+\.\d+\.\d+ ")
        self.assertEqual(self.started("diagnose", "--version"), "tensormg-diagnose: --version") # is built, and knows more
        self.assertEqual(self.configurations(), [])

    def test_mistakes_before_the_build(self):
        self.describe_parameters()
        self.write(self.root / "bad.prm", "subsection solver\n\n  set tolerence = 1\nend\n")
        for arguments, text in ((("b.prm",), "b.prm: there is no such file (did you mean a.prm?)"),
                                (("bad.prm",), "bad.prm:3: solver.tolerence: unknown parameter (did you mean solver.tolerance?)"),
                                (("a.prm", "--set", "solver.tolerance=2"), "'2' is out of range; allowed: a number > 0 and < 1"),
                                ((), "a parameter file is missing"), (("a.prm", "--quite"), "did you mean '--quiet'?")):
            self.expect_error(self.launch("solve", *arguments), 2, f"tensormg: error: {text}" if arguments[1:] == () else text)
        self.assertEqual(self.configurations(), [])
        self.assertEqual(self.launch("solve", "a.prm", "-n", "1").returncode, 127) # the program is not there, but all is well
        self.assertEqual(self.configurations(), ["--preset release"])

    def test_the_program_has_the_last_word(self):
        """Without python3, or with what only the program understands, the build begins."""
        self.describe_parameters()
        self.write(self.root / "tools/before_build.py", "raise SystemExit(1)\n")
        self.launch("solve", "bad.prm")
        self.assertEqual(self.configurations(), ["--preset release"])

    def test_without_python(self):
        self.describe_parameters()
        self.replace("tensormg", "system_python=/usr/bin/python3", "system_python=/none")
        self.replace("tensormg", "command -v python3", "command -v no_python")
        self.expect_error(self.launch("solve", "b.prm"), 2, "tensormg: error: b.prm: there is no such file")
        self.assertEqual(self.configurations(), [])
        self.launch("solve", "a.prm", "--set", "output.directory=b.prm")
        self.assertEqual(self.configurations(), ["--preset release"])

    def test_missing_tools(self):
        for name, package in (("cmake", "cmake"), ("ninja", "ninja-build"), ("c++", "g++")):
            (self.tools / name).rename(self.folder / "away")
            self.expect_error(self.launch("solve", "a.prm"), 10, f"not found: {name} (package {package} of Debian and Ubuntu)")
            (self.folder / "away").rename(self.tools / name)
        (self.tools / "cmake").unlink()
        (self.tools / "ninja").unlink()
        self.assertIn("not found: cmake (package cmake of Debian and Ubuntu), ninja (", self.launch("solve", "a.prm").stderr)

    def test_missing_libraries(self):
        for words, text in (("deal.II 9.4 or newer not found: install", "deal.II 9.4 or newer (Debian and Ubuntu: libdeal.ii-dev)"),
                            ("Could NOT find MPI (missing: MPI_CXX_FOUND CXX)", "MPI (Debian and Ubuntu: libopenmpi-dev"),
                            ("Could NOT find BLAS", "liblapack-dev"), ("muParser not found", "libmuparser-dev"),
                            ("CLI/CLI.hpp not found", "libcli11-dev"), ("nlohmann/json.hpp not found", "nlohmann-json3-dev"),
                            ("  CMake 3.25 or higher is required.  You are running", "CMake 3.25 or newer")):
            self.write(self.tools / "cmake_says", f"CMake Error at x:\n  {words}\n")
            self.expect_error(self.launch("solve", "a.prm"), 10, f"not found: {text}" if "(" in text else text)
        self.write(self.tools / "cmake_says", "CMake Error at x:\n  something else\n")
        self.expect_error(self.launch("solve", "a.prm"), 11, "something else")

    def test_progress_in_a_log(self):
        self.write(self.tools / "slow", "2")
        text = self.launch("solve", "a.prm").stderr
        self.assertIn("tensormg: building tensormg-solve: 40 of 120\n", text)
        self.assertLess(text.count("40 of 120"), 9)

    def test_waiting_for_another_launcher(self):
        with open(self.root / "build/lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            release = threading.Timer(20, fcntl.flock, (lock, fcntl.LOCK_UN)) # where nothing is said while waiting
            release.start()
            with subprocess.Popen([str(self.root / "tensormg"), "solve", "a.prm", "-n", "1"], stderr=subprocess.PIPE, text=True,
                                  env=self.environment({}), cwd=self.root) as run:
                lines = [run.stderr.readline(), run.stderr.readline()]
                self.assertEqual(self.configurations(), [])
                release.cancel()
                fcntl.flock(lock, fcntl.LOCK_UN)
                run.communicate(timeout=60)
        self.assertEqual(lines, ["tensormg: waiting for another ./tensormg that builds here\n", "tensormg: still waiting\n"])
        self.assertEqual(self.configurations(), ["--preset release"])

    def test_new_packages_configure_again(self):
        self.write(self.tools / "dpkg-query", QUERY)
        for _ in range(2):
            self.launch("solve", "a.prm")
        self.assertEqual(len(self.configurations()), 1)
        self.write(self.tools / "boost", "")
        for _ in range(2):
            self.launch("test")
        self.assertEqual(len(self.configurations()), 2)
        (self.tools / "boost").unlink() # nothing is found that was not there
        self.launch("test")
        self.assertEqual(len(self.configurations()), 2)

    def test_what_is_switched_off(self):
        """It is listed after the tests, whose exit code counts, and looked for again before the next ones."""
        self.write(self.tools / "ctest", "#!/bin/sh\necho tests >&2\nexit 8\n")
        self.write(self.tools / "switched_off", "some tests: install this\n")
        result = self.launch("test")
        self.assertEqual(result.returncode, 8)
        self.assertLess(result.stderr.index("tests\n"), result.stderr.index("  some tests: install this"))
        self.launch("solve", "a.prm")
        self.assertEqual(len(self.configurations()), 1)
        self.write(self.tools / "switched_off", "")
        self.assertNotIn("switched off", self.launch("test").stderr)
        self.assertEqual(len(self.configurations()), 2)
        self.launch("test")
        self.assertEqual(len(self.configurations()), 2)


if __name__ == "__main__":
    unittest.main()
