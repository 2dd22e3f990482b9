#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library as others get it: installed, moved, found by CMake and by pkg-config, linked in C11 and C++17, shared and
static, and built inside somebody else's project. Every consumer is a separate project, built outside the tree and run.

    test_package.py --source DIR --build DIR --cuda 0|1 --cc CC --cxx CXX [...] [TEST...]

BUILD is a finished build of softqam. A machine without a CUDA toolkit is had by taking nvcc out of PATH and looking for
any trace of CUDA in what was installed and in how the consumers are linked.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ARGUMENTS = None
WORK = PREFIX = ""
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
                          env=env or environment(), **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done


def configure(source, name, *definitions, check=True, env=None):
    build = os.path.join(WORK, name)
    done = run(ARGUMENTS.cmake, "-S", source, "-B", build, "-G", ARGUMENTS.generator, "-DCMAKE_BUILD_TYPE=Release",
               f"-DCMAKE_C_COMPILER={ARGUMENTS.cc}", f"-DCMAKE_CXX_COMPILER={ARGUMENTS.cxx}",
               *definitions, check=check, env=env)
    return build, done


def build_project(build):
    return run(ARGUMENTS.cmake, "--build", build, "-j", "2", "-v").stdout


def dynamic_section(file):
    return run(os.environ.get("READELF") or "readelf", "-d", file).stdout


def needed(program):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic_section(program))


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, _, names in os.walk(folder) for name in names)


def with_library_path(**more):
    return environment(LD_LIBRARY_PATH=os.path.join(PREFIX, ARGUMENTS.libdir), **more)


class Install(unittest.TestCase):
    def installed(self, *options):
        folder = tempfile.mkdtemp(dir=WORK)
        run(ARGUMENTS.cmake, "--install", ARGUMENTS.build, "--prefix", folder, *options)
        return files_below(folder)

    def test_components(self):
        lib, version = ARGUMENTS.libdir, softqam_version()
        headers = ["softqam.h", "softqam_ldpc.h"] + (["softqam_cuda.h"] if ARGUMENTS.cuda else [])
        runtime = [f"{lib}/libsoftqam.so.{major_version()}", f"{lib}/libsoftqam.so.{version}", "share/doc/softqam/LICENSE"]
        runtime += ["share/doc/softqam/NOTICE"] if ARGUMENTS.cuda else []
        self.assertEqual(self.installed("--component", "runtime"), sorted(runtime))
        development = self.installed("--component", "development")
        self.assertEqual([f for f in development if not f.startswith(f"{lib}/cmake/softqam/")], sorted(
            [f"include/softqam/{h}" for h in headers] +
            [f"{lib}/libsoftqam.a", f"{lib}/libsoftqam.so", f"{lib}/pkgconfig/softqam.pc"]))
        tools = self.installed("--component", "tools")
        self.assertIn("bin/softqam-demod", tools)
        self.assertTrue(all(f.startswith(("bin/softqam-", "share/man/man1/softqam-", "share/bash-completion/completions/softqam-",
                                          "share/zsh/vendor-completions/_softqam-", "share/fish/vendor_completions.d/softqam-"))
                            for f in tools), tools)
        mpi = self.installed("--component", "mpi")
        self.assertTrue(all("softqam-demod-mpi" in f for f in mpi), mpi)
        self.assertEqual(self.installed(), sorted(runtime + development + tools + mpi))

    def test_shared_library_is_named_by_its_major_version(self):
        listing = dynamic_section(os.path.join(PREFIX, ARGUMENTS.libdir, "libsoftqam.so"))
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", listing), [f"libsoftqam.so.{major_version()}"])
        self.assertNotRegex(listing, "RPATH|RUNPATH")

    def test_no_paths_of_the_build(self):
        for name in files_below(PREFIX):
            with open(os.path.join(PREFIX, name), "rb") as file:
                content = file.read()
            for path in (ARGUMENTS.source, ARGUMENTS.build):
                self.assertNotIn(path.encode(), content, name)
            if b"\0" not in content and not name.endswith(("softqam_cuda.h", "softqam-config.cmake", "NOTICE")):
                self.assertIsNone(TRACE_OF_CUDA.search(content.decode()), name)

    def test_documents_that_are_named_are_installed(self):
        for name in files_below(PREFIX):
            with open(os.path.join(PREFIX, name), "rb") as file:
                self.assertNotRegex(file.read(), rb"\w\.md\b", name)


