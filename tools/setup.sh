#!/bin/sh
# Gets what a make target needs: tools/setup.sh rust | browser | axe | python | valgrind | fio | disks | guest ...
#
# Present tools are left alone. Absent ones are installed with rustup or apt-get when that can be done without asking
# anybody (as root, or with a sudo that wants no password). What stays absent is a failure with CI=true and for tools
# that nothing works without; otherwise it is said loudly and the tests that want it skip themselves.
set -eu

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "setup: $*"
    exit 1
}

# absent NAME CONSEQUENCE: fails in CI, warns elsewhere.
absent() {
    if [ "${CI:-}" = true ]; then
        fail "$1 is absent and could not be installed, and CI=true allows no gaps"
    fi
    say "==================================================================================="
    say "  $1 is absent and could not be installed: $2"
    say "==================================================================================="
}

# as_root COMMAND...: runs it as root without ever asking for a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo -n "$@"
    else
        return 1
    fi
}

# apt PACKAGE: installs it, quietly unless it fails.
apt() {
    command -v apt-get >/dev/null 2>&1 || return 1
    say "setup: installing $1 with apt-get"
    log=$(mktemp)
    if as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 update </dev/null >"$log" 2>&1 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 install \
            --no-install-recommends "$1" </dev/null >>"$log" 2>&1; then
        rm -f "$log"
    else
        tail -n 5 "$log" >&2
        rm -f "$log"
        return 1
    fi
}

# component NAME PROBE: a part of the Rust toolchain.
component() {
    if cargo "$2" --version >/dev/null 2>&1; then
        return 0
    fi
    say "setup: adding the Rust component $1"
    if command -v rustup >/dev/null 2>&1 && rustup component add "$1" </dev/null >&2 && cargo "$2" --version >/dev/null 2>&1; then
        return 0
    fi
    fail "the Rust component $1 is missing; get it with: rustup component add $1 (or your system's package of it)"
}

need_rust() {
    command -v cargo >/dev/null 2>&1 || fail "cargo is missing; install Rust from https://rustup.rs or your system's packages"
    command -v git >/dev/null 2>&1 || fail "git is missing; xtask tidy asks it which files there are"
    component rustfmt fmt
    component clippy clippy
}

# A browser that the report test can drive: $CHROME, or one of the usual names.
have_browser() {
    for name in "${CHROME:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
        if command -v "$name" >/dev/null 2>&1; then
            return 0
        fi
    done
    return 1
}

need_browser() {
    if ! have_browser && ! { apt chromium && have_browser; }; then
        absent "a browser (chromium)" "the test that opens the report in a browser will be SKIPPED"
    fi
}

# The checker of accessible pages that the report test runs in the browser; this version and no other. npm alone fetches it: it
# knows where from, by way of which mirror or proxy, and by whose leave.
AXE_VERSION=4.14.1
AXE_SHA512=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5

need_axe() {
    folder=${CARGO_TARGET_DIR:-target}/axe
    [ -s "$folder/axe-$AXE_VERSION.js" ] && return 0
    if ! command -v npm >/dev/null 2>&1 && ! { apt npm && command -v npm >/dev/null 2>&1; }; then
        absent "npm" "axe-core is not fetched, and the test that checks the report with it will be SKIPPED"
        return 0
    fi
    mkdir -p "$folder"
    say "setup: fetching axe-core $AXE_VERSION with npm"
    archive=axe-core-$AXE_VERSION.tgz
    if (
        cd "$folder" && npm pack --silent "axe-core@$AXE_VERSION" </dev/null >/dev/null 2>&1 &&
            printf '%s  %s\n' "$AXE_SHA512" "$archive" | sha512sum --check --status &&
            tar -xzOf "$archive" package/axe.min.js >axe.part && mv axe.part "axe-$AXE_VERSION.js"
    ); then
        rm -f "$folder/$archive"
    else
        rm -f "$folder/$archive" "$folder/axe.part"
        absent "axe-core $AXE_VERSION" "the test that checks the report with axe will be SKIPPED"
    fi
}

