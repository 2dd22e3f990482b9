#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A source distribution has all that a build needs, somewhere else and without git, and says who made it. What is built from
# it has softqam-demod's bytes. SOFTQAM_TOOLS is the folder of softqam-demod.
#
#   test_sdist.sh SOURCE_DIR
set -euo pipefail
cd "$1"
root=$PWD
python=$root/.cache/python/bin/python3
modules=$("$python" -c "import sysconfig, scikit_build_core; print(sysconfig.get_path('purelib'))") ||
    { echo "skipped, no scikit-build-core"; exit 77; }
PATH=$root/.cache/python/bin:$PATH
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

cat >"$folder/build.py" <<'END_OF_PROGRAM'
import sys
sys.path.insert(0, "")
import build_backend
getattr(build_backend, sys.argv[1])(sys.argv[2])
END_OF_PROGRAM
(cd tools/python && "$python" -B "$folder/build.py" build_sdist "$folder")
[ ! -e tools/python/library ] || { echo "the sources were changed"; exit 1; }
tar -xzf "$folder"/softqam-*.tar.gz -C "$folder"
sources=$(echo "$folder"/softqam-*/)
for field in Author: 'Project-URL: Homepage' 'Classifier: Typing :: Typed' 'Classifier: License :: OSI'; do
    grep -q "^$field" "$sources/PKG-INFO" || { echo "PKG-INFO has no $field"; exit 1; }
done

# A distribution of the distribution is the same; then the wheel.
cd "$sources"
"$python" -B "$folder/build.py" build_sdist "$folder/again"
diff <(tar -tzf "$folder"/softqam-*.tar.gz | sort -u) <(tar -tzf "$folder"/again/softqam-*.tar.gz | sort -u)
CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CC=cc CXX=c++ CMAKE_ARGS=-DSOFTQAM_WERROR=ON "$python" -B "$folder/build.py" build_wheel "$folder"
"$python" -m zipfile -e "$folder"/softqam-*.whl "$folder/installed"
cd "$root"
PYTHONPATH=$folder/installed:$modules SOFTQAM_PYTHON_PACKAGE=$folder/installed \
    "$python" -B -m pytest -q -p no:cacheprovider tests/python/test_demod.py
