"""`make fuzz`: hostile inputs for the compiled core, with ASan and UBSan in it, for SECONDS.

Half of the time libFuzzer runs the kernels (native/fuzz/fuzz.c), where clang and its libFuzzer are installed; the rest
of the time Hypothesis runs the binding (tests/native/test_hostile.py), each round with another seed. A finding ends it
with a report; libFuzzer's input then lies in build/fuzz and is run again by `build/fuzz/fuzz build/fuzz/crash-…`.
"""

from __future__ import annotations

import os
import random
import shutil
import string
import subprocess
import sys
import time
from pathlib import Path

from hatch_build import SANITIZE
from tools.core import build_sanitized, sanitized_environment
from tools.requirements import ROOT

FOLDER = ROOT / "build" / "fuzz"
TEST = ROOT / "tests" / "native" / "test_hostile.py"
EXAMPLES = 100  # of a test in a round, which is then half a minute


def write_seeds(folder: Path) -> None:
    """Inputs to begin with, for every model and part of native/fuzz/fuzz.c: words of all lengths, which chance alone
    would take long to find."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(1)
    for number in range(96):
        letters = ("xyzabc", string.ascii_lowercase, string.printable, "".join(map(chr, range(1, 256))))[number % 4]
        words = ["".join(chance.choices(letters, k=chance.choice([chance.randint(4, 20), 100]))) for _ in range(3)]
        words.append(words[0][:3] + " " + words[0][3:])  # a word that is torn
        head = bytes([number % 250, number // 6, *chance.randbytes(3)])
        (folder / f"seed-{number}").write_bytes(head + "\0".join(words).encode("latin-1"))


def fuzz_kernels(seconds: float) -> bool:
    """Run libFuzzer so long; whether it could."""
    clang = shutil.which(os.environ.get("CLANG", "clang"))
    program = FOLDER / "fuzz"
    write_seeds(FOLDER / "corpus")
    sources = [ROOT / "native" / name for name in ("fuzz/fuzz.c", "base.c", "avx2.c")]
    flags = [*SANITIZE, "-O2", "-fsanitize=fuzzer", "-std=c11", "-ffp-contract=off", "-Wno-psabi", "-lm"]
    trial = b"int LLVMFuzzerTestOneInput(const char *data, long size) { return !data && size; }"
    options = ["-x", "c", "-", "-fsanitize=fuzzer", "-o", program]
    if clang is None or subprocess.run([clang, *options], input=trial, capture_output=True, check=False).returncode:
        print("fuzz: no clang with libFuzzer here; the kernels are reached through the binding alone")
        return False
    subprocess.run([clang, *sources, *flags, "-o", program], check=True)
    limits = [f"-max_total_time={max(1, int(seconds))}", "-max_len=500", "-len_control=0", "-timeout=20"]
    with (FOLDER / "log").open("w+") as log:
        run = subprocess.run([program, *limits, "corpus"], check=False, cwd=FOLDER, stdout=log, stderr=log)
        log.seek(0)
        lines = log.read().splitlines()
    print(
        "\n".join(lines[-60:] if run.returncode else [line for line in lines if line.startswith(("Done", "kernels"))])
    )
    run.check_returncode()
    return True


def fuzz_binding(until: float) -> int:
    """Run Hypothesis through the sanitized build, round after round; how many there were."""
    build_sanitized(FOLDER / "sanitized")
    environment = sanitized_environment(FOLDER / "sanitized") | {"LOVEVEC_FUZZ_EXAMPLES": str(EXAMPLES)}
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        seed = int(time.time())
        program = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--hypothesis-seed={seed}", str(TEST)]
        subprocess.run(program, check=True, cwd=ROOT, env=environment)
        rounds += 1
    return rounds


def main() -> None:
    """Both; a finding is an error."""
    seconds = float(sys.argv[1])
    until = time.monotonic() + seconds
    try:
        fuzz_kernels(seconds / 2)
        rounds = fuzz_binding(until)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"fuzz: a finding, above ({error.returncode})") from None
    print(f"fuzz: nothing found; {rounds} rounds of {EXAMPLES} examples a test through the binding")


if __name__ == "__main__":
    main()
