"""Models that packages bring: found by the names that their entry points give, without a line of their code; and the
packages of models/, as they lie there."""

from __future__ import annotations

import json
import sys
from importlib import invalidate_caches
from pathlib import Path

import numpy as np
import pytest
from tests.model_packages import install_model, site_of
from tools.requirements import MODELS, project_of

from lovevec import LOVE, LovevecError
from lovevec.cli import main
from lovevec.model.find import GROUP, PACKAGES, find_model, installed

CODES = [name.removeprefix("lovevec-") for name in MODELS]


@pytest.fixture
def site(tmp_path, monkeypatch) -> Path:
    """A folder of packages on Python's path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    invalidate_caches()
    return folder


def test_an_installed_model_is_loaded_by_its_name(site, tiny_model, capsys):
    folder = install_model(site, "toylish", "lovevec_toylish", tiny_model)
    assert find_model("toylish") == folder
    assert installed()["toylish"] == folder
    assert np.array_equal(LOVE.load("toylish")["plogrick"], LOVE.load(tiny_model)["plogrick"])
    assert main(["info", "toylish"]) in (0, None)
    assert capsys.readouterr().out.split()[:2] == ["model", "toylish"]
    assert "lovevec_toylish" not in sys.modules, "its code has run"


def test_shipped_models_and_folders_win(site, tiny_model, tmp_path):
    package = install_model(site, "default", "lovevec_default", tiny_model)
    assert find_model("default") != package
    assert "default" not in installed()
    package = install_model(site, "mine", "lovevec_mine", tiny_model)
    (tmp_path / "mine").mkdir()
    assert find_model("mine") == package, "a folder without a model hides none"
    (tmp_path / "mine" / "config.json").write_text("{}")
    assert find_model("mine") == Path("mine")


@pytest.mark.parametrize("value", ["lovevec_nowhere", "json.tool", "json", "not a name"])
def test_a_package_that_is_gone_or_would_run_is_no_model(site, tiny_model, value):
    install_model(site, "gone", value, None)
    with pytest.raises(LovevecError, match="gone"):
        LOVE.load("gone")
    assert "gone" not in installed() or not (installed()["gone"] / "config.json").exists()


def test_a_language_that_is_not_installed_says_how_it_would_be(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **group: ())
    for code in PACKAGES:
        with pytest.raises(LovevecError, match=rf"^{code}: .*pip install lovevec-{code} .*\./models/lovevec-{code}"):
            find_model(code)
    with pytest.raises(LovevecError, match=r"xy: no such model folder.*other-languages"):
        find_model("xy")


@pytest.mark.skipif(not MODELS, reason="the models lie in the repository alone")
def test_the_library_knows_the_packages_that_there_are():
    assert sorted(PACKAGES) == CODES


@pytest.mark.parametrize("code", CODES)
def test_a_package_states_its_model_its_licence_and_its_size(code):
    folder = MODELS[f"lovevec-{code}"]
    stated = project_of(folder)
    assert stated["entry-points"][GROUP] == {code: f"lovevec_{code}"}
    model = folder / "src" / f"lovevec_{code}" / code
    assert sum(file.stat().st_size for file in model.iterdir()) <= 15_000_000
    config = json.loads((model / "config.json").read_text("utf-8"))
    assert stated["license"] in config["target"]["licence"]
    card = (folder / "README.md").read_text("utf-8")
    assert card == (model / "README.md").read_text("utf-8")
    assert f'LOVE.load("{code}")' in card
    assert len((folder / "LICENSE").read_text("utf-8")) > 1000


@pytest.mark.parametrize(
    ("code", "wrong", "right"),
    [("fr", "ordinnateur", "ordinateur"), ("ru", "компютер", "компьютер"), ("fi", "tietokonne", "tietokone")],
)
def test_a_language_reads_its_misspellings(code, wrong, right, tmp_path, monkeypatch):
    if code not in CODES:
        pytest.skip("the models lie in the repository alone")
    site_of(tmp_path, [MODELS[f"lovevec-{code}"]])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(MODELS[f"lovevec-{code}"] / "src"))
    invalidate_caches()
    love = LOVE.load(code)
    assert love.near(wrong)[0][0] == right
    assert love.parts.orthography.language.code == code
