"""What long work keeps to go on."""

from __future__ import annotations

import numpy as np
import pytest

from lovevec.errors import FormatError, LovevecError
from lovevec.files.checkpoints import CheckpointFolder

ARRAYS = {
    "rows": np.arange(12, dtype=np.float32).reshape(3, 4).T,
    "step": np.array(7.0, dtype=np.float32),
    "none": np.zeros((0, 5)),
    "bytes": np.frombuffer("wörd".encode(), np.uint8),
}


def test_a_state_comes_back_as_it_was_and_the_new_one_replaces_it(tmp_path):
    unfinished = CheckpointFolder(tmp_path / "deep" / "run")
    unfinished.begin({"target": "x"})
    assert unfinished.load("texts") is None
    unfinished.save("texts", {"rows": np.ones(3)}, step=1)
    unfinished.save("texts", ARRAYS, step=2, log={"losses": [0.5]})
    again = CheckpointFolder(tmp_path / "deep" / "run")
    state = again.load("texts")
    assert state.values == {"step": 2, "log": {"losses": [0.5]}}
    assert set(state.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert (state.arrays[name].dtype, state.arrays[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(state.arrays[name], array)
    assert again.plan() == {"target": "x"}
    assert sorted(path.name for path in (tmp_path / "deep" / "run").iterdir()) == ["run.json", "texts.safetensors"]


@pytest.mark.parametrize("values", [{}, {"step": 3}])
def test_every_damaged_byte_of_a_state_is_told_by_name(tmp_path, values):
    unfinished = CheckpointFolder(tmp_path / "run")
    unfinished.begin({})
    unfinished.save("s", {"rows": np.arange(5.0)}, **values)
    path = tmp_path / "run" / "s.safetensors"
    good = path.read_bytes()
    damaged = [good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :] for place in range(len(good))]
    for content in (b"", good[:40], good + b"x", *damaged):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"s\.safetensors: cannot be continued from .*delete it") as error:
            unfinished.load("s")
        assert "\n" not in str(error.value)
    path.write_bytes(good)
    assert unfinished.load("s").values == values


def test_work_goes_on_with_its_own_plan_alone(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()  # killed before there was anything to keep
    plan = {"model": "m", "layer": 1, "words": None}
    CheckpointFolder(folder).begin_or_go_on(plan)
    CheckpointFolder(folder).begin_or_go_on(plan)
    with pytest.raises(LovevecError, match="an unfinished run with other layer, words; give its command again"):
        CheckpointFolder(folder).begin_or_go_on({**plan, "layer": 2, "words": "x"})
    with pytest.raises(LovevecError, match="or overwrite=True to begin anew"):
        CheckpointFolder(folder).begin_or_go_on({**plan, "layer": 2})
    for damage in ("", "[]", "{", "[" * 100_000):
        (folder / "run.json").write_text(damage)
        with pytest.raises(LovevecError, match="no unfinished run, or damaged"):
            CheckpointFolder(folder).begin_or_go_on(plan)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    with pytest.raises(LovevecError, match="no unfinished run, or damaged"):
        CheckpointFolder(tmp_path / "mine").begin_or_go_on(plan)
    assert not CheckpointFolder(tmp_path / "mine").exists


def test_a_folder_goes_when_the_work_is_done_or_nothing_was_kept(tmp_path):
    unfinished = CheckpointFolder(tmp_path / "run")
    unfinished.begin({})
    unfinished.tidy()
    assert not (tmp_path / "run").exists()
    unfinished.begin({})
    unfinished.save("s", {})
    unfinished.tidy()
    assert unfinished.exists
    unfinished.remove()
    unfinished.remove()
    assert not (tmp_path / "run").exists()


def test_a_state_is_due_when_its_time_has_come(tmp_path):
    assert not CheckpointFolder(tmp_path / "run", every=3600).is_due
    always = CheckpointFolder(tmp_path / "run", every=0)
    always.begin({})
    assert always.is_due
    always.save("s", {})
    assert always.is_due


def test_without_a_folder_nothing_is_kept():
    nowhere = CheckpointFolder(None)
    nowhere.begin_or_go_on({})
    nowhere.save("s", ARRAYS)
    assert nowhere.load("s") is None
    assert not nowhere.is_due
    assert not nowhere.exists
    nowhere.tidy()
    nowhere.remove()
