"""The compiled pass of the numba engine: one word after the other, from code points to its vector.

Nearly all of the work is sums of weighted rows, for which `sum_of` writes vector instructions; other loops run along
contiguous numbers, so that the compiler finds them itself. It may regroup sums ("reassoc"), but it does so in one way
for all words: the bits of a vector do not depend on the other words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lovevec.engine.compile import compiled, compiled_exactly
from lovevec.units.characters import LONGEST
from lovevec.units.ngrams import BEGIN, END, LENGTHS, MIX, PRIME, SHIFT
from lovevec.units.trie import CONTINUE, EMPTY, HASH, START
from lovevec.units.vocabulary import CLS, SEP, SUB, UNK

MAX_NGRAMS = len(LENGTHS) * (LONGEST + 2)
MIN_LENGTH = np.float32(1e-15)  # as in with_numpy.py


def sum_of(lanes: int) -> Any:
    """A function for compiled code: vector[start : start + lanes] = Σ_j weights[j] rows[ids[j], start : start + lanes].
    The sum stays in registers, which no loop written in Python would do."""

    @intrinsic
    def weighted(typing: Any, ids: Any, weights: Any, rows: Any, start: Any, vector: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values = dict(zip(("ids", "weights", "rows", "start", "vector"), arguments, strict=True))
            arrays = {"ids": ids, "weights": weights, "rows": rows, "vector": vector}
            data = {name: context.make_array(kind)(context, builder, values[name]) for name, kind in arrays.items()}
            floats = ir.VectorType(ir.FloatType(), lanes)
            stored = ir.VectorType(context.get_data_type(rows.dtype), lanes)
            unset, zeros = ir.Constant(floats, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
            first = ir.Constant(ir.IntType(32), 0)
            columns = builder.extract_value(data["rows"].shape, 1)
            total = cgutils.alloca_once_value(builder, ir.Constant(floats, None))
            with cgutils.for_range(builder, builder.extract_value(data["ids"].shape, 0)) as loop:
                row = builder.load(builder.gep(data["ids"].data, [loop.index]))
                place = builder.gep(data["rows"].data, [builder.add(builder.mul(row, columns), values["start"])])
                block = builder.load(builder.bitcast(place, stored.as_pointer()))
                block.align = 1
                if isinstance(rows.dtype, types.Integer):
                    block = builder.sitofp(block, floats)
                weight = builder.load(builder.gep(data["weights"].data, [loop.index]))
                everywhere = builder.shuffle_vector(builder.insert_element(unset, weight, first), unset, zeros)
                product = builder.fmul(everywhere, block, flags=["contract"])
                builder.store(builder.fadd(builder.load(total), product, flags=["contract"]), total)
            goal = builder.gep(data["vector"].data, [values["start"]])
            end = builder.store(builder.load(total), builder.bitcast(goal, floats.as_pointer()))
            end.align = 1
            return context.get_dummy_value()

        return types.void(ids, weights, rows, start, vector), generate

    return weighted


sum_of_64, sum_of_16 = sum_of(64), sum_of(16)


@compiled
def sum_rows(ids: Any, weights: Any, rows: Any, vector: Any) -> None:
    """Σ_j weights_j rows[id_j] into `vector`. Where the width is not a multiple of the block, the last block begins
    earlier and does some columns once more, with the same result."""
    width = len(vector)
    if width >= 64:
        for start in range(0, width - 63, 64):
            sum_of_64(ids, weights, rows, start, vector)
        if width % 64:
            sum_of_64(ids, weights, rows, width - 64, vector)
    elif width >= 16:
        for start in range(0, width - 15, 16):
            sum_of_16(ids, weights, rows, start, vector)
        if width % 16:
            sum_of_16(ids, weights, rows, width - 16, vector)
    else:
        for column in range(width):
            total = np.float32(0)
            for place in range(len(ids)):
                total += weights[place] * np.float32(rows[ids[place], column])
            vector[column] = total


@compiled
def embed_words(
    codes: Any,
    offsets: Any,
    how: Any,
    splitting: Any,
    ngrams: Any,
    tables: Any,
    positions: Any,
    head: Any,
    result: Any,
    norms: Any,
) -> None:
    """Fill `result` [words, dim] and `norms` [words] from the words' code points."""
    out, out_scale, features, features_scale = tables
    longest, both = len(positions[0]), features.shape[1]
    most = longest + MAX_NGRAMS
    spelled = np.empty((2, LONGEST + 2), dtype=np.int64)
    ids = np.empty(most, dtype=np.int64)
    weights = np.empty(most, dtype=np.float32)
    seen = np.empty((longest, both), dtype=np.float32)
    mixed = np.empty((longest, both), dtype=np.float32)
    scores = np.empty(longest * longest, dtype=np.float32)
    powers = np.empty(longest * longest, dtype=np.int32)
    summed = np.empty(longest, dtype=np.float32)
    counting = np.arange(max(longest, out.shape[1], head[0].shape[1]))
    scratch = (np.empty(len(counting), dtype=np.float32), np.empty(head[0].shape[1], dtype=np.float32))
    for word in range(len(offsets) - 1):
        count, end = make_units(codes[offsets[word] : offsets[word + 1]], how, splitting, ngrams, spelled, ids)
        look_up(ids, count, features, features_scale, seen)
        for place in range(count):
            sum_rows(counting[:count], positions[0][place], seen, mixed[place])
        compare(mixed, count, positions[1][count], scores)
        exponentials(scores[: count * count], powers)
        weigh(scores, count, positions, summed, weights)
        weights[count:end] = 1
        for place in range(end):
            weights[place] *= out_scale[ids[place]]
        vector = result[word]
        if head[0].shape[1]:
            sum_rows(ids[:count], weights, out, vector)
            through_head(vector, head, counting, scratch)
            if end > count:
                ngram_sum = scratch[0][: len(vector)]
                sum_rows(ids[count:end], weights[count:end], out, ngram_sum)
                for column in range(len(vector)):
                    vector[column] += ngram_sum[column]
        else:
            sum_rows(ids[:end], weights, out, vector)
        norms[word] = normalise(vector)


