#!/usr/bin/env python3
"""Ranks that fail or do not fit together: all of them end, with one exit code, and no file looks like a result."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = (pathlib.Path(os.environ.get("TENSORMG_BINARY_DIR", SOURCE / "build/release")) / "bin/tensormg-solve").resolve()
MPIRUN = shutil.which("mpirun")
SKIPPED = 77
PATIENCE = 60  # seconds, of which ranks that end by themselves take few
# Takes minutes.
LONG = ["problem.dimension=3", "problem.degree=3", "problem.refinements=5", "problem.right_hand_side=1", "multigrid.smoother=jacobi",
        "multigrid.degree=1", "solver.solver=fgmres", "solver.restart=3", "solver.max_iterations=100000", "solver.tolerance=1e-13",
        "operator.backend=reference"]


def is_running(process):
    """Whether it does more than to wait for somebody who asks how it ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class FailingRanks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *command):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
        return subprocess.Popen([MPIRUN, "--oversubscribe", "--bind-to", "none", *command], cwd=self.folder, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ranks_of(self, process):
        """Its children."""
        result = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = entry.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(parent) == process.pid:
                result.append(int(entry.parent.name))
        return result

    def test_a_rank_is_killed(self):
        settings = [f"--set={setting}" for setting in LONG]
        for victim in (0, 1):
            process = self.start("-n", "2", str(PROGRAM), *settings)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.kill)
            for line in process.stdout:
                if re.match(r" *1 +[0-9.]+", line):  # the first iteration
                    break
            else:
                self.fail("the solve ended before its first iteration")
            ranks = self.ranks_of(process)
            self.assertEqual(len(ranks), 2)
            os.kill(ranks[victim], signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
            self.assertNotEqual(process.returncode, 0)
            for rank in ranks:
                self.assertFalse(is_running(rank))
            results = [path for path in (self.folder / "output").iterdir() if path.suffix in (".vtu", ".pvtu", ".csv") or path.name == "run.json"]
            self.assertEqual(results, [])

    def test_different_builds(self):
        version = subprocess.run([str(PROGRAM), "--version"], capture_output=True, text=True, check=True).stdout
        text = re.search(r"[0-9]+[.][0-9]+[.][0-9]+", version).group().encode()
        program = PROGRAM.read_bytes()
        self.assertIn(text, program)
        other = self.folder / "tensormg-solve"
        other.write_bytes(program.replace(text, re.sub(rb"[0-9]", b"7", text)))
        other.chmod(0o755)
        arguments = ["--set=problem.right_hand_side=1", "--set=problem.refinements=3"]
        process = self.start("-n", "1", str(PROGRAM), *arguments, ":", "-n", "1", str(other), *arguments)
        output = process.communicate(timeout=PATIENCE)[0]
        self.assertEqual(process.returncode, 2, output)
        self.assertEqual(output.count("the ranks run different builds"), 1, output)
        self.assertFalse((self.folder / "output").exists())


if __name__ == "__main__":
    if not PROGRAM.exists() or MPIRUN is None:
        print(f"no {PROGRAM}, or no mpirun", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
