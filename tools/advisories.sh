#!/bin/sh
# Are versions in Cargo.lock known to be vulnerable? tools/advisories.sh
#
# Asks the RustSec database where it can be reached, with cargo-audit, which is put into target/tools if it is missing. Where
# neither can be had, one line says that nothing was checked, after a few seconds at most: that is no failure, a known
# vulnerability is.
set -eu
cd "$(dirname "$0")/.."

database=https://github.com/RustSec/advisory-db
tools=target/tools

not_checked() {
    printf 'advisories: Cargo.lock was NOT checked for known vulnerabilities: %s\n' "$*"
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
within 120 cargo audit || {
    code=$?
    [ "$code" -eq 1 ] && exit 1
    not_checked "cargo audit came to no end (exit code $code)"
}
printf 'advisories: Cargo.lock was checked: no known vulnerability\n'
