"""Records of served drives: the same bytes as the program's."""

import signal
import subprocess
from pathlib import Path

import flashlane as fl


def test_a_record_is_replayed_with_its_changes(small: Path, program: str, tmp_path: Path) -> None:
    record = tmp_path / "drive.record"
    serve = [program, "serve", str(small), "--nbd", f"unix:{tmp_path}/socket", "--record", str(record), "--set", "device.front.priority_levels=2"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        for line in server.stdout:
            if line.endswith("Ctrl-C ends it.\n"):
                break
        server.send_signal(signal.SIGTERM)
    with record.open("a") as lines:
        for i in range(400):
            if i == 200:
                lines.write(f'#! {i * 20_000} scheduler "flin"\n#! {i * 20_000} priority 0 1\n')
            kind = "write" if i % 3 == 0 else "read"
            lines.write(f"{i % 2},{i * 20_000},{i * 7919 % 4000 * 8192},{8192 * (1 + i % 4)},{kind},0\n")
    out = tmp_path / "out"
    printed = subprocess.run([program, "run", str(record), "--no-alone", "--out", str(out)], check=True, capture_output=True, text=True)
    assert "record: the scheduler is flin from 4.000 ms on" in printed.stdout
    result = fl.run(record, set={"run.alone": False})
    assert result.summary.to_json() == (out / "summary.json").read_text()
    assert any("the scheduler is flin" in text for flow, text in result.remarks if flow == "record")
