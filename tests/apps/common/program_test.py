#!/usr/bin/env python3
"""The programs as a user meets them: exit codes, messages, and files, on one rank and under mpirun.

tools/before_build.py, which answers in their place before they are built, says the same.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("TENSORMG_BINARY_DIR", SOURCE / "build/release")) / "bin"
MPIRUN = shutil.which("mpirun")
SKIPPED = 77

CASE = """
subsection problem
  set dimension       = 2
  set refinements     = 3
  set degree          = 2
  set right_hand_side = 2*pi^2*sin(pi*x)*sin(pi*y)
  set exact_solution  = sin(pi*x)*sin(pi*y)
end
subsection converge
  set degrees     = 1, 2
  set refinements = 3, 4
end
"""


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "case.prm").write_text(CASE, encoding="utf-8")

    def run_program(self, name, *arguments, ranks=1):
        command = [str(PROGRAMS / f"tensormg-{name}"), *arguments]
        if ranks > 1:
            command = [MPIRUN, "--quiet", "--oversubscribe", "-n", str(ranks), *command]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120
        )

    def expect_error(self, result, code, text):
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith("tensormg: error:")]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(text, lines[0])

    def test_solve(self):
        result = self.run_program("solve", "case.prm")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        for part in ("problem", "8 x 8 cells of degree 2", "iteration", "converged after", "L2 "):
            self.assertIn(part, result.stdout)
        record = json.loads((self.folder / "output/run.json").read_text(encoding="utf-8"))
        self.assertTrue(record["converged"])
        for file in record["files"]:
            self.assertTrue((self.folder / file).is_file(), file)

    def test_quiet_and_verbose(self):
        result = self.run_program("solve", "case.prm", "--quiet")
        self.assertEqual(len(result.stdout.splitlines()), 1)
        result = self.run_program("solve", "-v", "case.prm")
        self.assertIn("lambda_max", result.stdout)
        self.expect_error(self.run_program("solve", "-q", "-v", "case.prm"), 2, "--quiet")

    def test_overrides(self):
        result = self.run_program("solve", "--set", "problem.degree=4", "case.prm", "-q",
                                  "--set", "output.directory=a/b", "-s", "problem.refinements=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        record = json.loads((self.folder / "a/b/run.json").read_text(encoding="utf-8"))
        self.assertEqual((record["degree"], record["dofs"]), (4, 100))

    def test_parameters_are_reproduced(self):
        self.run_program("solve", "case.prm", "-q")
        again = self.run_program("solve", "output/parameters.prm", "--print-parameters", "--all")
        self.assertEqual(again.returncode, 0)
        self.assertEqual(again.stdout, (self.folder / "output/parameters.prm").read_text())

    def test_information(self):
        for argument, part in (("--help", "Exit codes"), ("--version", "tensormg 0."),
                               ("--print-parameters", "set tolerance")):
            for program in ("solve", "converge"):
                result = self.run_program(program, argument)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(part, result.stdout)

    def test_parameters_of_a_program(self):
        def sections(*arguments):
            return re.findall("subsection (.*)", self.run_program(*arguments, "--print-parameters").stdout)

        box = ["problem", "boundary", "solver", "multigrid", "operator", "output"]
        problem = [box[0], "mesh", *box[1:]]
        self.assertEqual(sections("solve"), problem)
        self.assertEqual(sections("converge"), [*problem, "converge"])
        self.assertEqual(sections("compare"), ["output", "compare"])
        self.assertEqual(sections("compare", "--solve"), [*box, "compare"])
        self.assertEqual(sections("diagnose"), ["output", "diagnose"])
        self.assertEqual(sections("solve", "--all"), [*problem, "converge", "compare", "diagnose"])

    def test_closed_screen(self):
        """Who reads goes after one line; the run goes on to its end."""
        for arguments in ("", "--set solver.max_iterations=1"):
            command = f"{PROGRAMS}/tensormg-solve case.prm {arguments} | head -n 1; exit ${{PIPESTATUS[0]}}"
            result = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(len(result.stdout.splitlines()), 1)
            self.assertEqual(result.returncode, 3 if arguments else 0, result.stderr)
            record = json.loads((self.folder / "output/run.json").read_text(encoding="utf-8"))
            self.assertEqual(record["converged"], not arguments)

    def before_build(self, name, *arguments):
        return subprocess.run([sys.executable, str(SOURCE / "tools/before_build.py"), name, *arguments], cwd=self.folder,
                              capture_output=True, text=True, check=False, timeout=60)

    def test_help_before_the_build(self):
        def options(text):
            return set(re.findall(r"(?m)^ *(?:-\w, ?)?(--[a-z-]+)", text))

        for program in ("solve", "converge", "compare", "diagnose", "benchmark"):
            early = self.before_build(program, "--help")
            self.assertEqual(early.returncode, 3)
            late = self.run_program(program, "--help").stdout
            self.assertEqual(options(early.stdout) - {"--ranks"}, options(late), program)
            self.assertGreaterEqual(len(options(late)), 6)

    def test_parameters_before_the_build(self):
        def words(text): # the lines are broken elsewhere by other versions of deal.II
            return re.sub(r"[\s#]+", " ", text)

        for program, *arguments in (("solve",), ("solve", "--all"), ("solve", "case.prm"), ("converge", "case.prm"), ("compare",),
                                    ("compare", "--solve"), ("diagnose", "spmv", "gemm", "--quick"),
                                    ("solve", "--set", "output.directory=a b", "-s", "multigrid.degree=3")):
            early = self.before_build(program, *arguments, "--print-parameters")
            late = self.run_program(program, *arguments, "--print-parameters")
            self.assertEqual((early.returncode, late.returncode), (3, 0))
            self.assertEqual(words(early.stdout), words(late.stdout))

    def test_mistakes_before_the_build(self):
        files = {"key.prm": "subsection solver\n  set tolerence = 1\nend\n", "section.prm": "subsection solvr\n set restart = 1\nend\n",
                 "open.prm": "subsection solver\n", "line.prm": "tolerance = 1\n", "outside.prm": "set dimension = 3\n",
                 "slash.prm": "subsection solver \\\n", "twice.prm": "subsection solver\n set restart = 1\n set restart = 2\nend\n",
                 "text.txt": "x", "key.json": '{"solver":\n {"precision": "half"}}'}
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        settings = ("solver.tolerance=2", "solver.tolerance=1e-400", "solver.restart=0", "solver.restart=1.5", "solver.solver=gmres",
                    "problem.lower=1,2,3", "problem.upper=1,b", "problem.coarse_cells=0", "converge.degrees=2, 1", "compare.forms=",
                    "compare.backends=cpu, cudda", "solver.full_multigrid=yes", "output.name=a/b", "output.name=a#b", "output.log_file=run.json", "output.log_file=a/b.txt",
                    "multigrid.wwwwwwww=1", "tolerance=1", "qqqqqqq.wwwwwww=1")
        cases = [("solve", name) for name in (*files, "no/such.prm")] + [("solve",), ("converge", "a.prm", "b.prm")]
        cases += [("solve", "case.prm", "--set", setting) for setting in settings] + [("diagnose", "splv")]
        for case in cases:
            early, late = self.before_build(*case), self.run_program(*case)
            self.assertEqual((early.returncode, early.stderr), (2, late.stderr), case)
            self.assertEqual(late.returncode, 2, case)

    def test_what_passes_before_the_build(self):
        """Every shipped file, and what only the program can judge."""
        for file in sorted((SOURCE / "params").glob("*.prm")):
            for program in ("solve", "converge", "compare", "diagnose"):
                result = self.before_build(program, str(file))
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""), file)
        for setting in ("problem.right_hand_side=)", "diagnose.matrices=", "output.vtu_lower=", "solver.tolerance=+.5", "problem.upper=1.e2"):
            self.assertEqual(self.before_build("solve", "case.prm", "-s", setting).returncode, 0, setting)

    def test_usage_errors(self):
        self.expect_error(self.run_program("solve"), 2, "a parameter file is missing")
        self.expect_error(self.run_program("solve", "--wrong"), 2, "--wrong")
        self.expect_error(self.run_program("solve", "no.prm"), 2, "no.prm: there is no such file")
        self.expect_error(self.run_program("solve", "case.prm", "--set", "problem.degre=3"), 2,
                          "problem.degree")
        self.expect_error(self.run_program("solve", "case.prm", "--set", "problem.refinements=16"),
                          2, "degrees of freedom need")
        self.expect_error(self.run_program("solve", "case.prm", "--set",
                                           "output.directory=case.prm"), 2, "output.directory")

    def test_solver_failures(self):
        result = self.run_program("solve", "case.prm", "--set", "solver.max_iterations=1")
        self.expect_error(result, 3, "iteration_limit")
        result = self.run_program("solve", "case.prm", "--set", "solver.tolerance=1e-18")
        self.expect_error(result, 4, "stagnated")

    def test_memory_is_as_planned(self):
        def solve(refinements, solver):
            self.run_program("solve", "case.prm", "-q", "--set", "problem.dimension=3",
                             "--set", f"problem.refinements={refinements}",
                             "--set", f"solver.solver={solver}", "--set", "output.write_vtu=false",
                             "--set", "solver.max_iterations=1", "--set", "problem.exact_solution=")
            record = json.loads((self.folder / "output/run.json").read_text(encoding="utf-8"))
            return record["peak_memory_bytes"], record["memory"]["bytes_rank_0"]

        for solver in ("cg", "direct"):
            small, _ = solve(1, solver) # what the program and its libraries take
            large, plan = solve(5, solver)
            self.assertLess(large - small, plan + 16e6, solver) # vectors are whole huge pages
            self.assertGreater(large - small, 0.9 * plan, solver)

    def test_converge(self):
        result = self.run_program("converge", "case.prm")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("L2 rate", result.stdout)
        self.assertTrue((self.folder / "output/converge.csv").is_file())
        result = self.run_program("converge", "case.prm", "--set", "converge.order_tolerance=1e-6")
        self.expect_error(result, 7, "degree 1: the L2 error falls with order")

    def test_log(self):
        log = self.folder / "output/log.txt"
        screen = self.run_program("solve", "case.prm", "-s", "output.log_file=log.txt", "-s", "output.vtu_max_cells=1")
        text = log.read_text(encoding="utf-8")
        warning = screen.stderr.strip()
        self.assertIn("tensormg: warning: the solution will not be written", warning)
        self.assertEqual(text.replace(warning + "\n", ""), screen.stdout)
        quiet = self.run_program("solve", "case.prm", "-q", "-s", "output.log_file=log.txt")
        text = log.read_text(encoding="utf-8")
        self.assertNotIn("warning", text) # nothing is left of the run before
        self.assertEqual(len(quiet.stdout.splitlines()), 1)
        for part in ("problem ", "iteration", "converged after", quiet.stdout):
            self.assertIn(part, text)
        for settings, code in ((("problem.refinements=16",), 2), (("solver.max_iterations=1",), 3)):
            result = self.run_program("solve", "case.prm", *[f"--set={setting}" for setting in ("output.log_file=log.txt", *settings)])
            self.assertEqual(result.returncode, code)
            self.assertTrue(log.read_text(encoding="utf-8").endswith(result.stderr), log.read_text(encoding="utf-8"))
        self.run_program("converge", "case.prm", "-s", "output.log_file=converge.log")
        self.assertIn("L2 rate", (self.folder / "output/converge.log").read_text(encoding="utf-8"))

    def test_logs_that_cannot_be(self):
        (self.folder / "output/a.txt").mkdir(parents=True)
        for name, text in (("a.txt", "(Is a directory); allowed: a name"), ("run.json", "ends in neither .txt nor .log"),
                           ("a/b.txt", "contains '/'"), (300 * "n" + ".txt", "cannot be written (File name too long); allowed: a name")):
            for dry in ((), ("--dry-run",)):
                result = self.run_program("solve", "case.prm", "-s", f"output.log_file={name}", *dry)
                self.expect_error(result, 2, "output.log_file = ")
                self.expect_error(result, 2, text)

    @unittest.skipUnless(MPIRUN, "mpirun not found")
    def test_log_of_ranks(self):
        settings = [f"--set={setting}" for setting in ("output.log_file=log.txt", "problem.refinements=6", "solver.max_iterations=1")]
        result = self.run_program("solve", "case.prm", *settings, ranks=2)
        text = (self.folder / "output/log.txt").read_text(encoding="utf-8")
        self.assertEqual(text.count("iteration  relative"), 1)
        self.assertTrue(text.endswith(result.stderr))

    def test_one_run_per_directory(self):
        """A second run is refused while the first one lives, however that ends."""
        long = ["problem.dimension=3", "problem.refinements=5", "problem.exact_solution=",
                "solver.tolerance=1e-17", "solver.max_iterations=1000000", "solver.solver=cg",
                "multigrid.smoother=jacobi", "multigrid.damping=1e-9"]
        command = [str(PROGRAMS / "tensormg-solve"), "case.prm", "-q"]
        for setting in long:
            command += ["--set", setting]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as first:
            lock = self.folder / "output/tensormg.lock"
            try:
                for _ in range(300):
                    if lock.is_file() and lock.read_text():
                        break
                    time.sleep(0.1)
                for program in (("solve",), ("converge",), ("solve", "--dry-run")):
                    second = self.run_program(*program, "case.prm")
                    self.expect_error(second, 2, f"is in use by another run (process {first.pid} on ")
            finally:
                first.kill()
        (self.folder / "output/tensormg-0123456789abcdef.part").write_text("half a file")
        third = self.run_program("solve", "case.prm", "-q")
        self.assertEqual(third.returncode, 0, third.stderr)
        left = sorted(file.name for file in (self.folder / "output").iterdir())
        self.assertEqual(left, ["parameters.prm", "residuals.csv", "run.json", "solution.vtu"])

    def files(self):
        """Every file and folder, with what is in it."""
        return {path: path.read_bytes() if path.is_file() else None for path in sorted(self.folder.rglob("*"))}

    def dry_run(self, *settings, ranks=1):
        """Leaves everything as it is."""
        before = self.files()
        arguments = [word for setting in settings for word in ("--set", setting)]
        result = self.run_program("solve", "case.prm", "--dry-run", *arguments, ranks=ranks)
        self.assertEqual(self.files(), before)
        return result

    def test_dry_run(self):
        result = self.dry_run("output.directory=new/folder")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for part in ("8 x 8 cells of degree 2", "4 levels", "memory ", "new/folder/run.json", "new/folder/solution.vtu",
                     "nothing was solved or written"):
            self.assertIn(part, result.stdout)
        for part in ("iteration", "converged", "would be replaced"):
            self.assertNotIn(part, result.stdout)
        self.run_program("solve", "case.prm", "-q")
        result = self.dry_run("output.verbosity=quiet")
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertIn("4 of 4 are there", self.dry_run().stdout)
        self.assertIn("will not be written for ParaView", self.dry_run("output.vtu_max_cells=1").stderr)
        self.expect_error(self.run_program("converge", "case.prm", "--dry-run"), 2, "--dry-run")

    def test_dry_run_finds_what_a_run_would(self):
        (self.folder / "u.vtu").mkdir()
        (self.folder / "case.json").touch()
        closed = (self.folder / "closed")
        closed.mkdir(mode=0o500)
        cases = [("problem.refinements=16", "degrees of freedom need"), ("problem.right_hand_side=1/(x-x)", "right_hand_side"),
                 ("output.directory=case.prm", "is not a directory"), ("output.directory=case.prm/a/b", "cannot be created"),
                 ("output.name=" + 300 * "n", "cannot be written (File name too long); allowed: a name"), ("operator.backend=mma", "mma")]
        if os.geteuid() != 0: # for whom nothing is closed
            cases += [("output.directory=closed", "cannot be written to"), ("output.directory=closed/a", "cannot be created")]
        for setting, text in cases:
            self.expect_error(self.dry_run(setting), 2, text)
        result = self.dry_run("output.directory=.", "output.name=u")
        self.expect_error(result, 2, "the file u.vtu cannot be written (Is a directory)")
        neumann = [f"boundary.{side}=neumann" for side in ("left", "right", "front", "back")]
        self.expect_error(self.dry_run("problem.right_hand_side=1", *neumann), 2, "the problem has no solution")

    @unittest.skipUnless(MPIRUN, "mpirun not found")
    def test_dry_run_of_ranks(self):
        result = self.dry_run("problem.refinements=6", ranks=2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("nothing was solved"), 1)
        self.assertIn("2 ranks", result.stdout)
        self.expect_error(self.dry_run("problem.refinements=16", ranks=2), 2, "degrees of freedom need")

    @unittest.skipUnless(MPIRUN, "mpirun not found")
    def test_ranks(self):
        result = self.run_program("solve", "case.prm", "--set", "problem.refinements=6", ranks=2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("converged after"), 1)
        self.assertIn("2 ranks", result.stdout)
        self.expect_error(self.run_program("solve", "no.prm", ranks=2), 2, "there is no such file")
        self.expect_error(self.run_program("solve", "case.prm", "--set", "solver.max_iterations=1",
                                           ranks=2), 3, "iteration_limit")

    @unittest.skipUnless(MPIRUN, "mpirun not found")
    def test_ranks_of_curved_cells(self):
        curved = []
        for setting in ("problem.dimension=2", "problem.refinements=5", "problem.degree=3", "mesh.type=generate",
                        "mesh.generator=hyper_shell", "mesh.generator_arguments=0,0 : 0.5 : 1 : 5 : true",
                        "boundary.conditions=*: dirichlet 0"):
            curved += ["--set", setting]
        result = self.run_program("solve", *curved, ranks=3)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("converged after"), 1)
        self.assertIn("3 ranks", result.stdout)
        # A mistake in the part of one rank is told once.
        for wrong in ("problem.reaction=x+0.99", "problem.coefficient=if(y>0.95,-1,1)"):
            self.expect_error(self.run_program("solve", *curved, "--set", wrong, ranks=3), 2, wrong.split("=")[0])


if __name__ == "__main__":
    if not (PROGRAMS / "tensormg-solve").is_file():
        print(f"no programs in {PROGRAMS}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