@compiled
def make_units(codes: Any, how: Any, splitting: Any, ngrams: Any, spelled: Any, ids: Any) -> tuple[int, int]:
    """ζ of one word as table rows, into `ids`: [CLS] characters [SUB] pieces [SEP], then the n-grams; returns where the
    units end and where the n-grams end."""
    with_characters, with_both, with_pieces, lowercase = how
    character, row_of_unit = splitting[:2]
    size = len(codes)
    letters, characters = spelled
    for place in range(size):
        code = np.int64(codes[place])
        letters[1 + place] = code + 32 if lowercase and 65 <= code <= 90 else code
        characters[place] = character[letters[1 + place]]
    ids[0] = CLS
    count = 1
    if with_characters:
        for place in range(size):
            ids[1 + place] = characters[place]
        count += size
    if with_both:
        ids[count] = SUB
        count += 1
    if with_pieces:
        count += split(characters[:size], splitting, ids[count:])
    ids[count] = SEP
    count += 1
    for place in range(count):
        ids[place] = row_of_unit[ids[place]]
    end = count
    if ngrams[1]:
        letters[0], letters[size + 1] = BEGIN, END
        end += hash_ngrams(letters[: size + 2], ngrams, ids[count:])
    return count, end


@compiled
def split(characters: Any, splitting: Any, ids: Any) -> Any:
    """Greedy longest match through the trie (see trie.py) into `ids`, or [UNK] alone; returns how many."""
    _, _, keys, values, bits, piece_at = splitting
    mask = len(keys) - 1
    shift = np.uint64(64 - bits)
    count: Any = 0
    at: Any = 0
    node: Any = START
    while at < len(characters):
        best: Any = EMPTY
        best_end, place = at, at
        while place < len(characters):
            key = node << 20 | characters[place]
            slot = np.int64(np.uint64(key) * np.uint64(HASH) >> shift)
            while keys[slot] != key and keys[slot] != EMPTY:
                slot = (slot + 1) & mask
            if keys[slot] == EMPTY:
                break
            node = np.int64(values[slot])
            place += 1
            if piece_at[node] != EMPTY:
                best, best_end = np.int64(piece_at[node]), place
        if best == EMPTY:
            ids[0] = UNK
            return 1
        ids[count] = best
        count += 1
        at, node = best_end, CONTINUE
    return count


@compiled
def hash_ngrams(letters: Any, ngrams: Any, ids: Any) -> int:
    """The rows of the n-grams (see ngrams.py) of a word between BEGIN and END, into `ids`; returns how many."""
    first_row, buckets = ngrams
    count = 0
    for length in LENGTHS:
        for low in range(len(letters) - length + 1):
            hashed = np.uint64(length)
            for place in range(low, low + length):
                hashed = hashed * np.uint64(PRIME) ^ np.uint64(letters[place])
            ids[count] = first_row + np.int64((hashed * np.uint64(MIX) >> np.uint64(SHIFT)) % np.uint64(buckets))
            count += 1
    return count


