#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library as others get it: installed, moved, found by CMake and by pkg-config, linked in C11 and C++17, shared and
static, and built inside somebody else's project. Every consumer is a separate project, built outside the tree and run.

    test_package.py BUILD [TEST...]

BUILD is a finished build of softqam. A machine without a CUDA toolkit is had by taking nvcc out of PATH and looking for
any trace of CUDA in what was installed and in how the consumers are linked.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What a link or an installed text would hold if CUDA were not private.
TRACE_OF_CUDA = re.compile(r"cudart|nvcc|libcuda|/cuda[-/]|-lcuda")


def environment(**more):
    """Without nvcc in PATH, and without what the caller's own environment says of softqam or of a build."""
    path = [p for p in os.environ["PATH"].split(os.pathsep) if not os.path.exists(os.path.join(p, "nvcc"))]
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SOFTQAM_", "CUDA", "CMAKE_", "PKG_CONFIG")) and k not in ("CFLAGS", "CXXFLAGS", "LDFLAGS")}
    return {**kept, "PATH": os.pathsep.join(path), **more}


def run(*command, check=True, env=None, **options):
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=env or environment(), check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout if check else done


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


def version_of(source):
    header = (source / "include/softqam/softqam.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define SOFTQAM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M))


class PackageTest(unittest.TestCase):
    """The finished build, and where it is installed: set by main()."""

    build = source = work = prefix = version = soname = None
    cache, has_cuda = {}, False

    def configure(self, source, name, *definitions, check=True, env=None):
        """Returns the build folder and what CMake says."""
        build = self.work / name
        said = run(self.cache["CMAKE_COMMAND"], "-S", source, "-B", build, "-G", self.cache["CMAKE_GENERATOR"], "-DCMAKE_BUILD_TYPE=Release",
                   *(f"-D{name}={self.cache[name]}" for name in ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER")), *definitions, check=check, env=env)
        return build, said

    def build_project(self, build):
        return run(self.cache["CMAKE_COMMAND"], "--build", build, "-j", "2", "-v")

    def check_consumers(self, folder, is_shared):
        for program in ("consumer_c", "consumer_cpp"):
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", folder / program))
            self.assertEqual(self.soname in needed, is_shared, program)
            run(folder / program, env=environment(LD_LIBRARY_PATH=self.prefix / self.cache["CMAKE_INSTALL_LIBDIR"]))


class Install(PackageTest):
    def test_components(self):
        """Each file belongs to one component, and all headers of the source are installed."""
        lib, tool = self.cache["CMAKE_INSTALL_LIBDIR"], "(bin/{0}|share/man/man1/{0}.1|share/bash-completion/completions/{0})"
        patterns = {
            "runtime": rf"{lib}/libsoftqam\.so\.[\d.]+|share/doc/softqam/(LICENSE|NOTICE)",
            "development": rf"include/softqam/.*|{lib}/(libsoftqam\.(a|so)|pkgconfig/softqam\.pc|cmake/softqam/.*)",
            "tools": tool.format("softqam-(demod|gen|bench)"),
            "mpi": tool.format("softqam-demod-mpi"),
        }
        found = []
        for component, pattern in patterns.items():
            prefix = Path(tempfile.mkdtemp(dir=self.work))
            run(self.cache["CMAKE_COMMAND"], "--install", self.build, "--prefix", prefix, "--component", component)
            for name in files_below(prefix):
                self.assertRegex(name, rf"\A({pattern})\Z")
                found.append(name)
        self.assertEqual(sorted(found), files_below(self.prefix))
        headers = [name for name in files_below(self.source / "include/softqam") if self.has_cuda or "cuda" not in name and "device" not in name]
        installed = files_below(self.prefix / "include/softqam")
        self.assertEqual([name for name in installed if not name.startswith("device/")], headers)
        self.assertEqual(any(name.startswith("device/") for name in installed), self.has_cuda)

    def test_shared_library_is_named_by_its_major_version(self):
        listing = run("readelf", "-d", self.prefix / self.cache["CMAKE_INSTALL_LIBDIR"] / "libsoftqam.so")
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", listing), [self.soname])
        self.assertNotRegex(listing, "RPATH|RUNPATH")

    def test_files(self):
        """No paths of the build, no trace of CUDA, and no document that is not installed."""
        for name in files_below(self.prefix):
            content = (self.prefix / name).read_bytes()
            for path in (self.source, self.build):
                self.assertNotIn(str(path).encode(), content, name)
            if b"\0" not in content and "/device/" not in name and not name.endswith((".cuh", "softqam_cuda.h", "softqam-config.cmake", "NOTICE")):
                self.assertIsNone(TRACE_OF_CUDA.search(content.decode()), name)
            self.assertNotRegex(content, rb"\w\.md\b", name)


class CMakePackage(PackageTest):
    def find(self, name, *definitions, **options):
        return self.configure(HERE / "project", name, f"-DCMAKE_PREFIX_PATH={self.prefix}", *definitions, **options)

    def refused(self, name, pattern, *definitions):
        done = self.find(name, *definitions, check=False)[1]
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(re.sub(r"\s+", " ", done.stdout), pattern)

    def test_consumers(self):
        for name, *definitions in (("shared", f"-DVERSION={self.version.rpartition('.')[0]}"), ("static", "-DCOMPONENTS=static"),
                                   ("chosen", "-DBUILD_SHARED_LIBS=OFF")):  # fmt: skip
            build = self.find(f"cmake_{name}", *definitions)[0]
            self.assertNotRegex(self.build_project(build), TRACE_OF_CUDA)
            self.check_consumers(build, name == "shared")

    def test_versions(self):
        """Versions that promise another interface, or more than this one has, are refused."""
        major, minor, patch = map(int, self.version.split("."))
        for version in ("0.3", f"{major}.{minor + 1}", f"{major}.{minor}.{patch + 1}", f"{major + 1}.0"):
            self.refused("other_version", "compatible with requested version", f"-DVERSION={version}")
        for version in (self.version, f"{major}.0", major):
            self.find("same_version", f"-DVERSION={version}")

    def test_components(self):
        self.refused("unknown", "softqam", "-DCOMPONENTS=fortran")
        if not self.has_cuda:
            self.refused("no_cuda", "this softqam was built without CUDA", "-DCOMPONENTS=cuda")
            return
        self.refused("no_toolkit", "needs the headers of a CUDA toolkit", "-DCOMPONENTS=cuda",
                     "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")
        for kind in ("shared", "static"):
            build = self.find(f"cuda_{kind}", f"-DCOMPONENTS=cuda;{kind}", env=dict(os.environ))[0]
            self.build_project(build)
            print(run(build / "consumer_cuda", env=dict(os.environ)), end="", flush=True)


@unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
class PkgConfig(PackageTest):
    def flags(self, *options):
        env = environment(PKG_CONFIG_PATH=str(self.prefix / self.cache["CMAKE_INSTALL_LIBDIR"] / "pkgconfig"))
        return run("pkg-config", *options, "softqam", env=env).split()

    def test_consumers(self):
        """Shared, the archive, and nothing shared at all, the C library neither: the CUDA runtime would load the driver at run
        time, which a static C library does not do."""
        self.assertEqual(self.flags("--modversion"), [self.version])
        shared, static = self.flags("--cflags", "--libs"), self.flags("--static", "--cflags", "--libs")
        self.assertEqual([f for f in shared if f.startswith("-l")], ["-lsoftqam"])
        self.assertNotRegex(" ".join(static), TRACE_OF_CUDA)
        kinds = [("shared", [*shared, "-pthread"]), ("archive", [f.replace("-lsoftqam", "-l:libsoftqam.a") for f in static])]
        for name, flags in kinds if self.has_cuda else [*kinds, ("static", ["-static", *static])]:
            folder = self.work / f"pkg_config_{name}"
            folder.mkdir()
            for compiler, standard, language in (("C", "c11", "c"), ("CXX", "c++17", "cpp")):
                run(self.cache[f"CMAKE_{compiler}_COMPILER"], f"-std={standard}", "-pedantic", "-Wall", "-Werror", HERE / f"consumer.{language}",
                    "-o", folder / f"consumer_{language}", *flags)  # fmt: skip
            self.check_consumers(folder, name == "shared")


class DeviceFunctions(PackageTest):
    """softqam_device.cuh, with nvcc and without a GPU: softqam-equaliser, as somebody else compiles it."""

    def nvcc(self, *arguments):
        return run(self.cache["CMAKE_CUDA_COMPILER"], "-I", self.prefix / "include", *arguments, env=dict(os.environ))

    def setUp(self):
        if not self.has_cuda:
            self.skipTest("a build without CUDA")

    def test_example(self):
        """Any GPU's code, without a warning, also with --use_fast_math and without operators of halves, as PyTorch compiles extensions."""
        example, to = self.source / "tools/receiver/equaliser.cu", self.work / "equaliser"
        warnings = ("--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", "--Ofast-compile=max")
        newest = run(self.cache["CMAKE_CUDA_COMPILER"], "--list-gpu-code", env=dict(os.environ)).split()[-1]
        self.nvcc(*warnings, "-arch=sm_75", "-std=c++17", "-o", to, example, self.prefix / self.cache["CMAKE_INSTALL_LIBDIR"] / "libsoftqam.a")
        self.nvcc(*warnings, f"-arch={newest}", "--use_fast_math", "-std=c++20", "-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
                  "-D__CUDA_NO_HALF2_OPERATORS__", "-c", "-o", to, example)  # fmt: skip

    def test_macros(self):
        """The header leaves no macro but SOFTQAM_*."""
        source = self.work / "macros.cu"
        macros = []
        includes = ("assert.h", "limits.h", "math.h", "stdbool.h", "stdint.h", "string.h", "type_traits", "cuda_fp16.h", "cuda_runtime_api.h")
        for header in includes[-1], "softqam/softqam_device.cuh":
            source.write_text("".join(f"#include <{name}>\n" for name in (*includes, header)), encoding="utf-8")
            macros.append(set(re.findall(r"^#define (\w+)", self.nvcc("-std=c++17", "-E", "-Xcompiler=-dM", source), re.M)))
        self.assertEqual([name for name in macros[1] - macros[0] if not name.startswith("SOFTQAM_")], [])

    def test_macros_of_the_program(self):
        """A program's own macros keep their meaning, also those with a name that the header's own sources define."""
        names = set()
        for path in (self.prefix / "include/softqam/device").iterdir():
            names |= {name for name in re.findall(r"^ *#define (\w+)", path.read_text(encoding="utf-8"), re.M) if not name.startswith("SOFTQAM_")}
        self.assertGreater(len(names), 20)
        source = self.work / "own_macros.cu"
        values = {name: k for k, name in enumerate(sorted(names))}
        source.write_text("".join(f"#define {name} {k}\n" for name, k in values.items()) + "#include <softqam/softqam_device.cuh>\n" +
                          "".join(f"static_assert({name} == {k}, \"\");\n" for name, k in values.items()), encoding="utf-8")  # fmt: skip
        self.nvcc("--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", "-std=c++17", "-arch=sm_75", "-c", "-o", self.work / "own_macros.o", source)


class Subproject(PackageTest):
    def consume(self, name, *definitions):
        """The project, and the commands of its own programs, which have none of softqam's flags."""
        build, said = self.configure(HERE / "subproject", name, f"-DSOFTQAM_SOURCE={self.source}", "-DSOFTQAM_WERROR=ON",
                                     "-DSOFTQAM_VECTOR_LOOPS=OFF", "-G", "Ninja", *definitions, env=dict(os.environ))
        self.assertNotIn("leak:", said)
        commands = run("ninja", "-C", build, "-t", "commands", "consumer_c", "consumer_cpp")
        own = [c for c in commands.splitlines() if re.search(r" -o \S*consumer_(c|cpp)\b", c)]
        self.assertEqual(len(own), 4, commands)
        for command in own:
            self.assertNotRegex(command, r"fast-math|ffp-contract|-Wshadow|-DSOFTQAM|fsanitize")
            self.assertNotRegex(command, TRACE_OF_CUDA)
        return build, commands

    def test_add_subdirectory(self):
        """The build makes what is linked, and nothing else; the parent's program alone is installed, and its sources alone are joined."""
        build, _ = self.consume("subdirectory", "-DCMAKE_UNITY_BUILD=ON")
        self.build_project(build)
        built = files_below(build / "softqam")
        self.assertEqual([f for f in built if "CMakeFiles" not in f and not f.endswith(".cmake")], ["libsoftqam.a"])
        self.assertFalse([f for f in built if "cuda" in f and not f.endswith("no_cuda.c.o")])
        self.check_consumers(build, False)
        run(self.cache["CMAKE_COMMAND"], "--install", build, "--prefix", build / "installed")
        self.assertEqual(files_below(build / "installed"), ["bin/consumer_c"])
        self.assertIn("No tests were found", run("ctest", "--test-dir", build))

    def test_fetch_content_shared(self):
        """Only configured: the compiling is the same."""
        build, commands = self.consume("fetched", "-DFETCH=ON", "-DBUILD_SHARED_LIBS=ON")
        self.assertRegex(commands, r"-o consumer_c .*libsoftqam\.so")
        self.assertNotRegex(run("ninja", "-C", build, "-t", "commands", "all"), r"libsoftqam\.a|\.cu\.o")

    def test_cuda_stays_inside(self):
        if not self.has_cuda:
            self.skipTest("a build without CUDA")
        self.consume("subdirectory_cuda", "-DSOFTQAM_CUDA=ON")


class Platform(PackageTest):
    def test_32_bits(self):
        """Refused by CMake, and by the sources if somebody else's build compiles them."""
        cc = self.cache["CMAKE_C_COMPILER"]
        done = run(cc, "-m32", "-E", "-dM", "-x", "c", "/dev/null", check=False)
        if done.returncode != 0 or "__SIZEOF_POINTER__ 4" not in done.stdout:
            self.skipTest("the compiler makes no 32-bit code")
        done = self.configure(self.source, "bits32", "-DCMAKE_C_FLAGS=-m32", "-DSOFTQAM_CUDA=OFF",
                              "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", check=False)[1]
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("softqam is for 64-bit processors: this compiler makes 32-bit code", done.stdout)
        done = run(cc, "-m32", "-std=c11", "-ffreestanding", "-fsyntax-only", "-I", self.source / "include", "-x", "c",
                   self.source / "src/params.h", check=False)
        self.assertIn("softqam is for 64-bit, little-endian processors", done.stdout)


def main():
    build = Path(sys.argv[1]).resolve()
    lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    cache = dict(re.fullmatch(r"(\w+):\w+=(.*)", line).groups() for line in lines if re.fullmatch(r"(\w+):\w+=(.*)", line))
    with tempfile.TemporaryDirectory(prefix="softqam-package-") as folder:
        # Installed in one place, used in another.
        first, prefix = Path(folder, "first"), Path(folder, "moved/there")
        run(cache["CMAKE_COMMAND"], "--install", build, "--prefix", first)
        prefix.parent.mkdir()
        first.rename(prefix)
        version = version_of(Path(cache["CMAKE_HOME_DIRECTORY"]))
        for name, value in (("build", build), ("source", Path(cache["CMAKE_HOME_DIRECTORY"])), ("work", Path(folder)), ("prefix", prefix),
                            ("cache", cache), ("version", version), ("soname", f"libsoftqam.so.{version.split('.')[0]}"),
                            ("has_cuda", (prefix / "include/softqam/softqam_cuda.h").exists())):  # fmt: skip
            setattr(PackageTest, name, value)
        program = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False)
    return not program.result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
