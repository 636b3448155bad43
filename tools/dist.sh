#!/bin/sh
# Makes what can be installed without compiling, and tries it: tools/dist.sh, after the program has been built (make dist).
#
# target/dist gets an archive of the program with manual pages, completions, scenarios and licenses, a wheel for Python 3.10 and later,
# and their hashes. Both are then tried in a folder of their own, without the repository and its tools.
set -eu

cd "$(dirname "$0")/.."
root=$(pwd)
out=$root/target/dist
program=$root/target/release/flashlane
version=$("$program" -V | cut -d' ' -f2)
name=flashlane-$version-$(uname -m)-$(uname -s | tr '[:upper:]' '[:lower:]')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out" "$work/$name/man" "$work/$name/completions"

# The archive.
cp "$program" "$work/$name/flashlane"
strip "$work/$name/flashlane"
cp -r README.md LICENSE-MIT LICENSE-APACHE CITATION.cff CHANGELOG.md docs scenarios "$work/$name/"
rm -rf "$work/$name/docs/results/papers/results"
cd "$work/$name"
./flashlane man >man/flashlane.1
commands=$(./flashlane --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
for command in $commands; do
    [ "$command" = help ] || ./flashlane man "$command" >"man/flashlane-$command.1"
done
for command in stat convert; do
    ./flashlane man trace "$command" >"man/flashlane-trace-$command.1"
done
./flashlane completions bash >completions/flashlane.bash
./flashlane completions zsh >completions/_flashlane
./flashlane completions fish >completions/flashlane.fish
cd "$work"
tar -czf "$out/$name.tar.gz" "$name"

# The wheel.
cd "$root"
python3 -m venv "$work/build"
"$work/build/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r faces/python/requirements.txt
"$work/build/bin/python" -m maturin build --quiet --release --locked -m faces/python/Cargo.toml -o "$out"

# Tried where nothing else is: no compiler on the path, no repository.
clean=$work/clean
mkdir "$clean"
cd "$clean"
tar -xzf "$out/$name.tar.gz"
env -i PATH=/usr/bin:/bin "./$name/flashlane" compare "$name/scenarios/two-tenants.toml" --out results --report report.html >table.txt
grep -q ' wins for ' table.txt
[ -s report.html ] && [ -s results/summary.json ]
[ "$(find "$name/man" -name '*.1' -size +0 | wc -l)" -ge 14 ]
python3 -m venv python
python/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: "$out"/flashlane-*.whl
env -i PATH=/usr/bin:/bin python/bin/python - "$name/scenarios/two-tenants.toml" <<'END'
import sys
import flashlane as fl

result = fl.compare(sys.argv[1], schedulers=["fcfs", "sprinkler"])
assert [row.name for row in result.summary.schedulers] == ["fcfs", "sprinkler"]
END
cd "$out"
sha256sum ./* >SHA256SUMS
glibc=$(objdump -T "$program" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1 | tr '_' ' ' || true)
echo "made and tried in a clean folder:"
ls -sh1 "$out"
"$program" --version | tail -n 1
[ -z "$glibc" ] || echo "The program needs ${glibc} or newer."
