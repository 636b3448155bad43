"""What the package asks of others: bounds above and below, and pins within them."""

import re
from pathlib import Path

TOP = Path(__file__).parents[1]


def asked() -> dict[str, str]:
    """The packages that pyproject.toml names, with their bounds."""
    text = (TOP / "pyproject.toml").read_text()
    lists = re.findall(r"^(?:requires|dependencies|plot|altair|progress|dask) = \[(.*)\]$", text, re.MULTILINE)
    names = [name for one in lists for name in re.findall(r'"([^"]+)"', one)]
    return {re.match(r"[a-z]+", name)[0]: re.sub(r"^[a-z]+", "", name) for name in names}


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def test_every_package_is_bounded_and_pinned_within() -> None:
    pins = re.findall(r"^([a-z0-9-]+)==([0-9.]+)", (TOP / "requirements.txt").read_text(), re.MULTILINE)
    lines = (TOP / "requirements.in").read_text().splitlines()
    assert set(asked()) == {"maturin", "numpy", "matplotlib", "altair", "tqdm", "distributed"}
    for name, bounds in asked().items():
        least, below = re.fullmatch(r">=([0-9.]+),<([0-9.]+)", bounds).groups()
        assert f"{name}{bounds}" in lines, name
        versions = [version for pinned, version in pins if pinned == name]
        assert versions, name
        for version in versions:
            assert number(least) <= number(version) < number(below), (name, version)
    assert "--hash=sha256:" in (TOP / "requirements.txt").read_text()
