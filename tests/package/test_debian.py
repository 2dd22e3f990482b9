#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A release: the archive and its checksums, made by the target archive if there is a git checkout, and the Debian packages
built from it: what belongs in each, its dependencies, and nothing that lintian calls an error; unpacked into a folder, the
library serves a program and the tools work.

    test_debian.py SOURCE_DIR CMAKE
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import test_package

SOURCE, CMAKE = Path(sys.argv[1]), sys.argv[2]
FOLDER = tempfile.TemporaryDirectory(prefix="softqam-debian-")
WORK = Path(FOLDER.name)
ROOT = WORK / "root"
IS_CHECKOUT = subprocess.run(["git", "rev-parse", "--verify", "HEAD"], cwd=SOURCE, capture_output=True, check=False).returncode == 0
MAINTAINER = "Some Maintainer <maintainer@softqam.example>"
# So ccache knows what it has compiled in another such folder.
CACHE = {"CCACHE_BASEDIR": FOLDER.name, "CCACHE_NOHASHDIR": "1"}


def run(*command, cwd=SOURCE, **environment):
    return test_package.run(*command, cwd=cwd, env={**os.environ, **environment})


def setUpModule():
    build = WORK / "build"
    # The vector loops, which take long to compile, change nothing of what is looked at.
    run(CMAKE, "--preset", "debian", "-B", build, "-DSOFTQAM_WERROR=ON", "-DSOFTQAM_CUDA=OFF", "-DSOFTQAM_VECTOR_LOOPS=OFF",
        f"-DCPACK_PACKAGE_CONTACT={MAINTAINER}")  # fmt: skip
    run(CMAKE, "--build", build, "--target", "archive" if IS_CHECKOUT else "package", "-j", "2", **CACHE)
    for path in (build / "archive" if IS_CHECKOUT else build).iterdir():
        if path.name.endswith((".deb", ".tar.gz", "SUMS")):
            path.rename(WORK / path.name)
        if path.suffix == ".deb":
            run("dpkg-deb", "-x", WORK / path.name, ROOT)
    run("dpkg-deb", "-e", package(LIBRARY), WORK / "control")


def package(name):
    (path,) = WORK.glob(f"{name}_*.deb")
    return path


def read(path):
    return path.read_text(encoding="utf-8")


MAJOR = test_package.version_of(SOURCE).split(".")[0]
LIBRARY = "libsoftqam" + MAJOR
PROGRAM_FILES = r"(bin/|share/man/man1/)"
# Files in /usr as patterns, and what is depended on, without versions.
PACKAGES = {
    LIBRARY: (rf"lib/[\w-]+/libsoftqam\.so\.{MAJOR}(\.\d+\.\d+)?|share/lintian/overrides/{LIBRARY}", {"libc6"}),
    "libsoftqam-dev": (r"include/softqam/softqam(_cuda|_ldpc)?\.h|lib/[\w-]+/(libsoftqam\.(a|so)|pkgconfig/softqam\.pc|cmake/softqam/.*)",
                       {LIBRARY}),
    "softqam-tools": (rf"{PROGRAM_FILES}softqam-(demod|gen|bench)(\.1\.gz)?",
                      {LIBRARY, "libc6", "libcjson1", "libliquid1"}),
    "softqam-mpi": (rf"{PROGRAM_FILES}softqam-demod-mpi(\.1\.gz)?",
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

    def test_fields(self):
        version = run("dpkg-deb", "-f", package(LIBRARY), "Version").strip()
        for name, (_, expected) in PACKAGES.items():
            depends = run("dpkg-deb", "-f", package(name), "Depends").strip().split(", ")
            self.assertEqual({d.split(" ")[0] for d in depends}, expected, name)
            if name != LIBRARY:
                self.assertIn(f"{LIBRARY} (= {version})", depends)
            self.assertEqual(run("dpkg-deb", "-f", package(name), "Maintainer"), MAINTAINER + "\n")
            self.assertEqual(read(ROOT / "usr/share/doc" / name / "copyright"), read(SOURCE / "LICENSE"))

    def test_licence_with_cuda(self):
        """CPack makes the licence, with the notice that a build with CUDA has."""
        run(CMAKE, f"-DCPACK_TEMPORARY_DIRECTORY={WORK}/cpack", "-DCPACK_COMPONENTS_ALL=tools", "-DCPACK_DEBIAN_TOOLS_PACKAGE_NAME=t",
            f"-DCPACK_RESOURCE_FILE_LICENSE={SOURCE}/LICENSE", f"-DCPACK_SOFTQAM_NOTICE={SOURCE}/cuda/NOTICE",
            "-P", "src/package/debian_files.cmake")  # fmt: skip
        self.assertEqual(read(WORK / "cpack/tools/usr/share/doc/t/copyright"), read(SOURCE / "LICENSE") + "\n" + read(SOURCE / "cuda/NOTICE"))

    def test_shared_library_is_announced(self):
        for name, line in (("shlibs", f"libsoftqam {MAJOR} {LIBRARY} (>= "), ("triggers", "activate-noawait ldconfig")):
            self.assertIn(line, read(WORK / "control" / name))

    @unittest.skipUnless(shutil.which("lintian"), "no lintian")
    def test_lintian(self):
        run("lintian", "--allow-root", "--fail-on", "error,warning", *map(package, PACKAGES))


@unittest.skipUnless(IS_CHECKOUT, "no git checkout")
class Archive(unittest.TestCase):
    def test_archive_and_checksums(self):
        """The archive has all that is tracked, under a folder with the version's name, and nothing that a group may write."""
        named = {line.split()[1] for line in read(WORK / "SHA256SUMS").splitlines()}
        self.assertEqual(named, {f for f in os.listdir(WORK) if f.endswith((".deb", ".tar.gz"))})
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=WORK)
        (archive,) = WORK.glob("softqam-*.tar.gz")
        prefix = archive.name.removesuffix(".tar.gz") + "/"
        files = [f for f in run("tar", "-tf", archive).splitlines() if not f.endswith("/")]
        self.assertEqual(files, [prefix + f for f in run("git", "ls-tree", "-r", "--name-only", "HEAD").splitlines()])
        self.assertEqual({line[5] for line in run("tar", "-tvf", archive).splitlines()}, {"-"})


class Unpacked(unittest.TestCase):
    def test_library_and_tools(self):
        (libdir,) = ROOT.glob("usr/lib/*/")
        path = {"LD_LIBRARY_PATH": str(libdir)}
        flags = run("pkg-config", "--cflags", "--libs", "softqam", PKG_CONFIG_PATH=str(libdir / "pkgconfig")).split()
        run("cc", test_package.HERE / "consumer.c", "-o", WORK / "consumer", *flags)
        run(WORK / "consumer", **path)
        run(ROOT / "usr/bin/softqam-gen", "--symbols", "1000", WORK / "x.cf32", **path)
        run(ROOT / "usr/bin/softqam-demod", "--verify", WORK / "x.cf32", WORK / "x.u8", **path)


if __name__ == "__main__":
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("file"):
        print("skipped, no dpkg-dev or no file")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
