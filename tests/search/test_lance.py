"""An index in LanceDB."""

from __future__ import annotations

import pytest

from lovevec import LOVE, LovevecError

TEXTS = ["wireless headphones", "a steel kettle", "running shoes \ud800"]


def test_a_store_finds_by_vectors_of_the_model_of_the_index(tmp_path):
    pytest.importorskip("lancedb")
    index = LOVE.load().index(TEXTS, ids=["a", "b", "c"])
    table = index.to_lance(tmp_path / "store", "products")
    assert table.count_rows() == 3
    found = table.search(index.model.encode("stell ketle")).distance_type("cosine").limit(1).to_arrow()
    assert found["id"].to_pylist() == ["b"]
    assert found["_distance"].to_pylist()[0] == pytest.approx(
        1 - index.candidates(["stell ketle"], 1)[1][0, 0, 6], abs=0.01
    )
    with pytest.raises(LovevecError, match="overwrite=True"):
        index.to_lance(tmp_path / "store", "products")
    assert index.to_lance(tmp_path / "store", "products", overwrite=True).count_rows() == 3
