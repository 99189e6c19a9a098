#!/usr/bin/env python3
"""The machine code of the diagnostic kernels: each one on tensor cores has the instruction that it claims
and no other of them, each twin on CUDA cores has none. For compute capability 9.0, whose instructions the
names are; skipped in a build without CUDA, for another GPU, or without cuobjdump (of the CUDA toolkit, or
CUOBJDUMP names it). With --files it only names the files of the kernels."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TENSORMG_BINARY_DIR", SOURCE / "build/cuda"))
OBJECTS = BUILD / "CMakeFiles/tensormg_cuda.dir/kernels"
PLACES = os.pathsep.join((os.environ.get("PATH", ""), os.environ.get("CUDA_HOME", "") + "/bin",
                          "/usr/local/cuda/bin"))
TOOL = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump", path=PLACES)
SKIPPED = 77

TENSOR = re.compile(r"\b([DHI]G?MMA\.[A-Za-z0-9_.]+)")
FUNCTION = re.compile(r"Function : (\S+)")
NONE = None

FP64 = {"8ELi8ELi4EdE": "DMMA.8x8x4", "16ELi8ELi4EdE": "DMMA.16x8x4",
        "16ELi8ELi8EdE": "DMMA.16x8x8", "16ELi8ELi16EdE": "DMMA.16x8x16"}
TF32 = {"16ELi8ELi4ENS_4Tf32E": "HMMA.1684.F32.TF32", "16ELi8ELi8ENS_4Tf32E": "HMMA.1688.F32.TF32"}
HALF = {"16ELi8ELi8ENS_4HalfE": "HMMA.1688.F32", "16ELi8ELi16ENS_4HalfE": "HMMA.16816.F32"}
BF16 = {"16ELi8ELi8ENS_4Bf16E": "HMMA.1688.F32.BF16",
        "16ELi8ELi16ENS_4Bf16E": "HMMA.16816.F32.BF16"}


def shapes(*tables):
    """Patterns of mma::Shape in a mangled name."""
    return [(f"ShapeILi{name}", instruction) for table in tables for name, instruction in table.items()]


# By object: patterns of mangled names, the first that is found decides, and what such a function has (one or all of several). Every
# pattern must be found. Functions of no pattern have no tensor instruction.
CLAIMS = {
    "diagnostics/peak/cuda": shapes(FP64, TF32, HALF, BF16) + [
        ("wgmma_kernelINS_4HalfE", "HGMMA.64x256x16.F32"),
        ("wgmma_kernelINS_4Bf16E", "HGMMA.64x256x16.F32.BF16"),
        ("wgmma_kernelINS_4Tf32E", "HGMMA.64x256x8.F32.TF32"), ("fma_kernel", NONE),
        ("issue_kernel", NONE)],
    "device/meters/clock": [("read_clocks", NONE)],
    "diagnostics/stream/cuda": [("kernel", NONE)],
    "diagnostics/stream/caches": [("slices_kernel", NONE)],
    "diagnostics/scale/cuda": [("words_kernel", NONE)],
    "diagnostics/scale/mma": [("ByFp16", "HMMA.1688.F32"), ("ByTf32", "HMMA.1688.F32.TF32"),
                  ("ByM8N8K4", "DMMA.8x8x4"), ("ByM16N8K4", "DMMA.16x8x4")],
    "diagnostics/scale/wmma": [("ShapeILi8ELi4E", "DMMA.8x8x4"), ("ShapeILi16ELi8E", "HMMA.1684.F32.TF32"),
                   ("ShapeILi16ELi16E", "HMMA.16816.F16")],
    "diagnostics/spmv/cuda": [("kernel", NONE)],
    "diagnostics/spmv/merge": [("kernel", NONE)],
    "diagnostics/spmv/sliced": [("ByMmaInHalf", "HMMA.1688.F32"), ("ByMmaE", "DMMA.8x8x4"),
                    ("ByLargeMma", "DMMA.16x8x4"), ("ByFma", NONE), ("piece_kernel", NONE)],
    "diagnostics/precision/device": shapes(FP64, TF32, HALF, BF16)[1:2] + [
        ("ShapeILi16ELi8ELi8ENS_4Tf32E", "HMMA.1688.F32.TF32"),
        ("ShapeILi16ELi8ELi16ENS_4HalfE", "HMMA.16816.F32"),
        ("ShapeILi16ELi8ELi16ENS_4Bf16E", "HMMA.16816.F32.BF16"), ("fma_kernel", NONE)],
    "diagnostics/stencil/cuda": [("kernel", NONE)],
    "diagnostics/stencil/warps/double": [("warps_kernel", NONE)],
    "diagnostics/stencil/warps/float": [("warps_kernel", NONE)],
    "diagnostics/stencil/warps/steps_double": [("steps_kernel", NONE)],
    "diagnostics/stencil/warps/steps_float": [("steps_kernel", NONE)],
    "diagnostics/stencil/fused": [("kernel", NONE)],
    "diagnostics/stencil/sample": [("sample_kernel", NONE)],
    "diagnostics/stencil/border": [("border_kernel", NONE)],
    "diagnostics/stencil/low_rank": [("low_rank.*ShapeILi8ELi8ELi4EdE", "DMMA.8x8x4"),
                         ("low_rank.*ShapeILi16ELi8ELi4EdE", "DMMA.16x8x4"), ("ByFma", NONE)],
    "diagnostics/stencil/low_rank_planes": [("ByLowRank.*ShapeILi8ELi8ELi4EdE", "DMMA.8x8x4"),
                                ("ByLowRank.*ShapeILi16ELi8ELi4EdE", "DMMA.16x8x4"),
                                ("ByLowRankFma", NONE)],
    "diagnostics/stencil/planes": [("ByMma.*ShapeILi8ELi8ELi4EdE", "DMMA.8x8x4"),
                       ("ByMma.*ShapeILi16ELi8ELi4EdE", "DMMA.16x8x4"),
                       ("ByTf32", "HMMA.1684.F32.TF32"), ("ByFma", NONE)],
    "diagnostics/stencil/planes_steps": [("ByMma.*ShapeILi8ELi8ELi4EdE", "DMMA.8x8x4"),
                             ("ByMma.*ShapeILi16ELi8ELi4EdE", "DMMA.16x8x4"),
                             ("ByTf32", "HMMA.1684.F32.TF32"), ("ByFma", NONE),
                             ("border_kernel", NONE)],
    "diagnostics/stencil/tile": [("ByMma.*ShapeILi8ELi8ELi4EdE", "DMMA.8x8x4"),
                     ("ByMma.*ShapeILi16ELi8ELi4EdE", "DMMA.16x8x4"),
                     ("ByTf32", "HMMA.1688.F32.TF32"), ("ByFma", NONE)],
    "diagnostics/smallmat/cuda": [("UnitE0", NONE), ("UnitE[12]", "DMMA.16x8x4")],
    "diagnostics/gemm/mma_fp64": shapes(FP64)[:3],
    "diagnostics/gemm/mma_fp16": [("product_kernel", "HMMA.16816.F32")],
    "diagnostics/gemm/cuda_fp64": [("Fp64CudaConfig", NONE)],
    "diagnostics/gemm/cuda_fp16": [("CudaLarger", NONE)],
    "diagnostics/gemm/mma_single": [("ShapeILi16ELi8ELi8ENS_4Tf32E", "HMMA.1688.F32.TF32"),
                        ("ShapeILi16ELi8ELi16ENS_4HalfE", "HMMA.16816.F32")],
    "diagnostics/gemm/wmma_single": [("WmmaTf32", "HMMA.1684.F32.TF32")],
    "diagnostics/gemm/cuda_single": [("CudaCoresIfE", NONE), ("CudaCoresINS_4Tf32E", NONE),
                         ("CudaCoresINS_4HalfE", NONE)],
    "diagnostics/gemm/wgmma/wgmma": [("product_kernelILi[02]E", "HGMMA.64x256x16.F32"),
                   ("product_kernelILi1E", "HGMMA.64x224x16.F32"),
                   ("product_kernelILi3E", "HGMMA.64x128x16.F32"),
                   ("product_kernelILi[4-7]E", "HGMMA.64x64x16.F32"),
                   ("product_kernelILi[89]E", "HGMMA.64x192x16.F32")],
    "diagnostics/gemm/add_parts": [("add_kernel", NONE)],
    "diagnostics/gemm/aligned_rows": [("kernel", NONE)],
    "diagnostics/gemm/wgmma/single": [("corrected_kernelILi[0-2]E", "HGMMA.64x128x16.F32"),
                          ("corrected_kernelILi3E", "HGMMA.64x64x16.F32"),
                          ("split_product_kernelILi0E", "HGMMA.64x128x16.F32"),
                          ("split_product_kernelILi1E", "HGMMA.64x64x16.F32")],
    "diagnostics/gemm/two_terms": [("split_kernel", NONE)],
    "diagnostics/nodal/cuda_double": [("lines_kernel", NONE)],
    "diagnostics/nodal/cuda_float": [("lines_kernel", NONE)],
    "diagnostics/nodal/cuda_half": [("lines_kernel", NONE)],
    "diagnostics/nodal/mma_registers_fp64": shapes(FP64)[:3],
    "diagnostics/nodal/mma_registers_fp32": shapes(TF32, HALF)[1:3],
    "diagnostics/nodal/mma_registers_fp16": [("pairs_kernel", ("HMMA.16816.F32", "HMMA.1688.F32"))] + shapes(HALF)[:1],
    "diagnostics/nodal/mma_chained": [("chained_kernel", "HMMA.16816.F32")],
    "diagnostics/nodal/mma_staged_fp64": shapes(FP64)[:2],
    "diagnostics/nodal/mma_staged_fp64_compared": shapes(FP64),
    "diagnostics/nodal/mma_staged_fp32": shapes(TF32)[1:] + shapes(HALF)[1:],
    "diagnostics/nodal/mma_staged_fp16": shapes(HALF)[1:],
    "diagnostics/nodal/wmma": [("WmmaTileId", "DMMA.8x8x4"), ("WmmaTileINS_4HalfE", "HMMA.16816.F32"),
                   ("WmmaTileIf.*ArithmeticE[23]E", "HMMA.1684.F32.TF32"),
                   ("WmmaTileIf.*ArithmeticE5E", "HMMA.16816.F32")],
    "laplace/instances/cuda_3d_low_double_apply": [("kernel", NONE)],
    "laplace/instances/cuda_3d_high_double_apply": [("kernel", NONE)],
    # By the number of nodes of a line, degree + 1.
    "laplace/lines/mma_fp64": [("MmaProduct.*ArithmeticE0ELi[2569]E", "DMMA.16x8x4"),
                               ("MmaProduct.*ArithmeticE0ELi[34]E", "DMMA.16x8x8"),
                               ("MmaProduct.*ArithmeticE0ELi[78]E", "DMMA.16x8x16")],
    "laplace/lines/wmma_fp64": [("WmmaProduct", "DMMA.8x8x4")],
    "laplace/instances/cuda_3d_low_float_apply": [("kernel", NONE)],
    "laplace/instances/cuda_3d_high_float_apply": [("kernel", NONE)],
    "laplace/instances/cuda_3d_low_half_apply": [("kernel", NONE)],
    "laplace/instances/cuda_3d_high_half_apply": [("kernel", NONE)],
    "laplace/instances/mma_3d_apply_fp16": [("mma_layers_kernel", ("HMMA.16816.F32", "HMMA.1688.F32"))],
    "laplace/lines/mma_tf32": [("MmaProduct.*ArithmeticE2ELi2E", "HMMA.1684.F32.TF32"),
                               ("MmaProduct.*ArithmeticE2ELi[3-9]E", "HMMA.1688.F32.TF32")],
    "laplace/lines/wmma_fp16": [("WmmaProduct", "HMMA.16816.F32")],
    "laplace/lines/wmma_tf32": [("WmmaProduct", "HMMA.1684.F32.TF32")],
}

# Calls of libraries, without kernels of their own.
LIBRARIES = {"device/meters/energy", "diagnostics/gemm/cublas", "diagnostics/spmv/cusparse", "diagnostics/precision/recorded_kernels"}

# Kernels of the solver, of which `diagnose` runs B u in 3D, and only that is read. Their files are written to the build folder.
SOLVER = "laplace"


def path_of(name):
    """The source of an object: of the repository, or written to the build folder (cmake/laplace_instances.cmake)."""
    path = f"kernels/{name}.cu"
    return path if (SOURCE / path).exists() else f"{BUILD}/{path}"


def functions_of(text):
    """The tensor instructions by function."""
    result = {}
    name = None
    for line in text.splitlines():
        if match := FUNCTION.search(line):
            name = match.group(1)
            result[name] = set()
        elif name is not None and (match := TENSOR.search(line)):
            result[name].add(match.group(1).rstrip("."))
    return result


class MachineCode(unittest.TestCase):
    def check(self, functions, claims):
        found = set()
        for name, instructions in functions.items():
            pattern, claimed = next((c for c in claims if re.search(c[0], name)), (None, NONE))
            found.add(pattern)
            expected = {claimed} if isinstance(claimed, str) else set(claimed or ())
            self.assertEqual(instructions, expected, name)
        for pattern, _ in claims:
            self.assertIn(pattern, found)

    def test_kernels(self):
        for name, claims in CLAIMS.items():
            with self.subTest(name):
                code = subprocess.run([TOOL, "-sass", str(OBJECTS / f"{name}.cu.o")],
                                      capture_output=True, text=True, check=True).stdout
                self.check(functions_of(code), claims)

    def test_no_file_is_left_out(self):
        claims = {name for name in CLAIMS if not name.startswith(SOLVER + "/")}
        folders = {name.rpartition("/")[0] for name in claims}
        files = {f"{folder}/{path.stem}" for folder in folders
                 for path in (SOURCE / "kernels" / folder).glob("*.cu")}
        self.assertEqual(files, LIBRARIES | claims)

    def test_lies_are_found(self):
        """The check itself: a wrong instruction, one too many, one in a twin, a kernel that is not there."""
        text = ("\t\tFunction : plain\n /*0010*/ FFMA R1, R2, R3, R4 ;\n"
                "\t\tFunction : tensor\n /*0010*/ DMMA.8x8x4 R0, R2 ;\n")
        functions = functions_of(text)
        self.assertEqual(functions, {"plain": set(), "tensor": {"DMMA.8x8x4"}})
        self.check(functions, [("plain", NONE), ("tensor", "DMMA.8x8x4")])
        for claims in ([("tensor", "DMMA.16x8x4")], [("tensor", NONE)],
                       [("plain", "DMMA.8x8x4"), ("tensor", "DMMA.8x8x4")],
                       [("tensor", "DMMA.8x8x4"), ("other", NONE)]):
            with self.assertRaises(AssertionError):
                self.check(functions, claims)


def reason_to_skip():
    if not (OBJECTS / "diagnostics/gemm/wgmma/wgmma.cu.o").exists():
        return "a build without CUDA"
    if TOOL is None:
        return "no cuobjdump"
    listed = subprocess.run([TOOL, "-lelf", str(OBJECTS / "diagnostics/gemm/wgmma/wgmma.cu.o")], capture_output=True,
                            text=True, check=False)
    return "" if "sm_90" in listed.stdout else "built for another GPU"


if __name__ == "__main__":
    if "--files" in sys.argv:
        print(*(path_of(CLAIM) for CLAIM in CLAIMS))
        sys.exit(0)
    if REASON := reason_to_skip():
        print(f"skipped: {REASON}")
        sys.exit(SKIPPED)
    unittest.main()
