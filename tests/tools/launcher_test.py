#!/usr/bin/env python3
"""The launcher with programs that only print how they were started: options, ranks, failures."""

import os
import signal
import subprocess
import unittest

from launcher_copy import CORES, LauncherCopy


class Launcher(LauncherCopy):
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

    def test_more_processes_than_a_machine_bears(self):
        self.expect_error(self.launch("solve", "a.prm", "-n", "999999"), 2, "would start 999999 processes")
        self.assertIn("-n 999999", self.started("solve", "a.prm", TENSORMG_MPIRUN="mpirun -n 999999"))

    def test_other_mpirun(self):
        line = self.started("solve", "a.prm", TENSORMG_MPIRUN="mpirun -n 64 --map-by node")
        self.assertRegex(line, r"^mpirun: -n 64 --map-by node .*/tensormg-solve a\.prm$")

    def test_inside_mpirun(self):
        for variable in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"):
            inside = {variable: "4"}
            self.assertEqual(self.started("solve", "a.prm", **inside), "tensormg-solve: a.prm")
            self.expect_error(self.launch("solve", "a.prm", "-n", "2", **inside), 2, "-n inside")
        self.assertEqual(self.configurations(), [], "a rank has built")
        (self.root / "build/release/bin/tensormg-solve").unlink()
        self.expect_error(self.launch("solve", "a.prm", **inside), 11,
                          "do not build: call TENSORMG_PRESET=release ./tensormg solve once without them")

    def test_ctest_gets_its_options(self):
        self.assertRegex(self.started("test", "-R", "x", "-n", "3"),
                         r"^ctest: --preset release -j \d+ -R x -n 3$")

    def test_build_folder_of_another_checkout(self):
        self.launch("solve", "a.prm", "-n", "1")
        self.launch("solve", "a.prm", "-n", "1")
        self.assertEqual(self.configurations(), ["--preset release"])
        self.root = self.root.rename(self.root.with_name("moved"))
        self.write(self.root / "build/release/stale", "")
        self.launch("solve", "a.prm", "-n", "1")
        self.launch("solve", "a.prm", "-n", "1")
        self.assertEqual(self.configurations(), ["--preset release", "--preset release"])
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
                                                       "compare converge diagnose solve plot test")
        self.assertIn("-n N, --ranks N", self.started("--help"))
        self.assertRegex(self.started("--version"), r"^tensormg \d+\.\d+\.\d+ \(\w+\)$")

    def test_plot(self):
        self.expect_error(self.launch("plot", "nowhere"), 2, "nowhere: there is no such directory; allowed: output directories")
        self.assertIn("usage: tensormg plot", self.started("plot", "--help"))
        self.assertEqual(self.configurations(), [])

    def test_one_rank_per_core(self):
        for subcommand in ("solve", "converge", "compare"):
            self.assertIn(f" -n {CORES} --bind-to core", self.started(subcommand, "a.prm"))

    def test_ranks_of_two_runs_are_not_bound(self):
        self.write(self.folder / "processes/17/comm", "tensormg-solve\n")
        line = self.started("solve", "a.prm")
        self.assertIn("--bind-to none", line)
        self.assertNotIn("--bind-to core", line)
        self.write(self.folder / "processes/17/comm", "bash\n")
        self.assertIn("--bind-to core", self.started("solve", "a.prm"))

    def test_networks_are_for_several_machines(self):
        self.write(self.tools / "mpirun", '#!/bin/sh\n[ "$1" = --version ] && echo "Open MPI"\necho "${OMPI_MCA_pml-} ${OMPI_MCA_btl-}"\n')
        self.assertEqual(self.started("solve", "a.prm"), "ob1 ^ofi,openib")
        self.assertEqual(self.started("solve", "a.prm", OMPI_MCA_pml="ucx"), "ucx ^ofi,openib")
        self.assertEqual(self.started("solve", "a.prm", SLURM_JOB_ID="1"), "")

    def test_without_mpirun(self):
        (self.tools / "mpirun").unlink()
        self.expect_error(self.launch("solve", "a.prm", "-n", "2"), 10, "not found: mpirun (package openmpi-bin")
        self.assertEqual(self.started("solve", "a.prm", "-n", "1"), "tensormg-solve: a.prm")

    def test_symbolic_link(self):
        link = self.folder / "bin/tensormg"
        link.parent.mkdir()
        link.symlink_to(os.path.relpath(self.root / "tensormg", link.parent))
        result = self.launch("solve", "a.prm", "-n", "1", command=str(link))
        self.assertEqual(result.stdout, "tensormg-solve: a.prm\n", result.stderr)
        result = self.launch("--version", command=str(link))
        self.assertRegex(result.stdout, r"^tensormg \d+\.\d+\.\d+ ")

    def test_closed_screen(self):
        """Who reads goes after one line; the run goes on, and its exit code is the program's."""
        text = ("#!/bin/sh\n[ \"$1\" != --version ] || exit 1\nfor i in 1 2 3 4 5 6; do echo $i || {}; sleep 0.05; done\n"
                "echo >ended\nexit 4\n")
        # mpirun gives up when it cannot write, the program does not.
        for program, ranks, trouble in ((self.tools / "mpirun", "2", "exit 9"),
                                        (self.root / "build/release/bin/tensormg-solve", "1", ":")):
            self.write(program, text.replace("{}", trouble))
            result = subprocess.run(["bash", "-c", f"./tensormg solve a.prm -n {ranks} | head -n 1; exit ${{PIPESTATUS[0]}}"],
                                    cwd=self.root, env=self.environment({}), capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stdout), (4, "1\n"), result.stderr)
            self.assertTrue((self.root / "ended").exists())
            (self.root / "ended").unlink()

    def test_signal_ends_the_program(self):
        """`kill` of the launcher, as by a batch system, ends what it has started; Ctrl-C goes to all of them."""
        self.write(self.tools / "mpirun", "#!/bin/sh\n[ \"$1\" != --version ] || exit 1\n"
                                          "trap 'echo >ended; exit 5' TERM INT\necho begun\n"
                                          "for i in $(seq 200); do sleep 0.05; done\n")
        for signal_, to_all in ((signal.SIGTERM, False), (signal.SIGINT, True)):
            with subprocess.Popen([str(self.root / "tensormg"), "solve", "a.prm", "-n", "2"], cwd=self.root, text=True,
                                  env=self.environment({}), stdout=subprocess.PIPE, start_new_session=True) as run:
                self.assertEqual(run.stdout.readline(), "begun\n")
                (os.killpg if to_all else os.kill)(run.pid, signal_)
                self.assertIn(run.wait(timeout=5), (5, 128 + signal_))
            self.assertTrue((self.root / "ended").exists())
            (self.root / "ended").unlink()


if __name__ == "__main__":
    unittest.main()
