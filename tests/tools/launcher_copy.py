"""A copy of the launcher in a folder of its own, with programs that only print how they were started.

cmake, ninja, mpirun, nvcc and the like are scripts in `tools`; nothing else of that kind is in PATH, and no GPU and no other
process of this machine is seen.
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
here=$(dirname "$0")
[ ! -e "$here/cmake_says" ] || { cat "$here/cmake_says"; exit 1; }
mkdir -p "build/$2"
touch "build/$2/build.ninja"
[ ! -e "$here/switched_off" ] || cp "$here/switched_off" "build/$2/switched-off.txt"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"build/$2/CMakeCache.txt"
"""
NINJA = """#!/bin/sh
here=$(dirname "$0")
[ ! -e "$here/broken" ] || { echo "error: this source is wrong"; exit 1; }
echo "[40/120] Building CXX object"
[ ! -e "$here/slow" ] || sleep "$(cat "$here/slow")"
echo "[120/120] Linking CXX executable"
"""
NVCC = """#!/bin/sh
case $1 in
  --version) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
  --list-gpu-arch) printf 'compute_%s\\n' 80 90 100 ;;
esac
"""
HIDDEN = ("nvcc", "nvidia-smi", "cmake", "ctest", "ninja", "c++", "g++", "mpirun", "dpkg-query")
CORES = 4


class LauncherCopy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.system = pathlib.Path(folder.name)
        for path in (*pathlib.Path("/bin").iterdir(), *pathlib.Path("/usr/bin").iterdir()):
            if path.name not in HIDDEN and not (cls.system / path.name).is_symlink():
                (cls.system / path.name).symlink_to(path)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "checkout"
        self.tools = self.folder / "tools"
        for path in ("apps/solve/main.cc", "apps/converge/main.cc", "apps/compare/main.cc", "apps/diagnose/main.cc",
                     "kernels/x/x.cu"):
            self.write(self.root / path, "")
        for name in ("cmake", "ninja", "mpirun", "ctest", "c++"):
            text = {"cmake": CMAKE, "ninja": NINJA, "mpirun": MPIRUN}.get(name, PRINT_ARGUMENTS)
            self.write(self.tools / name, text)
        self.build("release")
        shutil.copy(SOURCE / "tensormg", self.root)
        shutil.copytree(SOURCE / "tools", self.root / "tools")
        shutil.copy(SOURCE / "CMakeLists.txt", self.root)
        self.replace("tensormg", "nvcc_path=/usr/local/cuda/bin", f"nvcc_path={self.folder}/cuda")
        self.replace("tensormg", "processes=/proc", f"processes={self.folder}/processes")
        self.replace("tensormg", "physical_cores()\n{\n", f"physical_cores()\n{{\n  printf {CORES}\n  return\n")
        self.replace("tools/launcher/gpu.sh", "'/dev/nvidia", f"'{self.folder}/devices/nvidia")
        self.replace("tools/launcher/build.sh", "progress_seconds=30", "progress_seconds=0.3")
        for name in ("a.prm", "b.json"):
            self.write(self.root / name, "")

    def replace(self, file, old, new):
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1, f"{file}: {old}")
        path.write_text(text.replace(old, new), encoding="utf-8")

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def build(self, preset, *names):
        """Programs as if they were built."""
        for name in names or ("solve", "converge", "compare", "diagnose"):
            self.write(self.root / f"build/{preset}/bin/tensormg-{name}", PRINT_ARGUMENTS)

    def environment(self, variables):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("OMPI_", "PMI", "SLURM", "TENSORMG_", "CUDA"))}
        environment.update(PATH=f"{self.tools}:{self.system}", TENSORMG_INSTALL="no")
        environment.update(variables)
        return environment

    def launch(self, *arguments, command=None, **variables):
        return subprocess.run([command or str(self.root / "tensormg"), *arguments], cwd=self.root, check=False,
                              env=self.environment(variables), capture_output=True, text=True, timeout=60)

    def started(self, *arguments, **variables):
        """The line that the program, or mpirun in its place, has printed."""
        result = self.launch(*arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def configurations(self):
        """What cmake was called with, in the order of the calls."""
        file = self.root / "cmake.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def expect_error(self, result, code, text):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)
