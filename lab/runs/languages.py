"""Writes damage/data/languages.json: of each language its name, keyboard, and commonest words, by which it is told.

    pip install wordfreq
    python lab/runs/languages.py src/lovevec/damage/data/languages.json

The words are those of wordfreq 3.1.1 (data CC BY-SA 4.0, see docs/licences.md): of letters alone, the WORDS commonest.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from wordfreq import top_n_list

WORDS = 80
# Codes of wordfreq, ISO 639. Keyboards are those of damage/data/keyboards.json.
LANGUAGES = {
    "ar": ("Arabic", "ara"), "bg": ("Bulgarian", "bg"), "bn": ("Bengali", "us"), "ca": ("Catalan", "es"),
    "cs": ("Czech", "cz"), "da": ("Danish", "dk"), "de": ("German", "de"), "el": ("Greek", "gr"),
    "en": ("English", "us"), "es": ("Spanish", "es"), "fa": ("Persian", "ir"), "fi": ("Finnish", "se"),
    "fil": ("Filipino", "us"), "fr": ("French", "fr"), "he": ("Hebrew", "il"), "hi": ("Hindi", "us"),
    "hu": ("Hungarian", "hu"), "id": ("Indonesian", "us"), "is": ("Icelandic", "is"), "it": ("Italian", "it"),
    "ja": ("Japanese", "us"), "ko": ("Korean", "us"), "lt": ("Lithuanian", "lt"), "lv": ("Latvian", "lv"),
    "mk": ("Macedonian", "mk"), "ms": ("Malay", "us"), "nb": ("Norwegian", "no"), "nl": ("Dutch", "us"),
    "pl": ("Polish", "pl"), "pt": ("Portuguese", "pt"), "ro": ("Romanian", "ro"), "ru": ("Russian", "ru"),
    "sh": ("Serbo-Croatian", "si"), "sk": ("Slovak", "sk"), "sl": ("Slovenian", "si"), "sv": ("Swedish", "se"),
    "ta": ("Tamil", "us"), "tr": ("Turkish", "tr"), "uk": ("Ukrainian", "ua"), "ur": ("Urdu", "ir"),
    "vi": ("Vietnamese", "us"), "zh": ("Chinese", "us"),
}  # fmt: skip


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    lines = []
    for code, (name, keyboard) in LANGUAGES.items():
        words = [word for word in top_n_list(code, 3 * WORDS) if word.isalpha() or not word.isascii()][:WORDS]
        one = {"name": name, "keyboard": keyboard, "words": " ".join(words)}
        lines.append(f'  "{code}": {json.dumps(one, ensure_ascii=False)}')
    about = (
        f"Languages with their keyboards and their {WORDS} commonest words, by which they are told from each other."
        " Words from wordfreq 3.1.1 (CC BY-SA 4.0) by lab/runs/languages.py."
    )
    body = ",\n".join(lines)
    options.output.write_text(f'{{\n "about": "{about}",\n "languages": {{\n{body}\n }}\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
