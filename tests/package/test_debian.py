#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A release: the archive and its checksums, made by the target archive where there is a git checkout, and the Debian packages
made from it: what belongs in each, its dependencies, and nothing that lintian calls an error; unpacked into a folder, the
library serves a program and the tools work.

    test_debian.py SOURCE_DIR CMAKE
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE, CMAKE = sys.argv[1:]
WORK = tempfile.TemporaryDirectory(prefix="softqam-debian-")
ROOT = os.path.join(WORK.name, "root")
IS_CHECKOUT = subprocess.run(["git", "rev-parse", "--verify", "HEAD"], cwd=SOURCE, capture_output=True, check=False).returncode == 0
MAINTAINER = {"DEBFULLNAME": "Some Maintainer", "DEBEMAIL": "maintainer@softqam.example"}
# So ccache knows what it has compiled in another such folder.
CACHE = {"CCACHE_BASEDIR": WORK.name, "CCACHE_NOHASHDIR": "1"}


def run(*command, cwd=SOURCE, **environment):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def setUpModule():
    build = os.path.join(WORK.name, "build")
    run(CMAKE, "--preset", "debian", "-B", build, "-DSOFTQAM_WERROR=ON", "-DSOFTQAM_CUDA=OFF", **MAINTAINER)
    run(CMAKE, "--build", build, "--target", "archive" if IS_CHECKOUT else "package", "-j", "2", **MAINTAINER, **CACHE)
    made = os.path.join(build, "archive") if IS_CHECKOUT else build
    for name in os.listdir(made):
        if name.endswith((".deb", ".tar.gz", "SUMS")):
            os.rename(os.path.join(made, name), os.path.join(WORK.name, name))
        if name.endswith(".deb"):
            run("dpkg-deb", "-x", os.path.join(WORK.name, name), ROOT)


def package(name):
    files = [os.path.join(WORK.name, f) for f in os.listdir(WORK.name) if f.startswith(name + "_") and f.endswith(".deb")]
    assert len(files) == 1, (name, os.listdir(WORK.name))
    return files[0]


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def major_version():
    return re.search(r"^#define SOFTQAM_VERSION_MAJOR (\d+)$", read("include/softqam/softqam.h"), re.M).group(1)


LIBRARY = "libsoftqam" + major_version()
PROGRAM_FILES = r"(bin/|share/(man/man1|bash-completion/completions|fish/vendor_completions\.d|zsh/vendor-completions)/)_?"
# Files in /usr as patterns, and what is depended on, without versions.
PACKAGES = {
    LIBRARY: (rf"lib/[\w-]+/libsoftqam\.so\.{major_version()}(\.\d+\.\d+)?|share/lintian/overrides/{LIBRARY}", {"libc6"}),
    "libsoftqam-dev": (r"include/softqam/softqam(_cuda|_ldpc)?\.h|lib/[\w-]+/(libsoftqam\.(a|so)|pkgconfig/softqam\.pc|cmake/softqam/.*)",
                       {LIBRARY}),
    "softqam-tools": (rf"{PROGRAM_FILES}softqam-(demod|gen|plot|bench)(\.1\.gz|\.fish)?",
                      {LIBRARY, "libc6", "libcjson1", "libliquid1", "python3"}),
    "softqam-mpi": (rf"{PROGRAM_FILES}softqam-demod-mpi(\.1\.gz|\.fish)?",
                    {LIBRARY, "libc6", "libcjson1", "libliquid1", "libopenmpi3"}),
}


