#!/usr/bin/env python3
"""`./tensormg solve`, then `./tensormg test`, as README has it: packages that come between the two lose no test.

The launcher and CMake run for real, in a copy of the tree; GoogleTest, Boost.Context and CUDA's headers are hidden from the first
configuration. Nothing is compiled: tests are counted by executables that are not built.
"""

import glob
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("apps", "cmake", "docs", "kernels", "operators", "params", "solvers", "tests", "tools")
CMAKE = """#!/bin/sh
if [ -e "{folder}/hidden" ]; then
  exec "{cmake}" "$@" -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON "-DCMAKE_IGNORE_PATH=$(cat "{folder}/hidden")"
fi
exec "{cmake}" "$@" -UCMAKE_DISABLE_FIND_PACKAGE_GTest -UCMAKE_IGNORE_PATH
"""
# CMake's own checks compile; a build of the project does not.
NINJA = """#!/bin/sh
[ "$1" = -C ] || exec "{ninja}" "$@"
mkdir -p "$2/bin"
cp /bin/true "$2/bin/tensormg-solve"
"""
CTEST = '#!/bin/sh\nexec "{ctest}" -N "$@"\n'


def hidden_folders():
    """Where CMake would find Boost.Context and the headers of CUDA."""
    patterns = ("/usr/lib/*/cmake/boost_context-*", "/lib/*/cmake/boost_context-*")
    folders = [path for pattern in patterns for path in glob.glob(pattern)]
    for path in (os.environ.get("CUDA_HOME", "") + "/include", "/usr/local/cuda/include", "/usr/local/include"):
        folders += [path, os.path.realpath(path)]
    return ";".join(folders)


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "no CMake")
class LatePackages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        tools = {name: shutil.which(name) for name in ("cmake", "ninja", "ctest")}
        for name, text in (("cmake", CMAKE), ("ninja", NINJA), ("ctest", CTEST)):
            path = self.folder / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.format(folder=self.folder, **tools), encoding="utf-8")
            path.chmod(0o755)

    def copy(self, name):
        root = self.folder / name
        for folder in FOLDERS:
            shutil.copytree(SOURCE / folder, root / folder, ignore=shutil.ignore_patterns("*.json", "__pycache__"))
        for file in ("tensormg", "CMakeLists.txt", "CMakePresets.json"):
            shutil.copy(SOURCE / file, root / file)
        return root

    def launch(self, root, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TENSORMG_")}
        environment.update(PATH=f"{self.folder}/bin:{os.environ['PATH']}", TENSORMG_INSTALL="no", TENSORMG_PRESET="release")
        result = subprocess.run([str(root / "tensormg"), *arguments], cwd=root, env=environment, check=False,
                                capture_output=True, text=True, timeout=200)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def list_tests(self, root):
        """Names of the tests, and what the launcher says on standard error."""
        result = self.launch(root, "test")
        return [line.split(": ", 1)[1] for line in result.stdout.splitlines() if "Test  #" in line or "Test #" in line], result.stderr

    def test_no_test_is_lost(self):
        root = self.copy("readme")
        (self.folder / "hidden").write_text(hidden_folders(), encoding="utf-8")
        self.launch(root, "solve", "params/quickstart.prm", "-n", "1")
        off = (root / "build/release/switched-off.txt").read_text(encoding="utf-8")
        self.assertIn("all tests in C++: install GoogleTest (libgtest-dev)", off)
        few, text = self.list_tests(root)
        self.assertIn("tensormg:   all tests in C++: install GoogleTest (libgtest-dev)", text)
        (self.folder / "hidden").unlink()
        late, text = self.list_tests(root)
        fresh, text_of_fresh = self.list_tests(self.copy("fresh"))
        self.assertEqual(late, fresh)
        self.assertGreater(len(late), len(few))
        # What this machine itself lacks is listed in both.
        off = [[line for line in lines.splitlines() if line.startswith("tensormg:   ")] for lines in (text, text_of_fresh)]
        self.assertEqual(*off)


if __name__ == "__main__":
    unittest.main()
