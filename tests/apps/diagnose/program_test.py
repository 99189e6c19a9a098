#!/usr/bin/env python3
"""tensormg-diagnose as a user meets it: words and files on the command line, exit codes, messages, files."""

import json
import lzma
import os
import pathlib
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

SMALL = ("--quick", "--set", "diagnose.place=host", "--set", "diagnose.threads=2",
         "--set", "diagnose.cached_megabytes=0.1", "--set", "diagnose.memory_megabytes=1")


def spaced(count):
    """As the program writes it: 12 345."""
    return f"{count:,}".replace(",", " ")


class Diagnose(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, ranks=1):
        command = [str(PROGRAMS / "tensormg-diagnose"), *arguments]
        if ranks > 1:
            command = [MPIRUN, "--quiet", "--oversubscribe", "-n", str(ranks), *command]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                              timeout=250)

    def expect_error(self, result, code, text):
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith("tensormg: error:")]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(text, lines[0])

    def test_words_choose_classes(self):
        result = self.run_program("scale", "ceilings", *SMALL)
        self.assertEqual(result.returncode, 0, result.stderr)
        for part in ("machines", "[1/2] scale", "[2/2] ceilings", "streaming_stores", "balance",
                     "verdict"):
            self.assertIn(part, result.stdout)
        data = json.loads((self.folder / "output/diagnose/diagnose.json").read_text(encoding="utf-8"))
        self.assertTrue(data["complete"])
        self.assertEqual([row["name"] for row in data["classes"]], ["scale", "ceilings"])
        self.assertEqual({entry["outcome"] for entry in data["entries"]}, {"measured"})

    def test_a_stopped_run_keeps_what_it_had(self):
        command = [str(PROGRAMS / "tensormg-diagnose"), "precision", "scale", *SMALL,
                   "--set", "diagnose.repetitions=100000", "--set", "diagnose.max_seconds=20"]
        path = self.folder / "output/diagnose/diagnose.json"
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL) as run:
            end = time.monotonic() + 200
            while not path.exists() and run.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            run.kill()
        self.assertTrue(path.exists())
        data = json.loads(path.read_text(encoding="utf-8"))
        self.assertFalse(data["complete"])
        self.assertTrue(data["accuracy"])
        self.assertEqual(data["entries"], [])

    def test_every_class(self):
        """All classes that have kernels give measured entries or errors, and the others say that they have none."""
        result = self.run_program("all", *SMALL, "--set", "diagnose.stencil_grids=30x20x10",
                                  "--set", "diagnose.gemm_sizes=1x1x1,33x17x5")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads((self.folder / "output/diagnose/diagnose.json").read_text(encoding="utf-8"))
        self.assertEqual({entry["outcome"] for entry in data["entries"]}, {"measured"})
        # Stencils run last and take the time that others left, but stand in their place in the files.
        self.assertIn("[7/7] stencil", result.stdout)
        self.assertEqual([row["name"] for row in data["classes"]],
                         ["ceilings", "scale", "spmv", "stencil", "gemm", "smallmat", "precision"])
        self.assertNotIn("not written yet", result.stdout)
        for row in data["classes"]:
            entries = [entry for entry in data["entries"] if entry["class"] == row["name"]]
            if row["name"] in ("ceilings", "precision"):
                self.assertEqual(entries, [])
            elif row["exists"]:
                self.assertGreaterEqual(len(entries), 4, row["name"])
            else:
                self.assertEqual(entries, [])
                self.assertIn(f"{row['name']}: no kernel exists; NOTHING was measured", result.stdout)
        # Further grids are for a device.
        self.assertFalse(any("30 x 20 x 10" in entry["problem"] for entry in data["entries"]))

    def test_steps_of_stencils(self):
        """Several steps by kernels that fuse them and by what these are compared with; also of a device, whether there is one or not."""
        result = self.run_program("stencil", *SMALL, "--set", "diagnose.place=both", "--set", "diagnose.stencils=2d5pt",
                                  "--set", "diagnose.depths=1, 2", "--set", "diagnose.stencil_grids=")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads((self.folder / "output/diagnose/diagnose.json").read_text(encoding="utf-8"))

        def kernels(steps):
            return {entry["kernel"] for entry in data["entries"] if entry["problem"].endswith(steps)}

        self.assertTrue({"pass_per_step", "naive", "warps", "tile_fma", "tile_mma_m8n8k4", "planes_fma"} <= kernels("1 step"))
        self.assertEqual(kernels("1 step") & kernels("2 steps"), {"pass_per_step", "naive", "warps"})
        self.assertTrue({"one_pass", "warps_fused", "march_fused", "tile_mma_m8n8k4_fused"} <= kernels("2 steps"))

    def test_file_and_words(self):
        (self.folder / "my.prm").write_text("subsection diagnose\n  set classes = all\nend\n"
                                            "subsection output\n  set directory = there\nend\n",
                                            encoding="utf-8")
        result = self.run_program("scale", "my.prm", *SMALL, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads((self.folder / "there/diagnose.json").read_text(encoding="utf-8"))
        self.assertEqual([row["name"] for row in data["classes"]], ["scale"])
        result = self.run_program("spmv", "--quick", "--print-parameters")
        self.assertRegex(result.stdout, r"set classes += spmv ")
        self.assertRegex(result.stdout, r"set quick += true ")
        self.assertRegex(result.stdout, r"set directory += output/diagnose ")

    def unpack(self, name):
        """The path of a matrix in tests/data, and rows and entries of the whole matrix."""
        text = lzma.decompress((SOURCE / "tests/data" / f"{name}.mtx.xz").read_bytes()).decode()
        path = self.folder / f"{name}.mtx"
        path.write_text(text, encoding="utf-8")
        lines = text.splitlines()
        numbers = [line.split() for line in lines[1:] if not line.startswith("%")]
        symmetric = " symmetric" in lines[0]
        entries = sum(2 if symmetric and row != column else 1 for row, column, *_ in numbers[1:])
        return path, int(numbers[0][0]), entries

    def test_real_matrices(self):
        """Real symmetric, pattern symmetric, and integer general with empty rows."""
        files = [self.unpack(name) for name in ("cont-201", "delaunay_n16", "Wordnet3")]
        names = ", ".join(str(path) for path, _, _ in files)
        result = self.run_program("spmv", "--set", f"diagnose.matrix_files={names}",
                                  "--set", "diagnose.matrices=dg", "--set", "diagnose.repetitions=2",
                                  *SMALL[1:])
        self.assertEqual(result.returncode, 0, result.stderr)
        for path, rows, entries in files:
            self.assertIn(f"{path}: {spaced(rows)} rows, {spaced(entries)} entries", result.stdout)
        data = json.loads((self.folder / "output/diagnose/diagnose.json").read_text(encoding="utf-8"))
        self.assertEqual(len(data["entries"]), 4 * (3 + 2))
        for entry in data["entries"]:
            self.assertEqual(entry["outcome"], "measured")
            self.assertLess(entry["error"], 1e-13 if entry["precision"] == "double" else 2e-5)
            self.assertGreater(entry["error"], 0 if "dg" in entry["problem"] else -1)

    def test_files_alone(self):
        path, _, _ = self.unpack("cont-201")
        (self.folder / "files.prm").write_text(
            f"subsection diagnose\n  set matrices =\n  set matrix_files = {path}\nend\n", encoding="utf-8")
        result = self.run_program("spmv", "files.prm", "--set", "diagnose.repetitions=2", *SMALL[1:])
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads((self.folder / "output/diagnose.json").read_text(encoding="utf-8"))
        self.assertEqual({entry["problem"].split(",")[0] for entry in data["entries"]}, {str(path)})
        self.expect_error(self.run_program("spmv", "--set", "diagnose.matrices="), 2, "no matrix is left for spmv")

    def test_unusable_matrix(self):
        (self.folder / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n",
                                             encoding="utf-8")
        result = self.run_program("spmv", "--set", "diagnose.matrix_files=bad.mtx", *SMALL)
        self.expect_error(result, 2, "bad.mtx:3: the row is '3'")
        self.assertNotIn("machines", result.stdout)  # nothing was measured before

    def spmv_of(self, text, *arguments, name="a.mtx"):
        """A run of spmv on the matrix of this text."""
        (self.folder / name).write_text("%%MatrixMarket matrix coordinate real general\n" + text, encoding="utf-8")
        return self.run_program("spmv", *SMALL, "--set", "diagnose.matrices=", "--set", f"diagnose.matrix_files={name}",
                                *arguments)

    def test_matrices_beyond_a_format(self):
        """They say nothing about kernels."""
        for text, available in (("2 2 2\n1 1 1e39\n2 2 1\n", ["double"]),
                                ("1 3 3\n1 1 3e38\n1 2 3e38\n1 3 3e38\n", ["double"]),
                                ("1 2 2\n1 1 1e-44\n1 2 1e-310\n", ["double", "single"])):
            result = self.spmv_of(text)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            data = json.loads((self.folder / "output/diagnose/diagnose.json").read_text(encoding="utf-8"))
            for entry in data["entries"]:
                self.assertEqual(entry["outcome"], "measured" if entry["precision"] in available else "not available", entry)
                self.assertTrue(entry["precision"] in available or "FP32" in entry["reason"])
        result = self.spmv_of("1 3 3\n1 1 1.7e308\n1 2 1.7e308\n1 3 1.7e308\n")
        self.expect_error(result, 1, "nothing could be measured: the magnitudes of a row add up to inf, beyond sums in FP64")

    def test_sizes_are_not_believed(self):
        """Neither those that memory cannot hold nor those for which there are no entries; at once."""
        for sizes in ("1 2000000000 1", "2000000000 1 1"):
            begin = time.monotonic()
            self.expect_error(self.spmv_of(f"{sizes}\n1 1 3\n"), 2, "a.mtx:2: ")
            self.assertLess(time.monotonic() - begin, 10)  # less than one second, if nothing else runs
        # A matrix as a person may have it, and an address space that is too small for it. Sanitizers need a large one.
        limited = f"ulimit -v 3000000; exec {PROGRAMS}/tensormg-diagnose"
        if subprocess.run(["bash", "-c", f"{limited} --version"], capture_output=True, check=False).returncode != 0:
            return
        (self.folder / "large.mtx").write_text(
            "%%MatrixMarket matrix coordinate pattern general\n100000000 1 100000\n" + "1 1\n" * 100000, encoding="utf-8")
        command = f"{limited} spmv --set diagnose.matrix_files=large.mtx --quick"
        result = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, check=False, timeout=250)
        self.expect_error(result, 2, "large.mtx:2: 100000000 rows, 1 columns and 100000 entries take 2.61 GiB of memory")

    def test_a_small_address_space(self):
        """Kernels for which it is too small are not available, and nothing waits for memory for ever."""
        limited = f"ulimit -v 1100000; exec {PROGRAMS}/tensormg-diagnose"
        if subprocess.run(["bash", "-c", f"{limited} --version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("the program needs more by itself")
        command = f"{limited} gemm smallmat {' '.join(SMALL)} --set diagnose.gemm_sizes=8x8x8,9000x9000x9"
        result = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, check=False, timeout=200)
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads((self.folder / "output/diagnose/diagnose.json").read_text(encoding="utf-8"))
        outcomes = {entry["outcome"] for entry in data["entries"]}
        self.assertIn("measured", outcomes)
        self.assertNotIn("failed", outcomes)
        for entry in data["entries"]:
            self.assertTrue(entry["outcome"] == "measured" or "memory" in entry["reason"], entry)

    def test_precision_keeps_to_its_time(self):
        result = self.run_program("precision", *SMALL, "--set", "diagnose.sum_lengths=100000, 200000",
                                  "--set", "diagnose.time_limit=1")
        # On a busy machine nothing at all may be measured in that time, which is an error that says so.
        self.assertIn(result.returncode, (0, 1), result.stderr)
        if result.returncode == 0:
            self.assertIn("factors 1e4 to 1e6, sums of 200000: left out, the class has had its time", result.stdout)
        else:
            self.assertIn("nothing could be measured: the class has had its time", result.stderr)

    def test_paths_with_a_comma(self):
        result = self.spmv_of("1 1 1\n1 1 3\n", name="a,b.mtx")
        self.expect_error(result, 2, "there is 'a,b.mtx': in diagnose.matrix_files a comma of a path is written \\,")
        result = self.spmv_of("1 1 1\n1 1 3\n", "--set", r"diagnose.matrix_files=a\,b.mtx", name="a,b.mtx")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_no_device(self):
        """Comes first, and stands in the file."""
        result = self.run_program("scale", *SMALL, "--quiet")
        self.assertEqual(result.stdout.splitlines()[0], "no device    diagnose.place = host;")
        self.assertIn("nothing here says anything about tensor cores", result.stdout.splitlines()[1])
        path = self.folder / "output/diagnose/diagnose.json"
        self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["no_device"], "diagnose.place = host")
        result = self.run_program("scale", *SMALL, "--set", "diagnose.place=auto")
        data = json.loads(path.read_text(encoding="utf-8"))
        if all(machine["place"] == "host" for machine in data["machines"]):
            self.assertTrue(data["no_device"])
            self.assertTrue(result.stdout.startswith(f"no device    {data['no_device']}"), result.stdout)
        else:
            self.assertIsNone(data["no_device"])

    def test_errors(self):
        self.expect_error(self.run_program("sclae"), 2, "did you mean 'scale'")
        self.expect_error(self.run_program("a.prm", "b.prm"), 2, "two parameter files")
        self.expect_error(self.run_program("missing.prm"), 2, "missing.prm")
        self.expect_error(self.run_program("scale", "--set", "diagnose.place=moon"), 2, "diagnose.place")
        self.expect_error(self.run_program("scale", "--set", "diagnose.place=host", "--set", "diagnose.memory_megabytes=1e9"), 2,
                          "diagnose.memory_megabytes: the arrays of the bandwidth need")
        self.expect_error(self.run_program("stencil", "--set", "diagnose.stencil_grids=3x4x5x6"), 2,
                          "has the entry '3x4x5x6'")
        if MPIRUN:
            self.expect_error(self.run_program("scale", *SMALL, ranks=2), 2, "diagnose.threads")


if __name__ == "__main__":
    if not (PROGRAMS / "tensormg-diagnose").exists():
        print(f"no programs in {PROGRAMS}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
