"""Models on the Hugging Face hub: from there, and to there.

LOVE has the methods of huggingface_hub's ModelHubMixin (`from_pretrained`, `save_pretrained`, `push_to_hub`) with its
options, but is none: the mixin would import the hub's client with every LOVE, and write a config.json of its own over
the one whose checksums make a model folder safe to read.

The local cache is looked at first, and the network only where the cache lacks the model. Where HF_HUB_OFFLINE is set
nothing is fetched or sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lovevec.errors import LovevecError
from lovevec.model.folder import CARD, CONFIG, OPTIONAL, TOKENIZER, WEIGHTS, WORDS

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
REQUIRED_FILES = (CONFIG, WEIGHTS, TOKENIZER, WORDS)
# What the hub shows and searches by: how a card begins.
FRONT_MATTER = """---
library_name: lovevec
pipeline_tag: feature-extraction
tags:
- lovevec
- word-vectors
- word-embeddings
- out-of-vocabulary
- misspellings
---
"""
PLAIN_CARD = """# A LOVE model

A vector for any word, known, rare, new or misspelled: {words:,} known words, {dim} dimensions.

```python
from lovevec import LOVE
love = LOVE.load("{name}")
love["mispelling"]
```
"""


def from_hub(
    name: str,
    required: Sequence[str] = REQUIRED_FILES,
    patterns: Sequence[str] = (*REQUIRED_FILES, *OPTIONAL, CARD),
    *,
    force_download: bool = False,
    local_files_only: bool = False,
    **options: Any,
) -> Path:
    """The folder of a hub model: from the local cache where that has the `required` files, or else downloaded, those
    files that fit the `patterns`; with `local_files_only` never downloaded, with `force_download` always. `options` are
    those of the hub's client: revision, token, cache_dir."""
    from huggingface_hub import constants, snapshot_download

    if not force_download:
        try:
            folder = Path(snapshot_download(name, local_files_only=True, **options))
            if all((folder / file).is_file() for file in required):
                return folder
        except (OSError, ValueError):
            pass  # not there
    cache = options.get("cache_dir") or constants.HF_HUB_CACHE
    tried = f"{name}: no such model folder, and not in the hub's cache ({cache})"
    owner = name.split("/")[0]
    if Path(owner).is_dir():
        raise LovevecError(f"{tried}; not looked for on the hub, since {owner}/ is a folder here")
    if constants.HF_HUB_OFFLINE or local_files_only:
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "local_files_only=True"
        raise LovevecError(f"{tried}; not looked for on the hub, since {why}")
    try:
        return Path(snapshot_download(name, allow_patterns=list(patterns), force_download=force_download, **options))
    except _errors() as error:
        raise LovevecError(f"{tried}; the hub did not give it ({type(error).__name__}: {_line(error)})") from None


def to_hub(
    repo_id: str,
    save: Callable[[Path], None],
    *,
    commit_message: str,
    private: bool | None = None,
    token: str | None = None,
    branch: str | None = None,
    create_pr: bool | None = None,
    **patterns: Any,
) -> str:
    """Create the repository `repo_id` if it is not there, commit what `save` writes into a temporary folder, and give
    the address of the commit. `patterns` say which files: allow_patterns, ignore_patterns, delete_patterns."""
    from huggingface_hub import HfApi, constants

    if not isinstance(repo_id, str) or not re.fullmatch(rf"{HUB_ID.pattern}|[A-Za-z0-9][\w.-]*", repo_id, re.ASCII):
        raise LovevecError(f"a model on the hub is named owner/name, not {repo_id!r}")
    if constants.HF_HUB_OFFLINE:
        raise LovevecError(f"{repo_id}: not sent to the hub, since HF_HUB_OFFLINE is set")
    with TemporaryDirectory() as folder:
        save(Path(folder))
        try:
            api = HfApi(token=token)
            whole = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
            options = {"commit_message": commit_message, "revision": branch, "create_pr": create_pr, **patterns}
            commit = api.upload_folder(repo_id=whole, folder_path=folder, **options)
        except _errors() as error:
            raise LovevecError(f"{repo_id}: the hub did not take it ({type(error).__name__}: {_line(error)})") from None
    return str(commit.commit_url)


def hub_card(card: str, name: str, words: int, dim: int) -> str:
    """A model card as the hub wants it: its front matter is added, unless the card has one, and its example loads the
    model by `name`. A model without a card gets a short one."""
    text = card if card.strip() else PLAIN_CARD.format(name=name, words=words, dim=dim)
    text = re.sub(r'(?m)^(love = LOVE\.load\()"[^"\n]*"\)', lambda line: f'{line[1]}"{name}")', text)
    return text if text.startswith("---\n") else FRONT_MATTER + text


def _errors() -> tuple[type[BaseException], ...]:
    """The errors of the hub's client; those of a connection come from the HTTP library that its version uses."""
    from huggingface_hub.errors import HfHubHTTPError

    return OSError, ValueError, HfHubHTTPError, HfHubHTTPError.__mro__[1]


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