def softqam_version():
    with open(os.path.join(ARGUMENTS.source, "include/softqam/softqam.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"^#define SOFTQAM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.M))


def major_version():
    return softqam_version().split(".")[0]


class CMakePackage(unittest.TestCase):
    def consume(self, name, is_shared, *definitions):
        build, _ = configure(os.path.join(HERE, "project"), name, f"-DCMAKE_PREFIX_PATH={PREFIX}",
                             f"-DVERSION={softqam_version().rpartition('.')[0]}", *definitions)
        commands = build_project(build)
        self.assertIsNone(TRACE_OF_CUDA.search(commands), commands)
        for program in ("consumer_c", "consumer_cpp"):
            path = os.path.join(build, program)
            self.assertEqual(any("softqam" in n for n in needed(path)), is_shared, path)
            run(path)

    def test_shared(self):
        self.consume("cmake_shared", True)

    def test_static(self):
        self.consume("cmake_static", False, "-DCOMPONENTS=static")

    def test_build_shared_libs_chooses(self):
        self.consume("cmake_chosen", False, "-DBUILD_SHARED_LIBS=OFF")

    def refused(self, name, pattern, *definitions, env=None):
        _, done = configure(os.path.join(HERE, "project"), name, f"-DCMAKE_PREFIX_PATH={PREFIX}", *definitions,
                            check=False, env=env)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(re.sub(r"\s+", " ", done.stdout), pattern)

    def test_other_versions_are_refused(self):
        """0.3, whose interface was another one, among them."""
        major, minor, patch = map(int, softqam_version().split("."))
        for version in ("0.3", "0.3.9", f"{major}.{minor + 1}", f"{major}.{minor}.{patch + 1}", f"{major + 1}.0"):
            self.refused("other_version", "compatible with requested version", f"-DVERSION={version}")

    def test_versions_that_are_accepted(self):
        for version in ("", softqam_version().rpartition(".")[0], softqam_version()):
            configure(os.path.join(HERE, "project"), "same_version", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DVERSION={version}")

    def test_unknown_component_is_refused(self):
        self.refused("unknown", "softqam", "-DCOMPONENTS=fortran")

    def test_cuda_headers(self):
        if not ARGUMENTS.cuda:
            self.refused("no_cuda", "this softqam was built without CUDA", "-DCOMPONENTS=cuda")
            return
        for kind in ("shared", "static"):
            build, _ = configure(os.path.join(HERE, "project"), f"cuda_{kind}", f"-DCMAKE_PREFIX_PATH={PREFIX}",
                                 f"-DCOMPONENTS=cuda;{kind}", env=dict(os.environ))
            build_project(build)
            print(run(os.path.join(build, "consumer_cuda"), env=dict(os.environ)).stdout, end="", flush=True)

    def test_cuda_headers_without_a_toolkit(self):
        if not ARGUMENTS.cuda:
            self.skipTest("a build without CUDA")
        self.refused("no_toolkit", "needs the headers of a CUDA toolkit", "-DCOMPONENTS=cuda",
                     "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")


@unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
class PkgConfig(unittest.TestCase):
    def flags(self, *options):
        env = environment(PKG_CONFIG_PATH=os.path.join(PREFIX, ARGUMENTS.libdir, "pkgconfig"))
        return run("pkg-config", *options, "softqam", env=env).stdout.split()

    def consume(self, name, flags, is_shared):
        languages = [(ARGUMENTS.cc, "-std=c11", "consumer.c"), (ARGUMENTS.cxx, "-std=c++17", "consumer.cpp")]
        for compiler, standard, source in languages:
            program = os.path.join(WORK, f"{name}_{source.replace('.', '_')}")
            run(compiler, standard, "-pedantic", "-Wall", "-Werror", os.path.join(HERE, source), "-o", program, *flags)
            self.assertEqual(any("softqam" in n for n in needed(program)), is_shared, program)
            run(program, env=with_library_path())

    def test_version(self):
        self.assertEqual(self.flags("--modversion"), [softqam_version()])

    def test_shared(self):
        flags = self.flags("--cflags", "--libs")
        self.assertEqual([f for f in flags if f.startswith("-l")], ["-lsoftqam"])
        self.consume("pc_shared", flags + ["-pthread"], True)

    def test_archive(self):
        flags = self.flags("--static", "--cflags", "--libs")
        self.assertIsNone(TRACE_OF_CUDA.search(" ".join(flags)))
        self.consume("pc_archive", [f.replace("-lsoftqam", "-l:libsoftqam.a") for f in flags], False)

    def test_whole_program_static(self):
        """Nothing shared at all, the C library neither."""
        if ARGUMENTS.cuda:
            self.skipTest("the CUDA runtime loads the driver at run time, which a static C library does not do")
        self.consume("pc_static", ["-static"] + self.flags("--static", "--cflags", "--libs"), False)


class Subproject(unittest.TestCase):
    def consume(self, name, *definitions):
        build, done = configure(os.path.join(HERE, "subproject"), name, f"-DSOFTQAM_SOURCE={ARGUMENTS.source}",
                                "-DSOFTQAM_WERROR=ON", *definitions, env=dict(os.environ))
        self.assertNotIn("leak:", done.stdout)
        return build

    def check_commands(self, commands):
        """The parent's own files are compiled and linked with none of softqam's flags."""
        own = [c for c in commands.splitlines() if re.search(r"consumer_(c|cpp)\b", c) and "softqam_core" not in c
               and re.search(r" -o ", c)]
        self.assertGreaterEqual(len(own), 4, commands)
        for command in own:
            self.assertNotRegex(command, r"fast-math|ffp-contract|-Wshadow|-DSOFTQAM|fsanitize")
            self.assertIsNone(TRACE_OF_CUDA.search(command), command)

    def test_add_subdirectory(self):
        """What is linked is built, and nothing else; the parent's program alone is installed."""
        build = self.consume("subdirectory")
        self.check_commands(build_project(build))
        built = files_below(os.path.join(build, "softqam"))
        self.assertEqual([f for f in built if "CMakeFiles" not in f and not f.endswith(".cmake")], ["libsoftqam.a"])
        self.assertFalse([f for f in built if "cuda" in f and not f.endswith("no_cuda.c.o")])
        for program in ("consumer_c", "consumer_cpp"):
            run(os.path.join(build, program))
        prefix = os.path.join(WORK, "subdirectory_installed")
        run(ARGUMENTS.cmake, "--install", build, "--prefix", prefix)
        self.assertEqual(files_below(prefix), ["bin/consumer_c"])
        self.assertIn("No tests were found", run("ctest", "--test-dir", build).stdout)

        # The parent exports a library made with softqam's, which it installs too: again only the one that is linked.
        self.consume("subdirectory", "-DEXPORTED=ON", "-DSOFTQAM_INSTALL=ON")
        build_project(build)
        run(ARGUMENTS.cmake, "--install", build, "--prefix", prefix)
        self.assertEqual([f for f in files_below(prefix) if "libsoftqam" in f], [f"{ARGUMENTS.libdir}/libsoftqam.a"])
        user, _ = configure(os.path.join(HERE, "project"), "user", f"-DCMAKE_PREFIX_PATH={prefix}", "-DFRONTEND=ON")
        build_project(user)
        run(os.path.join(user, "consumer_c"))

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
    """32-bit code: refused by CMake, and by the sources where somebody else's build compiles them."""

    def setUp(self):
        done = run(ARGUMENTS.cc, "-m32", "-E", "-dM", "-x", "c", "/dev/null", check=False)
        if done.returncode != 0 or "__SIZEOF_POINTER__ 4" not in done.stdout:
            self.skipTest("the compiler makes no 32-bit code")

    def test_cmake_refuses_32_bits(self):
        _, done = configure(ARGUMENTS.source, "bits32", "-DCMAKE_C_FLAGS=-m32", "-DSOFTQAM_CUDA=OFF",
                            "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("softqam is for 64-bit processors: this compiler makes 32-bit code", done.stdout)

    def test_sources_refuse_32_bits(self):
        done = run(ARGUMENTS.cc, "-m32", "-std=c11", "-ffreestanding", "-fsyntax-only", "-I",
                   os.path.join(ARGUMENTS.source, "include"), "-x", "c", os.path.join(ARGUMENTS.source, "src/params.h"),
                   check=False)
        self.assertIn("softqam is for 64-bit, little-endian processors", done.stdout)


HEADERS = ("softqam.h", "softqam_ldpc.h")
RESERVED = re.compile(r"^    uint64_t reserved\[(\d+)\];.*$", re.M)
RESERVED_WORD = re.compile(r"^    uint32_t reserved_word;.*$", re.M)
NEW_FIELDS = "    double new_number;\n    const char *new_name;\n"


class OtherVersions(unittest.TestCase):
    """Programs and libraries of other versions: a later one makes named fields of reserved ones."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=WORK)
        self.libraries = os.path.join(PREFIX, ARGUMENTS.libdir)

    def edit_headers(self, pattern, replacement):
        """Writes the headers with something replaced. Returns how often that was there."""
        os.makedirs(os.path.join(self.folder, "softqam"), exist_ok=True)
        n_all = 0
        for name in HEADERS:
            path = os.path.join(self.folder, "softqam", name)
            with open(path if os.path.exists(path) else os.path.join(ARGUMENTS.source, "include/softqam", name), encoding="utf-8") as file:
                text, n = pattern.subn(replacement, file.read())
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            n_all += n
        return n_all

    def compile(self, source, library_folder, *options):
        program = os.path.join(self.folder, "caller")
        run(ARGUMENTS.cc, "-std=c11", "-Wall", "-Werror", *options, os.path.join(HERE, source), "-o", program,
            "-L", library_folder, "-lsoftqam")
        return program

    def expected(self):
        """What this version's program prints with this version's library."""
        program = self.compile("caller.c", self.libraries, "-I", os.path.join(ARGUMENTS.source, "include"))
        return program, run(program, env=with_library_path()).stdout

    def test_newer_caller(self):
        """Its new fields are at their defaults; api/test_bad_calls.c proves that any other value of a reserved word is refused."""
        def split(match):
            left = int(match.group(1)) - 2
            return NEW_FIELDS + (f"    uint64_t reserved[{left}];" if left > 0 else "")

        _, expected = self.expected()
        self.assertEqual(self.edit_headers(RESERVED, split), 7)
        self.assertEqual(self.edit_headers(RESERVED_WORD, "    uint32_t new_word;"), 3)
        program = self.compile("caller.c", self.libraries, "-I", self.folder)
        self.assertEqual(run(program, env=with_library_path()).stdout, expected)

    def test_newer_library(self):
        """Of the same sources, with that header, and the loops of the installed archive. The two words that a layer has
        reserved stay, for those sources look at each of them."""
        def split(match):
            left = int(match.group(1)) - 2
            return f"    uint64_t reserved[{left}];\n{NEW_FIELDS}" if left > 0 else match.group()

        program, expected = self.expected()
        self.assertEqual(self.edit_headers(RESERVED, split), 7)
        sources = os.path.join(ARGUMENTS.source, "src")
        soname = f"libsoftqam.so.{major_version()}"
        run(ARGUMENTS.cc, "-std=c11", "-D_GNU_SOURCE", "-O1", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-pthread",
            "-shared", "-I", self.folder, "-I", sources, *sorted(glob.glob(f"{sources}/*.c")),
            os.path.join(self.libraries, "libsoftqam.a"), "-lm", f"-Wl,--version-script={sources}/softqam.map",
            f"-Wl,-soname,{soname}", "-o", os.path.join(self.folder, soname))
        self.assertEqual(run(program, env=environment(LD_LIBRARY_PATH=self.folder)).stdout, expected)

    def test_older_caller(self):
        """One of 0.3 does not start, whether its function is gone or has another meaning now."""
        with open(os.path.join(self.folder, "older.map"), "w", encoding="utf-8") as file:
            file.write("SOFTQAM_0.3 { global: softqam_*; local: *; };\n")
        run(ARGUMENTS.cc, "-shared", "-fPIC", "-x", "c", os.path.join(HERE, "older_library.c"), "-o",
            os.path.join(self.folder, "libsoftqam.so"), f"-Wl,-soname,libsoftqam.so.{major_version()}",
            f"-Wl,--version-script={self.folder}/older.map")
        os.symlink("libsoftqam.so", os.path.join(self.folder, f"libsoftqam.so.{major_version()}"))
        for options in ([], ["-DFUNCTION_OF_BOTH"]):
            program = self.compile("older_caller.c", self.folder, *options)
            run(program, env=environment(LD_LIBRARY_PATH=self.folder))
            done = run(program, check=False, env=with_library_path())
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"version `SOFTQAM_0\.3' not found")


def main():
    global ARGUMENTS, WORK, PREFIX
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cuda", type=int, required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Ninja")
    parser.add_argument("--libdir", default="lib")
    parser.add_argument("tests", nargs="*")
    ARGUMENTS = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="softqam-package-") as WORK:
        # Installed in one place, used in another.
        first = os.path.join(WORK, "first")
        run(ARGUMENTS.cmake, "--install", ARGUMENTS.build, "--prefix", first)
        PREFIX = os.path.join(WORK, "moved", "there")
        os.makedirs(os.path.dirname(PREFIX))
        os.rename(first, PREFIX)
        program = unittest.main(argv=[sys.argv[0]] + ARGUMENTS.tests, verbosity=2, exit=False)
    return not program.result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
