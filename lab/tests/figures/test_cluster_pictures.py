from __future__ import annotations

import re
from itertools import permutations

import numpy as np
import pytest
from figure_checks import NASTY, overlaps, texts
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.markers import MarkerStyle

from lovevec.errors import LovevecError
from lovevec.figures.style import COLOURS, INK, QUIET
from lovevec_lab.figures.clusters import align_planes, clusters_of, draw_clusters, match_clusters, on_plane, plane

RNG = np.random.default_rng(0)
TOPICS = {
    "chemical substances": ["oxygen", "hydrogen", "helium", "carbon", "methane"],
    "illnesses": ["leukemia", "diabetes", "malaria", "asthma", "cholera"],
    "occupations": ["architect", "engineer", "lawyer", "teacher", "plumber"],
}
DAMAGED = {"oxgen": "chemical substances", "leukamia": "illnesses", "archiitect": "occupations"}
TOPIC = {word: topic for topic, words in TOPICS.items() for word in words} | DAMAGED


def toy_vectors(tight: float = 1.0) -> dict[str, np.ndarray]:
    """A centre for each topic, words around it."""
    centres = {topic: 3 * RNG.normal(size=9) for topic in TOPICS}
    return {word: (centres[topic] + tight * RNG.normal(size=9)).astype(np.float32) for word, topic in TOPIC.items()}


def right_clusters() -> dict[str, int]:
    return {word: list(TOPICS).index(topic) for word, topic in TOPIC.items()}


def words_of(axes) -> dict[str, tuple[float, float]]:
    """word -> where its label points to."""
    return {text.get_text().removesuffix(" ✗"): tuple(text.xy) for text in axes.texts if hasattr(text, "xyann")}


def marks(axes) -> dict[tuple[float, float], list[tuple[str, bool, int]]]:
    """spot -> the marks there: colour, whether hollow, the marker's number of corners."""
    found: dict[tuple[float, float], list[tuple[str, bool, int]]] = {}
    for drawn in axes.collections:
        hollow = not len(drawn.get_facecolor()) or drawn.get_facecolor()[0, 3] == 0
        colour = to_hex((drawn.get_edgecolor() if hollow else drawn.get_facecolor())[0])
        for spot in drawn.get_offsets():
            found.setdefault(tuple(spot), []).append((colour, hollow, len(drawn.get_paths()[0].vertices)))
    return found


def corners(marker: str) -> int:
    return len(MarkerStyle(marker).get_path().vertices)


def test_the_plane_keeps_distances_of_points_that_lie_in_one():
    flat = RNG.normal(size=(20, 2)).astype(np.float32) @ RNG.normal(size=(2, 9)).astype(np.float32)
    before = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    spots = plane(flat)
    np.testing.assert_allclose(np.linalg.norm(spots[:, None] - spots[None], axis=2), before, atol=1e-5)


def test_the_plane_has_the_two_largest_variances_and_no_sign_of_its_own():
    vectors = RNG.normal(size=(30, 7)) * np.arange(1, 8)
    largest = np.sort(np.linalg.eigvalsh(np.cov(vectors.T)))[::-1][:2]
    np.testing.assert_allclose(plane(vectors).var(axis=0, ddof=1), largest)
    np.testing.assert_allclose(plane(vectors[:, :1])[:, 1], 0)
    order = RNG.permutation(30)
    np.testing.assert_allclose(plane(vectors[order]), plane(vectors)[order], atol=1e-9)


def test_damaged_words_do_not_move_the_plane():
    vectors = toy_vectors()
    with_damaged, without = on_plane(TOPICS, DAMAGED, vectors), on_plane(TOPICS, {}, vectors)
    assert list(with_damaged) == list(TOPIC)
    for word, spot in without.items():
        np.testing.assert_array_equal(with_damaged[word], spot)
    np.testing.assert_allclose(list(without.values()), plane(np.stack([vectors[word] for word in without])), atol=1e-9)


