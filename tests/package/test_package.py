#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library as others get it: installed, moved, found by CMake and by pkg-config, linked in C11 and C++17, shared and
static, and built inside somebody else's project. Every consumer is a separate project, built outside the tree and run.

    test_package.py --source DIR --build DIR --cuda 0|1 --cc CC --cxx CXX --cmake CMAKE --generator NAME --libdir NAME [TEST...]

BUILD is a finished build of softqam. A machine without a CUDA toolkit is had by taking nvcc out of PATH and looking for
any trace of CUDA in what was installed and in how the consumers are linked.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARGUMENTS = WORK = PREFIX = None
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
    return done


def configure(source, name, *definitions, check=True, env=None):
    build = WORK / name
    done = run(ARGUMENTS.cmake, "-S", source, "-B", build, "-G", ARGUMENTS.generator, "-DCMAKE_BUILD_TYPE=Release",
               f"-DCMAKE_C_COMPILER={ARGUMENTS.cc}", f"-DCMAKE_CXX_COMPILER={ARGUMENTS.cxx}",
               *definitions, check=check, env=env)
    return build, done


def configure_project(name, *definitions, **options):
    """The project that uses the installed library."""
    return configure(HERE / "project", name, f"-DCMAKE_PREFIX_PATH={PREFIX}", *definitions, **options)


def build_project(build):
    return run(ARGUMENTS.cmake, "--build", build, "-j", "2", "-v").stdout


def install(build, prefix, *options):
    """The files that are in the prefix then."""
    run(ARGUMENTS.cmake, "--install", build, "--prefix", prefix, *options)
    return files_below(prefix)


def dynamic_section(file):
    return run(os.environ.get("READELF") or "readelf", "-d", file).stdout


def needs_softqam(program):
    return any("softqam" in name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic_section(program)))


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