@compiled
def look_up(ids: Any, count: Any, features: Any, features_scale: Any, seen: Any) -> None:
    """Write the units' rows of `features`, with their scales multiplied in, into `seen`."""
    for place in range(count):
        row, scale = features[ids[place]], features_scale[ids[place]]
        for column in range(len(row)):
            seen[place, column] = scale * np.float32(row[column])


@compiled
def compare(mixed: Any, count: Any, share: Any, scores: Any) -> None:
    """Q Kᵀ less the largest of each row, into the flat `scores`; `mixed` is A_n times what was seen but for `share`."""
    width = mixed.shape[1] // 2
    for place in range(count):
        most = np.float32(-np.inf)
        row = scores[place * count : (place + 1) * count]
        for other in range(count):
            total = np.float32(0)
            for column in range(width):
                total += mixed[place, column] * mixed[other, width + column]
            row[other] = total * (share[place] * share[other])
            most = max(most, row[other])
        for other in range(count):
            row[other] -= most


@compiled
def exponentials(x: Any, powers: Any) -> None:
    """exp(x) in place for x <= 0: 2^k times a polynomial, relative error 1e-7. The library's exp would be called for
    one number at a time; this runs along the vector. The coefficients are those of Cephes' expf."""
    as_floats = powers.view(np.float32)
    for place in range(len(x)):
        bounded = max(x[place], np.float32(-87))
        k = np.floor(bounded * np.float32(1.44269504) + np.float32(0.5))
        r = bounded - k * np.float32(0.693359375) + k * np.float32(2.12194440e-4)
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        x[place] = p * r * r + r + np.float32(1)
        powers[place] = (np.int32(k) + np.int32(127)) << np.int32(23)
    for place in range(len(x)):
        x[place] *= as_floats[place]


@compiled
def weigh(scores: Any, count: Any, positions: Any, summed: Any, weights: Any) -> None:
    """w = 1ᵀ S A_n into `weights`, S being `scores` with rows that sum to 1."""
    table, share = positions
    summed[:count] = 0
    for place in range(count):
        row = scores[place * count : (place + 1) * count]
        total = np.float32(0)
        for other in range(count):
            total += row[other]
        scale = np.float32(1) / total
        for other in range(count):
            summed[other] += scale * row[other]
    weights[:count] = 0
    for place in range(count):
        scale, row = summed[place] * share[count, place], table[place]
        for other in range(count):
            weights[other] += scale * row[other]


@compiled
def through_head(vector: Any, head: Any, counting: Any, scratch: Any) -> None:
    """The word-level MLP, in place: vector += second(relu(first(vector / |vector|)))."""
    first, first_bias, second, second_bias = head
    values, hidden = scratch
    scale = np.float32(1) / max(length_of(vector), MIN_LENGTH)
    for column in range(len(vector)):
        values[column] = scale * vector[column]
    sum_rows(counting[: len(vector)], values, first, hidden)
    for node in range(len(hidden)):
        hidden[node] = max(hidden[node] + first_bias[node], np.float32(0))
    sum_rows(counting[: len(hidden)], hidden, second, values[: len(vector)])
    for column in range(len(vector)):
        vector[column] += values[column] + second_bias[column]


@compiled
def normalise(vector: Any) -> Any:
    """Bring `vector` to unit length; returns the length it had."""
    length = length_of(vector)
    scale = np.float32(1) / max(length, MIN_LENGTH)
    for column in range(len(vector)):
        vector[column] *= scale
    return length


@compiled
def length_of(vector: Any) -> Any:
    """The Euclidean length of a vector, in float32."""
    total = np.float32(0)
    for column in range(len(vector)):
        total += vector[column] * vector[column]
    return np.sqrt(total)


@compiled_exactly
def add_up(vectors: Any, chosen: Any, ends: Any, result: Any) -> Any:
    """Sums of rows (texts/sums.py): into each row of `result` vectors[chosen] from its end to the next, in order."""
    for row in range(len(result)):
        for place in range(ends[row], ends[row + 1]):
            vector = vectors[chosen[place]]
            for number in range(len(vector)):
                result[row, number] += vector[number]