# Python makes the traces of the reference simulator, where its figures lie beside the repository, and the package is tested in a
# virtual environment, which Debian packs apart.
need_python() {
    if ! command -v python3 >/dev/null 2>&1 && ! { apt python3 && command -v python3 >/dev/null 2>&1; }; then
        absent "python3" "the comparison with the reference simulator will FAIL where its figures are there"
    fi
    if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1 && ! { apt python3-venv && python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }; then
        absent "python3-venv" "the Python package will NOT be tested"
    fi
}

need_valgrind() {
    if ! command -v valgrind >/dev/null 2>&1 && ! { apt valgrind && command -v valgrind >/dev/null 2>&1; }; then
        absent "valgrind" "instructions will NOT be counted, and the check of what short runs cost will be SKIPPED"
    fi
}

# Replays the logs that are converted for it.
need_fio() {
    if ! command -v fio >/dev/null 2>&1 && ! { apt fio && command -v fio >/dev/null 2>&1; }; then
        absent "fio" "the test that has it replay converted traces will be SKIPPED"
    fi
}

# Use a served drive: clients of NBD, a file system on a loop device, a database. Each as PROGRAM:PACKAGE.
need_disks() {
    for pair in nbdinfo:libnbd-bin qemu-img:qemu-utils sqlite3:sqlite3 mkfs.ext4:e2fsprogs losetup:mount; do
        name=${pair%:*}
        have_disk_tool "$name" && continue
        if ! { apt "${pair#*:}" && have_disk_tool "$name"; }; then
            absent "$name (${pair#*:})" "tests that have it use a served drive will be SKIPPED"
        fi
    done
}

# A Linux in software emulation that has a served drive as its NVMe disks: the emulator, a kernel, and one file with all programs. The
# packages (44 MB, unpacked 94 MB) are not installed, as a kernel that is would become the system's: they are unpacked in a folder of the build.
need_guest() {
    folder=${CARGO_TARGET_DIR:-target}/guest
    [ -s "$folder/boot/vmlinuz" ] && return 0
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    say "setup: fetching an emulator and a kernel (44 MB) with apt-get"
    log=$(mktemp)
    if ! fetch_guest "$folder" </dev/null >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        rm -rf "$folder"
        absent "a guest (qemu-system-x86, linux-image-cloud-amd64, busybox-static)" "the test in which a Linux uses a served drive will be SKIPPED"
    fi
    rm -f "$log"
}

# fetch_guest FOLDER: its boot/vmlinuz comes last. What an installed package already brings is not fetched again.
fetch_guest() {
    command -v apt-get && command -v dpkg-deb || return 1
    as_root apt-get -q -o DPkg::Lock::Timeout=600 update || say "the lists of packages are not new"
    mkdir -p "$1/packages/partial"
    kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: \(linux-image-[^ ]*\)/\1/p')
    [ -n "$kernel" ] && (cd "$1/packages" && apt-get -q download "$kernel" busybox-static) &&
        apt-get -q -y --no-install-recommends --download-only --reinstall -o Debug::NoLocking=1 \
            -o Dir::Cache::archives="$1/packages" install qemu-system-x86 || return 1
    for package in "$1"/packages/*.deb; do
        case $package in
            */linux-image-*) ;;
            *) dpkg-deb -x "$package" "$1" || return 1 ;;
        esac
    done
    dpkg-deb --fsys-tarfile "$1/packages/$kernel"_*.deb | tar -xO "./boot/vmlinuz-${kernel#linux-image-}" >"$1/kernel.part" &&
        rm -rf "$1/packages" && mkdir -p "$1/boot" && mv "$1/kernel.part" "$1/boot/vmlinuz"
}

# Administrators' programs are not on everybody's PATH.
have_disk_tool() {
    PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1
}

[ "$#" -gt 0 ] || fail "say what for: rust, browser, axe, python, valgrind, fio, disks, guest"
for want in "$@"; do
    case $want in
        rust | browser | axe | python | valgrind | fio | disks | guest) "need_$want" ;;
        *) fail "unknown need '$want'; legal are: rust, browser, axe, python, valgrind, fio, disks, guest" ;;
    esac
done
