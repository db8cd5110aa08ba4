"""The hub's own client against a hub on this machine: what is pushed comes back the same; offline nothing is asked."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from huggingface_hub import ModelCard, ModelHubMixin, constants

from lovevec import LOVE, LovevecError
from lovevec.model.hub import hub_card

TOKEN = "hf_made_up"


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as committing and downloading files needs: repositories, commits, files by revision."""

    repos: dict[str, dict[str, dict[str, bytes]]]  # of each its revisions, newest last, of each its files
    private: set[str]
    requests: list[str]

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""

    def answer(self, body: object, status: int = 200, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def known(self, name: str) -> bool:
        """Whether there is such a repository for the one who asks."""
        if name in self.repos and (name not in self.private or self.headers.get("Authorization") == f"Bearer {TOKEN}"):
            return True
        self.answer({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")
        return False

    def do_POST(self) -> None:
        self.requests.append(f"{self.command} {self.path}")
        length = self.headers.get("Content-Length")
        content = self.rfile.read(int(length)) if length else self.chunks()
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer({"error": "Invalid credentials"}, 401)
        if self.path == "/api/repos/create":
            asked = json.loads(content)
            name = f"{asked.get('organization') or 'me'}/{asked['name']}"
            self.repos.setdefault(name, {"0" * 40: {}})
            if asked.get("private") or asked.get("visibility") == "private":
                self.private.add(name)
            return self.answer({"url": f"http://{self.headers['Host']}/{name}", "name": name})
        if self.path == "/api/validate-yaml":
            return self.answer({"errors": [], "warnings": []})
        if match := re.match(r"/api/models/([^/]+/[^/]+)/preupload/", self.path):
            files = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False}
                for f in json.loads(content)["files"]
            ]
            return self.answer({"files": files})
        if match := re.match(r"/api/models/([^/]+/[^/]+)/commit/", self.path):
            return self.commit(match[1], [json.loads(line) for line in content.splitlines()])
        return self.answer({"error": f"{self.path}: not here"}, 404)

    def chunks(self) -> bytes:
        content = b""
        while size := int(self.rfile.readline(), 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def commit(self, name: str, lines: list[dict[str, dict[str, str]]]) -> None:
        if not self.known(name):
            return
        files = dict(list(self.repos[name].values())[-1])
        for line in lines:
            if line["key"] == "file":
                files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            elif line["key"] == "deletedFile":
                files.pop(line["value"]["path"], None)
        sha = hashlib.sha1(b"".join(files.values())).hexdigest()
        self.repos[name][sha] = files
        self.answer(
            {"success": True, "commitOid": sha, "commitUrl": f"http://{self.headers['Host']}/{name}/commit/{sha}"}
        )

    def do_GET(self) -> None:
        self.requests.append(f"{self.command} {self.path}")
        path = self.path.partition("?")[0]
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(?:revision|tree)/([^/]+))?", path):
            if self.known(match[1]):
                sha = self.revision(match[1], match[2])
                files = self.repos[match[1]][sha]
                if "/tree/" in path:
                    oid = "0" * 40
                    return self.answer(
                        [{"type": "file", "path": f, "size": len(c), "oid": oid} for f, c in files.items()]
                    )
                siblings = [{"rfilename": name, "size": len(content)} for name, content in files.items()]
                self.answer({"id": match[1], "modelId": match[1], "sha": sha, "siblings": siblings, "private": False})
            return None
        if (match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)) and self.known(match[1]):
            sha = self.revision(match[1], match[2])
            content = self.repos[match[1]][sha].get(match[3])
            if content is None:
                return self.answer({"error": "no such file"}, 404, X_Error_Code="EntryNotFound")
            return self.answer(content, ETag=f'"{hashlib.sha1(content).hexdigest()}"', X_Repo_Commit=sha)
        return None if match else self.answer({"error": f"{path}: not here"}, 404)

    do_HEAD = do_GET

    def revision(self, name: str, asked: str | None) -> str:
        return asked if asked in self.repos[name] else list(self.repos[name])[-1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A hub that answers on 127.0.0.1, and the programs that ask it."""
    kind = type("OwnHub", (Hub,), {"repos": {}, "private": set(), "requests": [], "protocol_version": "HTTP/1.1"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    kind.endpoint, kind.home = f"http://127.0.0.1:{server.server_port}", tmp_path_factory.mktemp("hub") / "home"
    kind.clients = {}
    yield kind
    for client in kind.clients.values():
        client.communicate()
    server.shutdown()
    server.server_close()


@pytest.fixture
def hub(server):
    """The hub without repositories, and no cache yet."""
    for held in (server.repos, server.private, server.requests):
        held.clear()
    shutil.rmtree(server.home, ignore_errors=True)
    return server


@pytest.fixture(scope="module")
def model(tiny_model) -> Path:
    return tiny_model


CLIENT = """
import contextlib, io, json, os, sys, traceback
from lovevec import LOVE
for line in sys.stdin:
    folder, code = json.loads(line)
    os.chdir(folder)
    out, errors = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(out):
            exec(code, {"LOVE": LOVE})
    except Exception:
        errors = traceback.format_exc()
    print(json.dumps([bool(errors), out.getvalue(), errors]), flush=True)
"""


def run(code: str, hub, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, since the client reads its settings when it is imported: one for each choice of them."""
    chosen = tuple(sorted(variables.items()))
    if chosen not in hub.clients:
        settings = {
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(hub.home),
            "HF_TOKEN": TOKEN,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1",
            "HF_HUB_OFFLINE": "",
        }
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | settings
        hub.clients[chosen] = subprocess.Popen(
            [sys.executable, "-c", CLIENT],
            env=environment | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    client = hub.clients[chosen]
    client.stdin.write(json.dumps([str(folder), code]) + "\n")
    client.stdin.flush()
    return subprocess.CompletedProcess(code, *json.loads(client.stdout.readline()))


def printed(code: str, hub, folder: Path, **variables: str) -> str:
    done = run(code, hub, folder, **variables)
    assert done.returncode == 0, f"{done.stderr}\n{hub.requests}"
    return done.stdout.strip()


def error_of(done: subprocess.CompletedProcess[str]) -> str:
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("lovevec.errors.LovevecError: "), done.stderr
    return last


VECTOR = "import hashlib; print(hashlib.sha256(love['plogrick'].tobytes()).hexdigest())"


def test_what_is_pushed_comes_back(hub, model, tmp_path):
    url = printed(f"print(LOVE.load({str(model)!r}).push_to_hub('me/words'))", hub, tmp_path)
    sha = list(hub.repos["me/words"])[-1]
    assert url == f"{hub.endpoint}/me/words/commit/{sha}"
    files = hub.repos["me/words"][sha]
    assert {name: files[name] for name in files if name != "README.md"} == {
        file.name: file.read_bytes() for file in model.iterdir() if file.name not in ("README.md", "report.json")
    }
    own = hashlib.sha256(LOVE.load(model)["plogrick"].tobytes()).hexdigest()
    assert printed(f"love = LOVE.from_pretrained('me/words'); {VECTOR}", hub, tmp_path) == own
    asked = len(hub.requests)
    assert printed(f"love = LOVE.load('me/words'); {VECTOR}", hub, tmp_path) == own
    assert printed(f"love = LOVE.load('me/words'); {VECTOR}", hub, tmp_path, HF_HUB_OFFLINE="1") == own
    assert len(hub.requests) == asked, "what the cache has is not asked for"
    printed("LOVE.from_pretrained('me/words', force_download=True)", hub, tmp_path)
    assert len(hub.requests) > asked


def test_a_revision_and_a_cache_of_ones_own(hub, model, tmp_path):
    first, second = LOVE.load(model), f"LOVE.load({str(model)!r})"
    printed(f"{second}.push_to_hub('me/words')", hub, tmp_path)
    old = list(hub.repos["me/words"])[-1]
    printed(f"{second}.push_to_hub('me/words', precision='int8', rows='none')", hub, tmp_path)
    assert len(hub.repos["me/words"]) == 3
    new = hub.repos["me/words"][list(hub.repos["me/words"])[-1]]
    assert json.loads(new["config.json"])["precision"] == "int8"
    code = f"love = LOVE.from_pretrained('me/words', revision={old!r}, cache_dir='own'); {VECTOR}"
    assert printed(code, hub, tmp_path) == hashlib.sha256(first["plogrick"].tobytes()).hexdigest()
    assert (tmp_path / "own" / "models--me--words" / "snapshots" / old / "config.json").is_file()


def test_save_pretrained_pushes_as_the_mixin_does(hub, model, tmp_path):
    code = f"print(LOVE.load({str(model)!r}).save_pretrained('words', push_to_hub=True, private=True))"
    assert printed(code, hub, tmp_path).startswith(f"{hub.endpoint}/me/words/commit/")
    assert (tmp_path / "words" / "config.json").is_file()
    assert hub.private == {"me/words"}
    assert LOVE.load(tmp_path / "words").words == LOVE.load(model).words
    error = error_of(run("LOVE.load('me/words')", hub, tmp_path, HF_TOKEN=""))
    assert "the hub did not give it (RepositoryNotFoundError" in error
    printed(f"LOVE.from_pretrained('me/words', token={TOKEN!r})", hub, tmp_path, HF_TOKEN="")


def test_offline_nothing_is_asked(hub, model, tmp_path):
    push = f"LOVE.load({str(model)!r}).push_to_hub('me/words')"
    assert "me/words: not sent to the hub, since HF_HUB_OFFLINE is set" in error_of(
        run(push, hub, tmp_path, HF_HUB_OFFLINE="1")
    )
    load = "LOVE.from_pretrained('me/words', local_files_only=True)"
    assert "not looked for on the hub, since local_files_only=True" in error_of(run(load, hub, tmp_path))
    assert hub.requests == []


@pytest.mark.parametrize(
    ("code", "variables", "message"),
    [
        (
            "push_to_hub('me/words')",
            {"HF_TOKEN": "hf_other"},
            r"me/words: the hub did not take it \(HfHubHTTPError: .*401",
        ),
        (
            "push_to_hub('me/words')",
            {"HF_ENDPOINT": "http://127.0.0.1:9"},
            r"the hub did not take it \(Connect\w*Error",
        ),
        ("push_to_hub('a/b/c')", {}, "a model on the hub is named owner/name, not 'a/b/c'"),
        ("push_to_hub(None)", {}, "a model on the hub is named owner/name, not None"),
    ],
)
def test_what_goes_wrong_is_one_line(hub, model, tmp_path, code, variables, message):
    assert re.search(message, error_of(run(f"LOVE.load({str(model)!r}).{code}", hub, tmp_path, **variables)))


def test_the_card_is_one_that_the_hub_reads(model, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    love = LOVE.load(model)
    love.save_pretrained(tmp_path / "words", repo_id="me/words")
    card = ModelCard.load(tmp_path / "words" / "README.md")
    assert card.data.library_name == "lovevec"
    assert "out-of-vocabulary" in card.data.tags
    assert 'love = LOVE.load("me/words")' in card.text
    assert love.card.splitlines()[-2] in card.text
    again = LOVE.load(tmp_path / "words")
    assert hub_card(again.card, "me/words", len(love), love.dim) == again.card, "made once, it stays"
    assert "300 known words, 16 dimensions" in hub_card("", "me/words", len(love), love.dim)


def test_the_options_are_those_of_the_mixin():
    """But for what belongs to its own config.json and its own cards."""
    own = {"config", "model_card_kwargs", "push_to_hub_kwargs", "model_kwargs", "self", "pretrained_model_name_or_path"}
    own |= {"resume_download", "proxies"}  # which its newer versions have no more
    theirs = set(inspect.signature(ModelHubMixin.from_pretrained).parameters) - own
    assert theirs <= set(inspect.signature(LOVE.from_pretrained).parameters)
    theirs = set(inspect.signature(ModelHubMixin.push_to_hub).parameters) - own
    words = set(re.findall(r"\w+", LOVE.push_to_hub.__doc__)) | set(inspect.signature(LOVE.push_to_hub).parameters)
    assert theirs <= words
    theirs = set(inspect.signature(ModelHubMixin.save_pretrained).parameters) - own - {"save_directory"}
    assert theirs <= set(inspect.signature(LOVE.save_pretrained).parameters)


def test_a_folder_needs_no_client(model):
    load = f"from lovevec import LOVE; LOVE.from_pretrained({str(model)!r})['dog']"
    code = f"import sys; {load}; print('huggingface_hub' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_an_unknown_option_is_refused(model):
    with pytest.raises((TypeError, LovevecError)):
        LOVE.load(model).push_to_hub("me/words", unknown=1)
