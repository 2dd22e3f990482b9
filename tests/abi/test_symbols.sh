#!/bin/sh
# SPDX-License-Identifier: MIT
# What the libraries show to the linker: usage test_symbols.sh SHARED STATIC HEADER... (NM and READELF name the tools).
# The shared library exports what the headers declare and nothing else. Every symbol of the archive that a caller could
# collide with begins with softqam_. Nothing but the C library is needed.
set -eu
shared=$1
static=$2
shift 2
nm=${NM:-nm}
readelf=${READELF:-readelf}
failed=0

# Reads names; complains about those that the pattern does not allow.
check() {
    what=$1
    allowed=$2
    names=$(cat)
    if [ -z "$names" ]; then
        echo "$what: none found, so nothing was checked"
        failed=1
    fi
    strangers=$(printf '%s\n' "$names" | grep -Ev "^($allowed)\$" | sort -u || true)
    if [ -n "$strangers" ]; then
        printf '%s: not expected:\n%s\n' "$what" "$strangers"
        failed=1
    fi
}

# Versions themselves are listed as absolute symbols.
exported=$("$nm" -D --defined-only -P "$shared" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' | sort)
declared=$(sed -n 's/^SOFTQAM_API .*[ *]\(softqam_[a-z0-9_]*\)(.*/\1/p' "$@" | sort)
if [ "$exported" != "$declared" ]; then
    printf 'exported by %s:\n%s\ndeclared in %s:\n%s\n' "$shared" "$exported" "$*" "$declared"
    failed=1
fi
check "exported by $shared" 'softqam_[a-z0-9_]+' <<EOF
$exported
EOF

# Lines of members end in a colon. The CUDA runtime is in one of them, with none of its symbols global.
check "global in $static" 'softqam_[a-z0-9_]+' <<EOF
$("$nm" -g --defined-only -P "$static" | awk 'NF > 1 { print $1 }')
EOF

check "needed by $shared" '(libc|libm|libpthread|libdl|librt|ld-linux[a-z0-9-]*)\.so(\.[0-9]+)*' <<EOF
$("$readelf" -d "$shared" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
EOF

exit $failed