def softqam_version(source=None):
    header = (source or Path(ARGUMENTS.source)) / "include/softqam/softqam.h"
    numbers = re.findall(r"^#define SOFTQAM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(encoding="utf-8"), re.M)
    return ".".join(numbers)


def soname():
    return f"libsoftqam.so.{softqam_version().split('.')[0]}"


class Install(unittest.TestCase):
    def installed(self, *options):
        return install(ARGUMENTS.build, Path(tempfile.mkdtemp(dir=WORK)), *options)

    def test_components(self):
        lib = ARGUMENTS.libdir
        headers = ["softqam.h", "softqam_ldpc.h"] + (["softqam_cuda.h"] if ARGUMENTS.cuda else [])
        runtime = [f"{lib}/{soname()}", f"{lib}/libsoftqam.so.{softqam_version()}", "share/doc/softqam/LICENSE"]
        runtime += ["share/doc/softqam/NOTICE"] if ARGUMENTS.cuda else []
        self.assertEqual(self.installed("--component", "runtime"), sorted(runtime))
        development = self.installed("--component", "development")
        self.assertEqual([f for f in development if not f.startswith(f"{lib}/cmake/softqam/")], sorted(
            [f"include/softqam/{h}" for h in headers] +
            [f"{lib}/libsoftqam.a", f"{lib}/libsoftqam.so", f"{lib}/pkgconfig/softqam.pc"]))
        tools = self.installed("--component", "tools")
        self.assertIn("bin/softqam-demod", tools)
        self.assertTrue(all(f.startswith(("bin/softqam-", "share/man/man1/softqam-")) for f in tools), tools)
        mpi = self.installed("--component", "mpi")
        self.assertTrue(all("softqam-demod-mpi" in f for f in mpi), mpi)
        self.assertEqual(self.installed(), sorted(runtime + development + tools + mpi))

    def test_shared_library_is_named_by_its_major_version(self):
        listing = dynamic_section(PREFIX / ARGUMENTS.libdir / "libsoftqam.so")
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", listing), [soname()])
        self.assertNotRegex(listing, "RPATH|RUNPATH")

    def test_files(self):
        """No paths of the build, no trace of CUDA, and no document that is not installed."""
        for name in files_below(PREFIX):
            content = (PREFIX / name).read_bytes()
            for path in (ARGUMENTS.source, ARGUMENTS.build):
                self.assertNotIn(path.encode(), content, name)
            if b"\0" not in content and not name.endswith(("softqam_cuda.h", "softqam-config.cmake", "NOTICE")):
                self.assertIsNone(TRACE_OF_CUDA.search(content.decode()), name)
            self.assertNotRegex(content, rb"\w\.md\b", name)


class CMakePackage(unittest.TestCase):
    def test_consumers(self):
        version = softqam_version().rpartition(".")[0]
        for name, is_shared, definitions in (("shared", True, []), ("static", False, ["-DCOMPONENTS=static"]),
                                             ("chosen", False, ["-DBUILD_SHARED_LIBS=OFF"])):
            build, _ = configure_project(f"cmake_{name}", f"-DVERSION={version}", *definitions)
            self.assertNotRegex(build_project(build), TRACE_OF_CUDA)
            for program in ("consumer_c", "consumer_cpp"):
                self.assertEqual(needs_softqam(build / program), is_shared, build / program)
                run(build / program)

    def refused(self, name, pattern, *definitions):
        _, done = configure_project(name, *definitions, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(re.sub(r"\s+", " ", done.stdout), pattern)

    def test_versions(self):
        """0.3, whose interface was another one, is refused with all others."""
        major, minor, patch = map(int, softqam_version().split("."))
        for version in ("0.3", f"{major}.{minor + 1}", f"{major}.{minor}.{patch + 1}", f"{major + 1}.0"):
            self.refused("other_version", "compatible with requested version", f"-DVERSION={version}")
        configure_project("same_version", f"-DVERSION={softqam_version()}")

    def test_components(self):
        self.refused("unknown", "softqam", "-DCOMPONENTS=fortran")
        if not ARGUMENTS.cuda:
            self.refused("no_cuda", "this softqam was built without CUDA", "-DCOMPONENTS=cuda")
            return
        self.refused("no_toolkit", "needs the headers of a CUDA toolkit", "-DCOMPONENTS=cuda",
                     "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")
        for kind in ("shared", "static"):
            build, _ = configure_project(f"cuda_{kind}", f"-DCOMPONENTS=cuda;{kind}", env=dict(os.environ))
            build_project(build)
            print(run(build / "consumer_cuda", env=dict(os.environ)).stdout, end="", flush=True)


@unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
class PkgConfig(unittest.TestCase):
    def flags(self, *options):
        env = environment(PKG_CONFIG_PATH=str(PREFIX / ARGUMENTS.libdir / "pkgconfig"))
        return run("pkg-config", *options, "softqam", env=env).stdout.split()

    def test_flags(self):
        self.assertEqual(self.flags("--modversion"), [softqam_version()])
        self.assertEqual([f for f in self.flags("--cflags", "--libs") if f.startswith("-l")], ["-lsoftqam"])
        self.assertNotRegex(" ".join(self.flags("--static", "--cflags", "--libs")), TRACE_OF_CUDA)

    def test_consumers(self):
        """Shared, the archive, and nothing shared at all, the C library neither: the CUDA runtime would load the driver at run
        time, which a static C library does not do."""
        static = self.flags("--static", "--cflags", "--libs")
        kinds = [("shared", self.flags("--cflags", "--libs") + ["-pthread"]),
                 ("archive", [f.replace("-lsoftqam", "-l:libsoftqam.a") for f in static])]
        for name, flags in kinds if ARGUMENTS.cuda else [*kinds, ("static", ["-static", *static])]:
            for compiler, standard, source in ((ARGUMENTS.cc, "c11", "consumer.c"), (ARGUMENTS.cxx, "c++17", "consumer.cpp")):
                program = WORK / f"pc_{name}_{source}.program"
                run(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Werror", HERE / source, "-o", program, *flags)
                self.assertEqual(needs_softqam(program), name == "shared", program)
                run(program, env=environment(LD_LIBRARY_PATH=str(PREFIX / ARGUMENTS.libdir)))


class Subproject(unittest.TestCase):
    def consume(self, name, *definitions):
        build, done = configure(HERE / "subproject", name, f"-DSOFTQAM_SOURCE={ARGUMENTS.source}",
                                "-DSOFTQAM_WERROR=ON", "-DSOFTQAM_VECTOR_LOOPS=OFF", *definitions, env=dict(os.environ))
        self.assertNotIn("leak:", done.stdout)
        return build

    def check_commands(self, commands):
        """The parent's own files are compiled and linked with none of softqam's flags."""
        own = [c for c in commands.splitlines() if re.search(r"consumer_(c|cpp)\b", c) and "softqam_core" not in c
               and re.search(r" -o ", c)]
        self.assertGreaterEqual(len(own), 4, commands)
        for command in own:
            self.assertNotRegex(command, r"fast-math|ffp-contract|-Wshadow|-DSOFTQAM|fsanitize")
            self.assertNotRegex(command, TRACE_OF_CUDA)

    def test_add_subdirectory(self):
        """What is linked is built, and nothing else; the parent's program alone is installed."""
        build = self.consume("subdirectory")
        self.check_commands(build_project(build))
        built = files_below(build / "softqam")
        self.assertEqual([f for f in built if "CMakeFiles" not in f and not f.endswith(".cmake")], ["libsoftqam.a"])
        self.assertFalse([f for f in built if "cuda" in f and not f.endswith("no_cuda.c.o")])
        for program in ("consumer_c", "consumer_cpp"):
            run(build / program)
        self.assertEqual(install(build, WORK / "subdirectory_installed"), ["bin/consumer_c"])
        self.assertIn("No tests were found", run("ctest", "--test-dir", build).stdout)

    def test_fetch_content_shared(self):
        """Only configured, and what would be run: the compiling is the same."""
        build = self.consume("fetched", "-DFETCH=ON", "-DBUILD_SHARED_LIBS=ON")
        if ARGUMENTS.generator == "Ninja":
            commands = run("ninja", "-C", build, "-t", "commands", "consumer_c", "consumer_cpp").stdout
            self.check_commands(commands)
            self.assertRegex(commands, r"-o consumer_c .*libsoftqam\.so")
            self.assertNotRegex(run("ninja", "-C", build, "-t", "commands", "all").stdout, r"libsoftqam\.a|\.cu\.o")

    def test_cuda_stays_inside(self):
        if not ARGUMENTS.cuda or ARGUMENTS.generator != "Ninja":
            self.skipTest("a build without CUDA")
        build = self.consume("subdirectory_cuda", "-DSOFTQAM_CUDA=ON")
        self.check_commands(run("ninja", "-C", build, "-t", "commands", "consumer_c", "consumer_cpp").stdout)


class Platform(unittest.TestCase):
    def test_32_bits(self):
        """Refused by CMake, and by the sources where somebody else's build compiles them."""
        done = run(ARGUMENTS.cc, "-m32", "-E", "-dM", "-x", "c", "/dev/null", check=False)
        if done.returncode != 0 or "__SIZEOF_POINTER__ 4" not in done.stdout:
            self.skipTest("the compiler makes no 32-bit code")
        source = Path(ARGUMENTS.source)
        _, done = configure(source, "bits32", "-DCMAKE_C_FLAGS=-m32", "-DSOFTQAM_CUDA=OFF",
                            "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("softqam is for 64-bit processors: this compiler makes 32-bit code", done.stdout)
        done = run(ARGUMENTS.cc, "-m32", "-std=c11", "-ffreestanding", "-fsyntax-only", "-I", source / "include", "-x", "c",
                   source / "src/params.h", check=False)
        self.assertIn("softqam is for 64-bit, little-endian processors", done.stdout)


def main():
    global ARGUMENTS, WORK, PREFIX
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "build", "cuda", "cc", "cxx", "cmake", "generator", "libdir"):
        parser.add_argument("--" + name, required=True, type=int if name == "cuda" else str)
    parser.add_argument("tests", nargs="*")
    ARGUMENTS = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="softqam-package-") as folder:
        # Installed in one place, used in another.
        WORK = Path(folder)
        install(ARGUMENTS.build, WORK / "first")
        PREFIX = WORK / "moved/there"
        PREFIX.parent.mkdir()
        (WORK / "first").rename(PREFIX)
        program = unittest.main(argv=[sys.argv[0]] + ARGUMENTS.tests, verbosity=2, exit=False)
    return not program.result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