def test_turning_undoes_a_turn_and_a_mirror():
    first = dict(zip("abcdef", RNG.normal(size=(6, 2)), strict=True))
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    _, again = align_planes([first, {word: 3 * spot @ turn for word, spot in first.items()}])
    for word, spot in first.items():
        np.testing.assert_allclose(again[word], 3 * spot, atol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=20))
def test_clusters_go_to_topics_so_that_most_words_are_right(pairs):
    listed: dict[str, list[str]] = {}
    for i, (topic, _) in enumerate(pairs):
        listed.setdefault(f"t{topic}", []).append(f"w{i}")
    clusters = {f"w{i}": cluster for i, (_, cluster) in enumerate(pairs)}

    def right(whose) -> int:
        return sum(whose.get(clusters[word]) == topic for topic, words in listed.items() for word in words)

    whose = match_clusters(clusters, listed)
    assert len(set(whose.values())) == len(whose) == min(len(listed), len(set(clusters.values())))
    numbers = [*sorted(set(clusters.values())), *range(100, 104)]
    best = max(right(dict(zip(chosen, listed, strict=True))) for chosen in permutations(numbers, len(listed)))
    assert right(whose) == best


def test_the_picture_names_every_word_and_topic(tmp_path):
    topics = {"birds": ["jay", "owl", "$kite$"], "metals": ["tin", "zinc", "iron"]}
    words = [word for listed in topics.values() for word in listed] + ["ironn"]
    vectors = {word: RNG.normal(size=5).astype(np.float32) for word in words}
    path = tmp_path / "c.svg"
    draw_clusters(topics, {"ironn": "metals"}, vectors, path, "Two topics")
    drawn = path.read_text("utf-8")
    comments = re.findall(r"<!-- (.*?) -->", drawn)
    assert {*words, *topics, "Two topics", "damaged word"} <= set(comments)


def test_words_have_the_colour_and_shape_of_their_topic_and_no_name_lies_on_another(tmp_path):
    vectors = toy_vectors(2)
    figure = draw_clusters(TOPICS, DAMAGED, vectors, tmp_path / "c.png", "Topics")
    (axes,) = figure.axes
    spots, drawn = words_of(axes), marks(axes)
    assert set(spots) == set(TOPIC)
    looks = dict(zip(TOPICS, zip(COLOURS, "o^s", strict=False), strict=False))
    for word, topic in TOPIC.items():
        colour, marker = looks[topic]
        assert drawn[spots[word]] == [(colour, word in DAMAGED, corners(marker))]
    assert overlaps(figure, axes.texts) == []
    inside = axes.get_window_extent().extents
    for spot in axes.transData.transform(list(spots.values())):
        assert (inside[:2] < spot).all()
        assert (spot < inside[2:]).all()


