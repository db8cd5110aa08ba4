"""Writes the keyboards of damage/data/keyboards.json from the layouts of xkeyboard-config (Debian's package xkb-data).

    apt-get download xkb-data x11proto-dev          # MIT licence both; what was parsed: 2.35.1-1 and 2022.1-1
    dpkg -x xkb-data_*.deb xkb && dpkg -x x11proto-dev_*.deb xkb
    python lab/runs/keyboards.py xkb src/lovevec/damage/data/keyboards.json

Of each layout it takes what the keys of the four rows give, alone and with shift; a key that gives no character (a dead
accent) is a blank.
"""

from __future__ import annotations

import argparse
import json
import re
from functools import cache
from pathlib import Path

# Layouts, each with its variant; "" is the default one. Which language is typed on which is in damage/languages.
LAYOUTS = {
    "us": "", "de": "", "fr": "", "es": "", "pt": "", "it": "", "dk": "", "no": "", "se": "", "is": "", "pl": "",
    "cz": "", "sk": "qwerty", "hu": "", "ro": "", "si": "", "lt": "", "lv": "", "ee": "", "tr": "", "ru": "",
    "ua": "", "bg": "", "mk": "", "gr": "", "il": "", "ara": "", "ir": "",
}  # fmt: skip
ROWS = (
    ["TLDE", *(f"AE{key:02}" for key in range(1, 13))],
    [f"AD{key:02}" for key in range(1, 13)],
    [f"AC{key:02}" for key in range(1, 12)] + ["BKSL"],
    ["LSGT", *(f"AB{key:02}" for key in range(1, 11))],
)
BLOCK = re.compile(r'((?:\w+\s+)*)xkb_symbols\s+"([^"]+)"\s*\{(.*?)\n\s*\};', re.DOTALL)
ITEM = re.compile(r'(?:include\s+"([^"]+)")|(?:key\s*<(\w+)>\s*\{(.*?)\}\s*;)', re.DOTALL)
NAME = re.compile(r"#define XK_(\w+)\s+0x([0-9a-fA-F]+)(?:\s*/\*.*?U\+([0-9A-F]{4,6}))?")


def main() -> None:
    """Parse what was unpacked, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where both packages were unpacked")
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    symbols = options.folder / "usr/share/X11/xkb/symbols"
    names = keysyms(options.folder / "usr/include/X11/keysymdef.h")
    layouts = {}
    for layout, variant in LAYOUTS.items():
        keys = read_layout(symbols, layout, variant)
        rows = [[[*keys.get(key, []), "", ""][:2] for key in row] for row in ROWS]
        alone, shifted = (
            ["".join(character(names, both[level]) for both in row).rstrip() for row in rows] for level in (0, 1)
        )
        layouts[layout] = {"alone": alone, "shifted": shifted}
    about = (
        "What the keys of four rows give, alone and with shift, a blank for a key without a character. From the layouts"
        " of xkeyboard-config (Debian's xkb-data 2.35.1-1, MIT licence) by lab/runs/keyboards.py."
    )
    lines = ",\n".join(f'  "{name}": {json.dumps(rows, ensure_ascii=False)}' for name, rows in layouts.items())
    options.output.write_text(
        f'{{\n "about": {json.dumps(about, ensure_ascii=False)},\n "layouts": {{\n{lines}\n }}\n}}\n', "utf-8"
    )


def keysyms(path: Path) -> dict[str, str]:
    """The character of each keysym that has one, by its name."""
    return {name: chr(int(code, 16)) for name, _, code in NAME.findall(path.read_text("utf-8")) if code}


def character(names: dict[str, str], keysym: str) -> str:
    """The character of a keysym; a blank where it has none, or is no single one."""
    if match := re.fullmatch(r"U([0-9A-Fa-f]{4,6})|0x100([0-9A-Fa-f]{4})", keysym):
        return chr(int(match[1] or match[2], 16))
    return keysym if len(keysym) == 1 else names.get(keysym, " ") or " "


@cache
def read_layout(symbols: Path, layout: str, variant: str) -> dict[str, list[str]]:
    """The keysyms of each key of a layout, with those that it includes; what comes later counts."""
    text = re.sub(r"//.*", "", (symbols / layout).read_text("utf-8"))
    blocks = {name: (kinds, body) for kinds, name, body in BLOCK.findall(text)}
    default = next((name for name, (kinds, _) in blocks.items() if "default" in kinds), next(iter(blocks)))
    keys: dict[str, list[str]] = {}
    for include, key, body in ITEM.findall(blocks[variant or default][1]):
        if include:
            for part in re.split(r"[+|]", include):
                found = re.fullmatch(r"([\w/]+)(?:\(([\w-]+)\))?(?::\d)?", part)
                if found and (symbols / found[1]).is_file():
                    for name, levels in read_layout(symbols, found[1], found[2] or "").items():
                        keys[name] = merge(keys.get(name, []), levels)
        else:
            if levels := re.search(r"(?<!type)(?<!symbols)\[([^\]]*)\]", body):
                keys[key] = merge(keys.get(key, []), [name.strip() for name in levels[1].split(",")])
    return keys


def merge(old: list[str], new: list[str]) -> list[str]:
    """What a key gives by a later definition, which leaves a level as it was where it says so."""
    kept = [old[place] if name in ("NoSymbol", "any") and place < len(old) else name for place, name in enumerate(new)]
    return kept + old[len(new) :]


if __name__ == "__main__":
    main()