class Packages(unittest.TestCase):
    def test_contents(self):
        for name, (pattern, _) in PACKAGES.items():
            lines = [line.split(None, 5) for line in run("dpkg-deb", "-c", package(name)).splitlines()]
            self.assertEqual({line[1] for line in lines}, {"root/root"})
            files = [line[5].split(" -> ")[0].removeprefix("./usr/") for line in lines if not line[5].endswith("/")]
            own = [f for f in files if not f.startswith("share/doc/")]
            self.assertEqual([f for f in own if not re.fullmatch(pattern, f)], [], name)
            self.assertGreater(len(own), 1, name)
            self.assertEqual(sorted(set(files) - set(own)),
                             [f"share/doc/{name}/{f}" for f in ("changelog.Debian.gz", "copyright")])

    def test_dependencies(self):
        version = run("dpkg-deb", "-f", package(LIBRARY), "Version").strip()
        for name, (_, expected) in PACKAGES.items():
            depends = run("dpkg-deb", "-f", package(name), "Depends").strip().split(", ")
            self.assertEqual({d.split(" ")[0] for d in depends}, expected, name)
            if name != LIBRARY:
                self.assertIn(f"{LIBRARY} (= {version})", depends)

    def test_maintainer_and_licence(self):
        for name in PACKAGES:
            self.assertEqual(run("dpkg-deb", "-f", package(name), "Maintainer"), "Some Maintainer <maintainer@softqam.example>\n")
            with open(os.path.join(ROOT, "usr/share/doc", name, "copyright"), encoding="utf-8") as file:
                self.assertEqual(file.read(), read("LICENSE"))

    def test_licence_with_cuda(self):
        """What CPack runs, with the notice that a build with CUDA has."""
        folder = os.path.join(WORK.name, "cpack")
        run(CMAKE, f"-DCPACK_TEMPORARY_DIRECTORY={folder}", "-DCPACK_COMPONENTS_ALL=tools", "-DCPACK_DEBIAN_TOOLS_PACKAGE_NAME=t",
            f"-DCPACK_RESOURCE_FILE_LICENSE={SOURCE}/LICENSE", f"-DCPACK_SOFTQAM_NOTICE={SOURCE}/cuda/NOTICE",
            "-P", "src/package/debian_files.cmake")  # fmt: skip
        with open(os.path.join(folder, "tools/usr/share/doc/t/copyright"), encoding="utf-8") as file:
            self.assertEqual(file.read(), read("LICENSE") + "\n" + read("cuda/NOTICE"))

    def test_shared_library_is_announced(self):
        control = os.path.join(WORK.name, "control")
        run("dpkg-deb", "-e", package(LIBRARY), control)
        for name, line in (("shlibs", f"libsoftqam {major_version()} {LIBRARY} (>= "), ("triggers", "activate-noawait ldconfig"),
                           ("symbols", f"libsoftqam.so.{major_version()} {LIBRARY} #MINVER#\n")):  # fmt: skip
            with open(os.path.join(control, name), encoding="utf-8") as file:
                self.assertIn(line, file.read())

    def test_symbols(self):
        """Those that the library exports, no more and no less."""
        control = os.path.join(WORK.name, "control")
        run("dpkg-deb", "-e", package(LIBRARY), control)
        (library,) = glob.glob(os.path.join(ROOT, f"usr/lib/*/libsoftqam.so.{major_version()}"))
        exported = {line.split()[-1].replace("@@", "@") for line in run("nm", "-D", "--defined-only", library).splitlines()}
        with open(os.path.join(control, "symbols"), encoding="utf-8") as file:
            named = {line.split()[0] for line in file.readlines()[1:]}
        self.assertEqual({re.sub("^(SOFTQAM.*)@.*", r"\1", name) for name in named},
                         {re.sub("^(SOFTQAM.*)@.*", r"\1", name) for name in exported})  # fmt: skip

    def test_hardening(self):
        """As Debian's flags do it, and all that is bound is bound when a program starts."""
        (library,) = glob.glob(os.path.join(ROOT, f"usr/lib/*/libsoftqam.so.{major_version()}"))
        for name in (library, os.path.join(ROOT, "usr/bin/softqam-demod"), os.path.join(ROOT, "usr/bin/softqam-gen")):
            segments, dynamic = run("readelf", "-lW", name), run("readelf", "-dW", name)
            self.assertIn("GNU_RELRO", segments)
            self.assertIn("NOW", dynamic)
            taken = run("nm", "-D", "--undefined-only", name)
            self.assertIn("__stack_chk_fail", taken)
            self.assertRegex(taken, r"__\w+_chk\b")

    @unittest.skipUnless(shutil.which("lintian"), "no lintian")
    def test_lintian(self):
        run("lintian", "--allow-root", "--fail-on", "error,warning", *map(package, PACKAGES))


@unittest.skipUnless(IS_CHECKOUT, "no git checkout")
class Archive(unittest.TestCase):
    def test_checksums(self):
        with open(os.path.join(WORK.name, "SHA256SUMS"), encoding="utf-8") as file:
            named = {line.split()[1] for line in file}
        self.assertEqual(named, {f for f in os.listdir(WORK.name) if f.endswith((".deb", ".tar.gz"))})
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=WORK.name)

    def test_contents(self):
        """All that is tracked, under a folder with the version's name."""
        (archive,) = glob.glob(os.path.join(WORK.name, "softqam-*.tar.gz"))
        prefix = os.path.basename(archive).removesuffix(".tar.gz") + "/"
        files = [f for f in run("tar", "-tf", archive).splitlines() if not f.endswith("/")]
        self.assertEqual(files, [prefix + f for f in run("git", "ls-tree", "-r", "--name-only", "HEAD").splitlines()])


class Unpacked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = os.path.join(ROOT, "usr/lib")
        cls.libdir = os.path.join(folder, os.listdir(folder)[0])

    def test_library(self):
        program = os.path.join(WORK.name, "consumer")
        flags = run("pkg-config", "--cflags", "--libs", "softqam", PKG_CONFIG_PATH=os.path.join(self.libdir, "pkgconfig")).split()
        run("cc", os.path.join(HERE, "consumer.c"), "-o", program, *flags)
        run(program, LD_LIBRARY_PATH=self.libdir)

    def test_tools(self):
        capture, soft = (os.path.join(WORK.name, f) for f in ("x.cf32", "x.u8"))
        tools = os.path.join(ROOT, "usr/bin/softqam-")
        run(tools + "gen", "--symbols", "1000", capture, LD_LIBRARY_PATH=self.libdir)
        run(tools + "demod", "--verify", capture, soft, LD_LIBRARY_PATH=self.libdir)
        run(tools + "plot", "--version", LD_LIBRARY_PATH=self.libdir)


if __name__ == "__main__":
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("file"):
        print("skipped, no dpkg-dev or no file")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