def test_distances_on_the_page_are_distances_on_the_plane(tmp_path):
    vectors = toy_vectors()
    (axes,) = draw_clusters(TOPICS, DAMAGED, vectors, tmp_path / "c.png", "Topics").axes
    places = on_plane(TOPICS, DAMAGED, vectors)
    page, flat = axes.transData.transform(list(places.values())), np.stack(list(places.values()))
    ratio = np.linalg.norm(page[1:] - page[0], axis=1) / np.linalg.norm(flat[1:] - flat[0], axis=1)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_panels_show_clusters_by_colour_and_cross_damaged_words_in_the_wrong_one(tmp_path):
    good, bad = right_clusters(), right_clusters()
    bad["oxgen"] = 1  # among the illnesses
    bad["teacher"] = 0
    bad["leukamia"] = 7  # a cluster of its own
    bad = {word: (cluster + 1) % 3 if cluster < 3 else cluster for word, cluster in bad.items()}  # numbers mean nothing
    vectors = {"LOVE": toy_vectors(), "BoS": toy_vectors(2)}
    clusters = {"LOVE": good, "BoS": bad}
    figure = clusters_of(tmp_path / "c.png", vectors, TOPICS, DAMAGED, clusters, title="Three topics")
    own = dict(zip(TOPICS, COLOURS, strict=False))
    shapes = dict(zip(TOPICS, "o^s", strict=False))
    wrong = {"oxgen": own["illnesses"], "teacher": own["chemical substances"], "leukamia": QUIET}
    for axes, method in zip(figure.axes, vectors, strict=True):
        assert axes.get_title(loc="left") == method
        spots, drawn = words_of(axes), marks(axes)
        for word, topic in TOPIC.items():
            odd = wrong.get(word) if method == "BoS" else None
            expected = [(odd or own[topic], word in DAMAGED, corners(shapes[topic]))]
            if odd and word in DAMAGED:
                expected.append((INK, False, corners("x")))
            assert drawn[spots[word]] == expected, (method, word)
        crossed = {text.get_text() for text in axes.texts if text.get_text().endswith(" ✗")}
        assert crossed == ({"oxgen ✗", "leukamia ✗"} if method == "BoS" else set())
        assert overlaps(figure, axes.texts) == []
    assert "in their topic's cluster: 15 of 15 words, 3 of 3 damaged" in texts(figure.axes[0])
    assert "in their topic's cluster: 14 of 15 words, 1 of 3 damaged" in texts(figure.axes[1])
    assert {*TOPICS, "damaged word", "in another topic's cluster", "Three topics"} <= set(texts(figure))


def test_nasty_words_and_topics_are_written_as_they_are(tmp_path):
    topics = {NASTY[0]: NASTY[:5], NASTY[3]: NASTY[5:]}
    vectors = {word: RNG.normal(size=4) for word in NASTY}
    numbers = {word: i % 2 for i, word in enumerate(NASTY)}
    figure = clusters_of(tmp_path / "c.svg", {NASTY[1]: vectors}, topics, {}, {NASTY[1]: numbers}, title=NASTY[0])
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == [NASTY[0], NASTY[3]]
    assert {"two\\nlines", "\\ud800", "🙂🙂"} <= set(texts(figure.axes[0]))
    assert overlaps(figure, [text for text in figure.axes[0].texts if text.get_text()]) == []


@pytest.mark.parametrize(
    ("topics", "damaged", "told"),
    [
        ({}, {}, "no words to draw"),
        ({"t": []}, {}, "no words to draw"),
        ({f"t{i}": [f"w{i}"] for i in range(9)}, {}, "9 topics; more than 8"),
        ({"t": ["w0"]}, {"w1": "u"}, "a damaged word of u, which is none of the topics"),
        ({"t": ["w0", "w0"]}, {}, "the word w0 is there twice"),
        ({"t": ["w0", "lost"]}, {}, "nothing for the word lost"),
    ],
)
def test_what_cannot_be_drawn_is_named(tmp_path, topics, damaged, told):
    vectors = {f"w{i}": np.ones(3) for i in range(9)}
    with pytest.raises(LovevecError, match=rf"c\.png: {told}"):
        draw_clusters(topics, damaged, vectors, tmp_path / "c.png", "")
    with pytest.raises(LovevecError, match=rf"c\.png: m: {told}"):
        clusters_of(tmp_path / "c.png", {"m": vectors}, topics, damaged, {"m": dict.fromkeys(vectors, 0)})
    assert list(tmp_path.iterdir()) == []


def test_a_method_without_clusters_is_named(tmp_path):
    vectors = {"m": {"w": np.ones(3)}}
    with pytest.raises(LovevecError, match="clusters of m: nothing for the word w"):
        clusters_of(tmp_path / "c.png", vectors, {"t": ["w"]}, {}, {})
    with pytest.raises(LovevecError, match="no methods"):
        clusters_of(tmp_path / "c.png", {}, {"t": ["w"]}, {}, {})
