#!/usr/bin/env python3
"""The launcher with programs that only print how they were started: options, ranks, failures.

A copy of the launcher runs in a folder of its own; cmake, ninja and mpirun are replaced by scripts.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PRINT_ARGUMENTS = '#!/bin/sh\necho "$(basename "$0"):" "$@"\n'
# Runs what it is told to start, once.
MPIRUN = """#!/bin/sh
echo "mpirun: $*"
[ "$1" != --version ] || echo "mpirun (Open MPI) 4.1.4"
"""
CMAKE = """#!/bin/sh
echo "$*" >>cmake.txt
mkdir -p build/release
touch build/release/build.ninja
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >build/release/CMakeCache.txt
"""
NINJA = """#!/bin/sh
[ ! -e "$(dirname "$0")/broken" ] || { echo "error: this source is wrong"; exit 1; }
echo "[1/1] Building CXX object"
"""


class Launcher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "checkout"
        self.tools = pathlib.Path(folder.name) / "tools"
        for path in ("apps/solve_main.cc", "apps/converge_main.cc", "apps/diagnose_main.cc"):
            self.write(self.root / path, "")
        for name in ("cmake", "ninja", "mpirun", "ctest"):
            text = {"cmake": CMAKE, "ninja": NINJA, "mpirun": MPIRUN}.get(name, PRINT_ARGUMENTS)
            self.write(self.tools / name, text)
        for name in ("solve", "converge", "diagnose"):
            self.write(self.root / f"build/release/bin/tensormg-{name}", PRINT_ARGUMENTS)
        shutil.copy(SOURCE / "tensormg", self.root)
        shutil.copytree(SOURCE / "tools", self.root / "tools")
        shutil.copy(SOURCE / "CMakeLists.txt", self.root)

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def launch(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("OMPI_", "PMI", "TENSORMG_"))}
        environment["PATH"] = f"{self.tools}:{environment['PATH']}"
        environment["TENSORMG_INSTALL"] = "no"
        environment.update(variables)
        return subprocess.run([str(self.root / "tensormg"), *arguments], cwd=self.root, check=False,
                              env=environment, capture_output=True, text=True, timeout=60)

    def started(self, *arguments, **variables):
        """The line that the program, or mpirun in its place, has printed."""
        result = self.launch(*arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def expect_error(self, result, code, text):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)

    def test_ranks(self):
        for form in (("-n", "3"), ("--ranks", "3"), ("--ranks=3",)):
            for arguments in ((*form, "a.prm", "--set", "x.y=1"),
                              ("a.prm", *form, "--set", "x.y=1"),
                              ("a.prm", "--set", "x.y=1", *form)):
                line = self.started("solve", *arguments)
                self.assertRegex(line, r"^mpirun: --quiet -n 3 .*/tensormg-solve a\.prm --set x\.y=1$")
        self.assertIn(" -n 5 ", self.started("solve", "a.prm", TENSORMG_RANKS="5"))
        self.assertIn(" -n 2 ", self.started("solve", "a.prm", "-n", "2", TENSORMG_RANKS="5"))

    def test_one_rank_needs_no_mpirun(self):
        self.assertEqual(self.started("solve", "a.prm", "-n", "1"), "tensormg-solve: a.prm")
        self.assertEqual(self.started("solve", "--help", "-n", "4"), "tensormg-solve: --help")

    def test_diagnose_is_one_process(self):
        self.assertEqual(self.started("diagnose", "spmv", "--quick"), "tensormg-diagnose: spmv --quick")
        self.assertIn("mpirun: --quiet -n 2", self.started("diagnose", "-n", "2")) # it will refuse

    def test_wrong_ranks(self):
        for text in ("0", "-1", "two", "1.5", "", "99999999"):
            self.expect_error(self.launch("solve", "a.prm", "-n", text), 2, "number of ranks is")
        for form in ("-n", "--ranks", "--ranks="):
            self.expect_error(self.launch("solve", "a.prm", form), 2, "must be a positive integer")

    def test_other_mpirun(self):
        line = self.started("solve", "a.prm", TENSORMG_MPIRUN="mpirun -n 64 --map-by node")
        self.assertRegex(line, r"^mpirun: -n 64 --map-by node .*/tensormg-solve a\.prm$")

    def test_inside_mpirun(self):
        for variable in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"):
            inside = {variable: "4"}
            self.assertEqual(self.started("solve", "a.prm", **inside), "tensormg-solve: a.prm")
            self.expect_error(self.launch("solve", "a.prm", "-n", "2", **inside), 2, "-n inside")
        self.assertFalse((self.root / "cmake.txt").exists(), "a rank has built")
        (self.root / "build/release/bin/tensormg-solve").unlink()
        self.expect_error(self.launch("solve", "a.prm", **inside), 11, "do not build")

    def test_ctest_gets_its_options(self):
        self.assertRegex(self.started("test", "-R", "x", "-n", "3"),
                         r"^ctest: --preset release -j \d+ -R x -n 3$")

    def test_build_folder_of_another_checkout(self):
        self.launch("solve", "a.prm", "-n", "1")
        self.launch("solve", "a.prm", "-n", "1")
        self.assertEqual((self.root / "cmake.txt").read_text().splitlines(), ["--preset release"])
        self.root = self.root.rename(self.root.with_name("moved"))
        self.write(self.root / "build/release/stale", "")
        self.launch("solve", "a.prm", "-n", "1")
        self.launch("solve", "a.prm", "-n", "1")
        self.assertEqual((self.root / "cmake.txt").read_text().splitlines(),
                         ["--preset release", "--preset release"])
        self.assertFalse((self.root / "build/release/stale").exists())

    def test_failing_build(self):
        self.write(self.tools / "broken", "")
        result = self.launch("solve", "a.prm", "-n", "2")
        self.expect_error(result, 11, "this source is wrong")
        self.assertEqual(result.stdout, "")

    def test_exit_code_is_the_program_s(self):
        self.write(self.root / "build/release/bin/tensormg-solve", "#!/bin/sh\nexit 4\n")
        self.assertEqual(self.launch("solve", "a.prm", "-n", "1").returncode, 4)

    def test_usage(self):
        self.expect_error(self.launch(), 2, "usage: ./tensormg SUBCOMMAND")
        self.expect_error(self.launch("slove"), 2, "unknown subcommand 'slove'; there are: solve")
        self.expect_error(self.launch("benchmark"), 2, "'benchmark' is not there yet; there are: "
                                                       "converge diagnose solve test")
        self.assertIn("-n N, --ranks N", self.started("--help"))
        self.assertRegex(self.started("--version"), r"^tensormg \d+\.\d+\.\d+ \(\w+\)$")


if __name__ == "__main__":
    unittest.main()
