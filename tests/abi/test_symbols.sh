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

# Names on standard input, of which there must be some, and none that the pattern does not allow.
check() {
    names=$(sort -u)
    strangers=$(printf '%s\n' "$names" | grep -Evx "$2" || true)
    [ -z "$names" ] || [ -n "$strangers" ] || return 0
    printf '%s: not expected, or none found:\n%s\n' "$1" "$strangers"
    return 1
}

# Versions themselves are listed as absolute symbols.
exported=$("$nm" -D --defined-only -P "$shared" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' | sort)
declared=$(sed -n 's/^SOFTQAM_API .*[ *]\(softqam_[a-z0-9_]*\)(.*/\1/p' "$@" | sort)
if [ -z "$declared" ] || [ "$exported" != "$declared" ]; then
    printf 'exported by %s:\n%s\ndeclared in %s:\n%s\n' "$shared" "$exported" "$*" "$declared"
    exit 1
fi

# Lines of members end in a colon. The CUDA runtime is in one of them, with none of its symbols global.
"$nm" -g --defined-only -P "$static" | awk '!/:$/ && NF { print $1 }' | check "global in $static" 'softqam_[a-z0-9_]+'

"$readelf" -d "$shared" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' |
    check "needed by $shared" '(libc|libm|libpthread|libdl|librt|ld-linux[a-z0-9-]*)\.so(\.[0-9]+)*'
