#!/usr/bin/env python3
"""tools/check_structure.py finds each kind of violation, and none in the repository's own rules."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_structure.py"


class CheckStructure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_script(self):
        command = [sys.executable, str(SCRIPT), self.folder.name]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout.splitlines()

    def test_allowed(self):
        self.write("kernels/a/a.h", '#pragma once\n#include <vector>\n#include "kernels/b/b.h"\n')
        self.write("kernels/a/a.cu", "#include <cuda_runtime.h>\n#include <experimental/simd>\n")
        self.write("kernels/a/b.cc", "#if defined(__AVX2__) && __cplusplus > 202002L\n#endif\n")
        self.write("operators/a.cc", '#include <mpi.h>\n#include "solvers/options.h"\n')
        self.write("operators/b.cc", "#include <deal.II/fe/fe_dgq.h>\n")
        self.write("apps/a.cc", '#include <CLI/CLI.hpp>\n#include "version.h"\n')
        self.write("apps/b.cc", "#ifdef TENSORMG_HAVE_CUDA\n#endif\n")
        self.write("tests/a.cc", '#include <gtest/gtest.h>\n#include "apps/a.h"\n')
        self.write("docs/a.h", '#include "elsewhere.h"\n')
        self.assertEqual(self.run_script(), (0, []))

    def test_includes(self):
        for name, line in (
            ("kernels/a.cc", '#include "operators/a.h"'),
            ("kernels/a.cc", "#include <mpi.h>"),
            ("kernels/a.cc", "#include <deal.II/fe/fe_dgq.h>"),
            ("kernels/a.cc", '#include "a.h"'),
            ("solvers/a.cc", '#include "kernels/a.h"'),
            ("solvers/a.cc", "#include <cuda_runtime.h>"),
            ("operators/a.cc", '#include "apps/a.h"'),
            ("operators/a.cc", "#  include <nlohmann/json.hpp>"),
            ("apps/a.cc", '#include "tests/a.h"'),
            ("apps/a.cc", "#include <kernels/core/block.h>"),
        ):
            with self.subTest(file=name, line=line):
                self.write(name, "// text\n" + line + "\n")
                code, output = self.run_script()
                self.assertEqual(code, 1)
                self.assertEqual(len(output), 1, output)
                self.assertTrue(output[0].startswith(f"{name}:2: include: "), output[0])
                (Path(self.folder.name) / name).unlink()

    def test_length(self):
        self.write("solvers/a.cc", "\n" * 400)
        self.assertEqual(self.run_script()[0], 0)
        self.write("solvers/a.cc", "\n" * 401)
        code, output = self.run_script()
        self.assertEqual((code, output), (1, ["solvers/a.cc:401: length: 401 lines, at most 400"]))

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
