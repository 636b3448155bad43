#!/bin/sh
# Makes the pictures of docs/outputs.md anew: tools/pictures.sh TRACES, a folder with msnfs.disksim.gz and tpcc-small.mqsim.
#
# Runs the program (FLASHLANE, or `flashlane` on the path), opens its reports in headless Chromium and writes docs/pictures.
set -eu

traces=${1:?say where the traces are: tools/pictures.sh TRACES}
flashlane=${FLASHLANE:-flashlane}
browser=${CHROME:-chromium}
out=$(dirname "$0")/../docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture NAME WIDTH HEIGHT THEME OPTIONS...: the top of the report of a comparison.
picture() {
    name=$1 width=$2 height=$3 theme=$4
    shift 4
    "$flashlane" compare "$@" --device flin-isca18 --beyond wrap --report "$work/$name.html" --force >/dev/null
    sed -i "s/<html lang=\"en\">/<html lang=\"en\" data-theme=\"$theme\">/" "$work/$name.html"
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=20000 \
        --user-data-dir="$work/profile" --window-size="$width,$height" --screenshot="$work/$name.png" \
        "file://$work/$name.html" >/dev/null 2>&1
    mv "$work/$name.png" "$out/$name.png"
}

mkdir -p "$out"
picture msnfs 1280 2500 light --trace "$traces/msnfs.disksim.gz" --speedup 20
picture tpcc 1280 1150 dark --trace "$traces/tpcc-small.mqsim" --schedulers fcfs,read-first,slacker,sprinkler
