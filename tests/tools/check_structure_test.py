#!/usr/bin/env python3
"""tools/check_structure.py finds each kind of violation, and none in the repository's own rules."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check_structure  # noqa: E402


class CheckStructure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_script(self, *arguments):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), unittest.mock.patch("sys.argv", ["", self.folder.name, *arguments]):
            code = check_structure.main()
        return code, printed.getvalue().splitlines()

    def expect_one(self, name, text, expected):
        """The file has one violation, whose line begins like that."""
        self.write(name, text)
        code, output = self.run_script()
        self.assertEqual((code, len(output)), (1, 1), output)
        self.assertTrue(output[0].startswith(expected), output[0])
        (Path(self.folder.name) / name).unlink()

    def test_allowed(self):
        self.write("kernels/a/a.h", '#pragma once\n#include <vector>\n#include "kernels/b/b.h"\n')
        self.write("kernels/a/a.cu", "#include <cuda_runtime.h>\n#include <experimental/simd>\n")
        self.write("kernels/a/b.cc", "#if defined(__AVX2__) && __cplusplus > 202002L\n#endif\n")
        self.write("operators/mesh/a.cc", '#include <mpi.h>\n#include "tensormg/options.h"\n')
        self.write("operators/data/b.cc", "#include <deal.II/fe/fe_dgq.h>\n")
        self.write("apps/solve/a.cc", '#include <CLI/CLI.hpp>\n#include "version.h"\n')
        self.write("apps/common/b.cc", "#ifdef TENSORMG_HAVE_CUDA\n#endif\n")
        self.write("tests/a.cc", '#include <gtest/gtest.h>\n#include "apps/solve/a.h"\n')
        self.write("docs/a.h", '#include "elsewhere.h"\n')
        self.assertEqual(self.run_script(), (0, []))

    def test_includes(self):
        for name, line in (
            ("kernels/a/a.cc", '#include "operators/mesh/a.h"'),
            ("kernels/a/a.cc", "#include <mpi.h>"),
            ("kernels/a/a.cc", "#include <deal.II/fe/fe_dgq.h>"),
            ("kernels/a/a.cc", '#include "a.h"'),
            ("solvers/a.cc", '#include "kernels/a/a.h"'),
            ("solvers/a.cc", "#include <cuda_runtime.h>"),
            ("operators/mesh/a.cc", '#include "apps/common/a.h"'),
            ("operators/mesh/a.cc", "#  include <nlohmann/json.hpp>"),
            ("apps/solve/a.cc", '#include "tests/a.h"'),
            ("apps/solve/a.cc", "#include <kernels/core/block.h>"),
        ):
            with self.subTest(file=name, line=line):
                self.expect_one(name, "// text\n" + line + "\n", f"{name}:2: include: ")

    def test_directions_between_folders(self):
        for folder, allowed, refused in (
            ("kernels/core", "core", "device"),
            ("kernels/device", "core device device/meters", "mma tensor"),
            ("kernels/device/meters", "core device", "mma"),
            ("kernels/vector", "core device tensor", "diagnostics/peak"),
            ("kernels/diagnostics/peak", "diagnostics/stream vector", ""),
            ("kernels/laplace/lines", "laplace laplace/lines laplace/march laplace/reference", "laplace/layers laplace/cpu"),
            ("kernels/laplace/rounds", "laplace/layers laplace/march", "laplace/mma_layers laplace/strips_2d"),
            ("kernels/laplace/instances", "laplace/layers laplace/lines", "diagnostics/peak"),
            ("kernels/laplace", "laplace/layers", "diagnostics/peak"),
        ):
            for other in allowed.split():
                self.write(f"{folder}/{other.replace('/', '_')}.cc", f'#include "kernels/{other}/x.h"\n')
            for other in refused.split():
                with self.subTest(folder=folder, other=other):
                    self.expect_one(f"{folder}/a.cc", f'#include "kernels/{other}/x.h"\n', f"{folder}/a.cc:1: include: ")
        order = ["mesh", "vectors", "data", "constant", "multigrid"]
        for at, folder in enumerate(order):
            name = f"operators/{folder}/a.cc"
            for other in order[:at]:
                self.write(f"operators/{folder}/{other}.cc", f'#include "operators/{other}/x.h"\n')
            for other in [*order[at + 1 :], "output"]:
                with self.subTest(folder=folder, other=other):
                    self.expect_one(name, f'#include "operators/{other}/x.h"\n', f"{name}:1: include: ")
        for folder, other in (
            ("operators/output", "operators/constant"),
            ("operators/data", "kernels/diagnostics/peak"),
            ("apps/parameters", "apps/solve"),
            ("apps/common", "apps/compare"),
            ("apps/common", "kernels/diagnostics/peak"),
            ("apps/solve", "apps/converge"),
            ("apps/compare/tensor", "apps/diagnose"),
        ):
            with self.subTest(folder=folder, other=other):
                self.expect_one(f"{folder}/a.cc", f'#include "{other}/x.h"\n', f"{folder}/a.cc:1: include: ")
        for folder, other in (
            ("operators/output", "operators/data"),
            ("apps/parameters", "apps/common"),
            ("apps/common", "apps/parameters"),
            ("apps/converge", "apps/solve"),
            ("apps/compare/tensor", "apps/compare"),
            ("apps/compare", "kernels/diagnostics/peak"),
        ):
            self.write(f"{folder}/b.cc", f'#include "{other}/x.h"\n')
        self.assertEqual(self.run_script(), (0, []))

    def test_folders_without_a_row(self):
        self.expect_one("operators/new/a.cc", '#include "kernels/core/a.h"\n', "operators/new/a.cc:1: include: ")

    def test_functions(self):
        body = "  work();\n" * 58
        short, long = "{\n" + body + "}\n", "{\n" + body + "  work();\n}\n"
        self.write("solvers/short.cc", "namespace a\n{\nint f(int)\n" + short + "}\n")
        self.write("solvers/lambdas.cc", "void f()\n{\n  g([] {\n" + "    work();\n" * 56 + "  });\n}\n")
        self.write("solvers/type.cc", "template <typename T>\nclass A : public B<class C>\n{\n" + "  int a;\n" * 99 + "};\n")
        self.write("solvers/values.cc", "constexpr A a{\n" + "  1,\n" * 99 + "};\n")
        self.write("tests/a.cc", "TEST(A, B)\n{\n" + "  work();\n" * 98 + "}\n")
        self.assertEqual(self.run_script(), (0, []))
        for head, name in (
            ("int f(int)", "f"),
            ("template <class T>\nauto a::f(T x)", "f"),
            ("A::A(int n)\n  : n_(n)\n  , list_{n, n}\n", "A"),
            ("__global__ void __launch_bounds__(T::threads, least<T>())\n    kernel(int n)", "kernel"),
            ("bool operator==(const A &, const A &)", "operator=="),
        ):
            text = head.rstrip() + "\n" + long
            for inside in (text, "struct B\n{\n" + "".join(f"  {line}\n" for line in text.splitlines()) + "};\n"):
                with self.subTest(text=inside):
                    self.write("solvers/a.cc", inside)
                    line = inside.splitlines().index(("  " if inside != text else "") + "{", 2 if inside != text else 0) + 1
                    expected = f"solvers/a.cc:{line}: function: {name} has 61 lines, at most 60"
                    self.assertEqual(self.run_script(), (1, [expected]))
        self.write("solvers/a.cc", "void f()\n{\n  g([] {\n" + "    work();\n" * 57 + "  });\n}\n")
        self.assertEqual(self.run_script(), (1, ["solvers/a.cc:2: function: f has 61 lines, at most 60"]))
        (Path(self.folder.name) / "solvers/a.cc").unlink()
        self.expect_one("tests/a.cc", "TEST(A, B)\n{\n" + "  work();\n" * 99 + "}\n", "tests/a.cc:2: function: ")

    def test_functions_of_the_table(self):
        name, function = "kernels/expression/evaluate.cuh", "run"
        begin = f"#pragma once\ndouble {function}()\n{{\n"
        self.write(name, begin + "  work();\n" * 99 + "}\n")
        self.assertEqual(self.run_script(), (0, []))
        self.expect_one(name, begin + "}\n", f"{name}:1: function: {function} is not too long")

    def test_size_of_folders(self):
        for i in range(32):
            self.write(f"solvers/a{i}.cc", "\n")
            self.write(f"solvers/b/a{i}.cc", "\n")
        self.assertEqual(self.run_script(), (0, []))
        self.expect_one("solvers/b/b.h", "#pragma once\n", "solvers/b:1: folder: 33 source files, at most 32")

    def test_headers(self):
        self.write("solvers/good.h", "#pragma once\n#include <vector>\ninline std::vector<int> a;\n")
        self.write("solvers/hidden.h", "#pragma once\ninline std::vector<int> b;\n")
        self.write("solvers/proved.h", "#pragma once\nno C++\n")
        self.write("solvers/proved.cc", '#include "solvers/proved.h"\n')
        self.write("solvers/defined.h", "#pragma once\n#if !defined(FLAG)\nno C++\n#endif\n")
        self.write("kernels/a/device.cuh", "#pragma once\n__device__ int c = 0;\n")
        self.write("emulation/cuda_runtime.h", "#define __device__ inline\n")
        commands = [
            {"file": (path := f"{self.folder.name}/{file}"), "directory": self.folder.name, "command": f"{flags} -c -o x.o {path}"}
            for file, flags in (
                ("solvers/proved.cc", f"c++ -O3 -DFLAG -I{self.folder.name}"),
                ("kernels/a/device.cu", f"c++ -I{self.folder.name}/emulation -I{self.folder.name}"),
                ("tests/a.cc", "c++ -nonsense"),
            )
        ]
        self.write("build/compile_commands.json", json.dumps(commands))
        code, output = self.run_script("--headers", f"{self.folder.name}/build")
        self.assertEqual(code, 1)
        self.assertEqual(len(output), 2, output)
        self.assertTrue(output[0].startswith("solvers/hidden.h: does not compile alone: "), output[0])
        self.assertEqual(output[1], "4 headers compiled alone, 1 do not compile")

    def test_conditionals(self):
        for line in ("#if 0", "#ifdef USE_FAST", "#ifndef A_H", "#if VARIANT == 2", "#elif defined(X)"):
            with self.subTest(line=line):
                self.write("solvers/a.cc", line + "\n")
                code, output = self.run_script()
                self.assertEqual(code, 1)
                self.assertTrue(output[0].startswith("solvers/a.cc:1: conditional: "), output)

    def test_pragma_once(self):
        self.write("solvers/a.h", "// no guard\n")
        self.assertEqual(self.run_script()[0], 1)


if __name__ == "__main__":
    unittest.main()
