#!/usr/bin/env python3
"""The launcher on machines with and without a GPU: the preset, one rank where a solve runs on a GPU, and why it does not."""

import unittest

from launcher_copy import CORES, NVCC, LauncherCopy

UNUSED = "tensormg: the GPU is not used: "


class LauncherWithGpu(LauncherCopy):
    def setUp(self):
        super().setUp()
        self.write(self.folder / "devices/nvidia0", "")
        self.write(self.tools / "nvcc", NVCC)
        self.build("cuda")

    def has_capability(self, text):
        self.write(self.tools / "nvidia-smi", f"#!/bin/sh\necho {text}\n")

    def expect_unused(self, reason, *arguments, **variables):
        """One line says why the GPU is not used, whatever is asked of the screen; what is started is returned."""
        arguments = arguments or ("solve", "a.prm")
        for quiet in ((), ("-q",)):
            result = self.launch(*arguments, *quiet, **variables)
            lines = [line for line in result.stderr.splitlines() if line.startswith(UNUSED)]
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertIn(reason, lines[0])
        return result.stdout

    def expect_silence(self, *arguments, **variables):
        result = self.launch(*arguments, **variables)
        self.assertEqual((result.returncode, result.stderr.count("GPU")), (0, 0), result.stderr)
        return result.stdout

    def test_one_rank_on_the_gpu(self):
        for subcommand in ("solve", "converge"):
            self.assertEqual(self.started(subcommand, "a.prm"), f"tensormg-{subcommand}: a.prm")
        self.assertEqual(self.configurations()[0], "--preset cuda")
        self.assertIn(f"-n {CORES}", self.expect_silence("compare", "a.prm"))
        self.assertEqual(self.started("compare", "a.prm", "--solve"), "tensormg-compare: a.prm --solve")
        self.assertEqual(self.started("diagnose"), "tensormg-diagnose:")

    def test_one_rank_for_each_gpu(self):
        for number in (1, 2):
            self.write(self.folder / f"devices/nvidia{number}", "")
        self.assertIn("-n 3", self.expect_silence("solve", "a.prm"))
        self.assertIn("-n 3", self.expect_silence("converge", "a.prm", "-n", "3"))
        self.assertIn("-n 2", self.expect_silence("solve", "a.prm", CUDA_VISIBLE_DEVICES="2,0"))
        self.assertNotIn("-n", self.expect_silence("solve", "a.prm", CUDA_VISIBLE_DEVICES="1"))
        self.assertEqual(self.started("compare", "a.prm", "--solve"), "tensormg-compare: a.prm --solve")
        self.expect_unused("it cannot be shared by 4 ranks", "solve", "a.prm", "-n", "4")
        for number in range(3, 9):
            self.write(self.folder / f"devices/nvidia{number}", "")
        self.assertIn(f"-n {CORES}", self.expect_silence("solve", "a.prm"))

    def test_the_cpu_by_request(self):
        ranks = f"-n {CORES}"
        for arguments in (("--set", "operator.backend=cpu"), ("-s", "operator.backend = reference"),
                          ("--set=operator.backend=cpu",), ("-soperator.backend=cpu",)):
            self.assertIn(ranks, self.expect_silence("solve", "a.prm", *arguments))
            self.assertIn(ranks, self.expect_silence("solve", *arguments, "a.prm"))
        self.write(self.root / "a.prm", "subsection operator\n  set backend = cpu # no GPU\nend\n")
        self.assertIn(ranks, self.expect_silence("converge", "a.prm"))
        self.assertIn("-n 2", self.expect_silence("solve", "a.prm", "-n", "2"))
        self.write(self.root / "b.json", '{"operator": {\n"backend": "reference"}}')
        self.assertIn(ranks, self.expect_silence("solve", "b.json"))
        self.assertIn(ranks, self.expect_silence("compare", "a.prm", "--solve", "--set", "compare.backends=cpu, reference"))
        # The command line overrides the file, and its last word those before.
        self.assertNotIn("-n", self.started("solve", "a.prm", "--set", "operator.backend=mma"))
        self.assertNotIn("-n", self.started("solve", "b.json", "-s", "operator.backend=cpu", "-s", "operator.backend=auto"))

    def test_other_keys_are_no_backend(self):
        self.write(self.root / "a.prm", "subsection compare\n  set backends = cpu\nend\n")
        self.assertNotIn("-n", self.started("solve", "a.prm", "--set", "compare.backends=cpu"))

    def test_hidden_gpu(self):
        for value in ("", "-1", "NoDevFiles"):
            self.assertIn(f"-n {CORES}", self.expect_silence("solve", "a.prm", CUDA_VISIBLE_DEVICES=value))
        self.assertEqual(self.configurations(), ["--preset release"])
        for value in ("0", "3,1", "GPU-8a", "MIG-12"):
            self.assertNotIn("-n", self.expect_silence("solve", "a.prm", CUDA_VISIBLE_DEVICES=value))

    def test_several_ranks(self):
        started = self.expect_unused("it cannot be shared by 2 ranks", "solve", "a.prm", "-n", "2")
        self.assertIn("-n 2", started)
        self.expect_unused("it cannot be shared by 3 ranks", TENSORMG_RANKS="3")
        self.expect_unused("shared by 64 ranks", TENSORMG_MPIRUN="srun --ntasks=64")
        self.expect_silence("solve", "a.prm", "-n", "1")
        self.expect_silence("compare", "a.prm", "-n", "2")

    def test_without_nvcc(self):
        (self.root / "build/cuda/bin/tensormg-solve").unlink()
        (self.tools / "nvcc").unlink()
        self.assertIn("/build/release/", self.expect_unused("there is no nvcc; install the CUDA toolkit, 12.0 or newer"))
        self.assertEqual(self.configurations(), ["--preset release"])

    def test_nvcc_is_on_another_node(self):
        (self.tools / "nvcc").unlink()
        result = self.launch("solve", "a.prm")
        self.assertEqual(result.stdout, "tensormg-solve: a.prm\n")
        self.assertIn("no nvcc here: running what is built in build/cuda", result.stderr)
        self.assertEqual(self.configurations(), [])

    def test_nvcc_beside_the_path(self):
        (self.tools / "nvcc").rename(self.folder / "nvcc")
        self.write(self.folder / "cuda/nvcc", NVCC)
        self.expect_silence("solve", "a.prm")
        (self.folder / "cuda").rename(self.folder / "bin")
        self.expect_silence("solve", "a.prm", CUDA_HOME=str(self.folder))
        self.assertEqual(set(self.configurations()), {"--preset cuda"})

    def test_old_nvcc(self):
        self.write(self.tools / "nvcc", NVCC.replace("release 13.0", "release 11.8"))
        self.expect_unused("nvcc is of CUDA 11.8; put one of 12.0 or newer first into PATH")

    def test_nvcc_older_than_the_gpu(self):
        self.has_capability("12.0")
        self.expect_unused("nvcc of CUDA 13.0 is too old for its compute capability 12.0")
        self.expect_silence("solve", "a.prm", CUDAARCHS="90-virtual")
        self.has_capability("9.0")
        self.expect_silence("solve", "a.prm")

    def test_old_gpu(self):
        self.has_capability("7.5")
        self.expect_unused("its compute capability is 7.5, the kernels need 8.0")

    def test_preset_without_cuda(self):
        self.expect_unused("TENSORMG_PRESET=release has no CUDA kernels", TENSORMG_PRESET="release")
        self.build("cuda-portable")
        self.assertNotIn("-n", self.expect_silence("solve", "a.prm", TENSORMG_PRESET="cuda-portable"))

    def test_what_is_built_for_gpus_is_taken(self):
        (self.root / "build/cuda/bin/tensormg-solve").unlink()
        self.build("cuda-portable")
        self.assertEqual(self.started("solve", "a.prm"), "tensormg-solve: a.prm")
        self.assertEqual(self.started("converge", "a.prm"), "tensormg-converge: a.prm")
        self.assertEqual(self.configurations(), ["--preset cuda-portable", "--preset cuda"])

    def test_reason_comes_before_the_build(self):
        (self.root / "build/release/bin/tensormg-solve").unlink()
        (self.tools / "nvcc").unlink()
        (self.root / "build/cuda/bin/tensormg-solve").unlink()
        text = self.launch("solve", "a.prm").stderr
        self.assertLess(text.index(UNUSED), text.index("building tensormg-solve"))

    def test_other_gpus_and_machines_configure_again(self):
        self.has_capability("9.0")
        for variables in ({}, {}, {"CUDAARCHS": "80"}, {"CUDAARCHS": "80"}, {}):
            self.launch("solve", "a.prm", **variables)
        self.assertEqual(len(self.configurations()), 3)
        self.has_capability("8.0")
        self.launch("solve", "a.prm")
        self.assertEqual(len(self.configurations()), 4)

    def test_ranks_of_srun(self):
        """They take what is built for the GPU, whether nvcc is on their node or not; the first one tells what is wrong."""
        (self.tools / "nvcc").unlink()
        alone = {"PMIX_RANK": "0", "SLURM_NTASKS": "1"}
        self.expect_silence("solve", "a.prm", **alone)
        self.expect_unused("it cannot be shared by 2 ranks", PMI_RANK="0", PMI_SIZE="2")
        self.assertNotIn(UNUSED, self.launch("solve", "a.prm", PMI_RANK="1", PMI_SIZE="2").stderr)
        (self.root / "build/cuda/bin/tensormg-solve").unlink()
        self.expect_unused("only the preset release is built; call TENSORMG_PRESET=cuda ./tensormg solve once without mpirun "
                           "and srun on a node with such a GPU, or TENSORMG_PRESET=cuda-portable on one without", **alone)
        (self.root / "build/release/bin/tensormg-solve").unlink()
        self.expect_error(self.launch("solve", "a.prm", **alone), 11, "do not build: call TENSORMG_PRESET=cuda ./tensormg "
                          "solve once without them on a node with such a GPU, or TENSORMG_PRESET=cuda-portable on one without")
        self.build("cuda-portable")
        self.assertIn("tensormg-solve: a.prm", self.expect_silence("solve", "a.prm", **alone))

    def test_build_on_a_login_node(self):
        (self.folder / "devices/nvidia0").unlink()
        (self.root / "build/release/bin/tensormg-solve").unlink()
        hint = "for nodes with a GPU: TENSORMG_PRESET=cuda-portable ./tensormg solve"
        self.assertIn(hint, self.launch("solve", "a.prm").stderr)
        self.build("release")
        self.assertNotIn("GPU", self.launch("solve", "a.prm").stderr)
        (self.root / "build/cuda/bin/tensormg-solve").unlink()
        forced = {"TENSORMG_PRESET": "cuda"}
        self.assertIn("CUDAARCHS=80", self.launch("solve", "a.prm", **forced).stderr)
        self.assertNotIn("no GPU", self.launch("solve", "a.prm", CUDAARCHS="80", **forced).stderr)


if __name__ == "__main__":
    unittest.main()
