#!/bin/sh
# Are versions in Cargo.lock and faces/python/Cargo.lock known to be vulnerable? tools/advisories.sh [--record]
#
# Asks the RustSec database where it can be reached, with cargo-audit, which is put into target/tools if it is missing. Where
# neither can be had, one line says that nothing was checked, after a few seconds at most, and when it last was: that is no
# failure, a known vulnerability is. The last check is the line in tools/advisories.last, which --record writes.
set -eu
cd "$(dirname "$0")/.."

database=https://github.com/RustSec/advisory-db
locks="Cargo.lock faces/python/Cargo.lock"
tools=target/tools
last=tools/advisories.last
record=${1:-}

# The last check, in words.
last_check() {
    line=$(grep -v '^#' "$last" 2>/dev/null | tail -n 1) || line=
    if [ -z "$line" ]; then
        printf 'no check has been made yet'
        return
    fi
    # DATE, the checksum of both, and how many crates they name.
    date=${line%% *}
    rest=${line#* }
    printf 'the last check was made on %s (%s crates, no known vulnerability)' "$date" "${rest#* }"
    [ "${rest%% *}" = "$(checksum)" ] || printf '; Cargo.lock has changed since'
}

checksum() {
    cat $locks | cksum | cut -d ' ' -f 1
}

not_checked() {
    printf 'advisories: Cargo.lock was NOT checked for known vulnerabilities: %s; %s\n' "$*" "$(last_check)"
    exit 0
}

# within SECONDS COMMAND...: without asking anybody anything.
within() {
    seconds=$1
    shift
    GIT_TERMINAL_PROMPT=0 timeout "$seconds" "$@" </dev/null
}

command -v timeout >/dev/null 2>&1 || not_checked "there is no timeout(1) here"
within 4 git ls-remote --exit-code "$database" HEAD >/dev/null 2>&1 || not_checked "$database cannot be reached from here"
PATH=$PWD/$tools/bin:$PATH
if ! cargo audit --version >/dev/null 2>&1; then
    within 900 cargo install --quiet --locked --root "$tools" cargo-audit >&2 || not_checked "cargo-audit could not be installed"
fi
# Says itself what it found; fails for a vulnerability, not for a crate that is merely no longer looked after.
for lock in $locks; do
    within 120 cargo audit --file "$lock" >&2 || {
        code=$?
        if [ "$code" -eq 1 ]; then
            printf 'advisories: %s has a version with a known vulnerability, see above\n' "$lock"
            exit 1
        fi
        not_checked "cargo audit came to no end (exit code $code)"
    }
done
today=$(date -u +%Y-%m-%d)
if [ "$record" = --record ]; then
    {
        grep '^#' "$last"
        printf '%s %s %s\n' "$today" "$(checksum)" "$(cat $locks | grep -c '^\[\[package\]\]')"
    } >"$last.new"
    mv "$last.new" "$last"
fi
printf 'advisories: Cargo.lock was checked: no known vulnerability\n'
