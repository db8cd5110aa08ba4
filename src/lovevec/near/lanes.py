"""The cheapest alignments of a string with its candidates, compiled: see alignment.py for what is computed.

An alignment is a row of D after the other, all places of the string at once in the lanes of a vector:

    D[i, j] = min over k <= j of t[k] + E[j] - E[k]

where t are the ways that take a letter of the word or two, and E[j] is what the string's first j letters cost if they
are too many. So a row is a few additions and minima of vectors, and a running minimum in log2(lanes) steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from lovevec.engine.compile import compiled
from lovevec.near.alignment import FAR
from lovevec.near.symbols import KIND

EXTRA, EXTRA_VOWEL, EXTRA_JOINT, EXTRA_TWIN = (
    KIND[name] for name in ("extra", "extra vowel", "extra joint", "extra twin")
)
FIRST, LAST, SWAP = KIND["first"], KIND["last"], KIND["swap"]
FARTHEST, HIGHEST = int(FAR), (1 << 15) - 1
SYMBOLS = 256
NARROW, WIDEST = 16, 32  # lanes: as many as most strings have letters, and as any has
# Rows of what is known of a string, lane by lane.
LETTER, EXTRA_FIRST, EXTRA_WITHIN, EXTRA_LAST = range(4)
# What a letter or a pair of letters of a word costs at each place of the string.
OTHER, ONE_TWO, TWO_ONE, TWO_TWO = range(4)
BEYOND = 8000  # what a letter behind the string's end costs


def scratch() -> tuple[NDArray[Any], ...]:
    """Working memory, reused for one string after the other: what is known of the string, what letters and spellings
    cost there, which of these costs are those of the string at hand, and its spellings of two letters."""
    profile = np.full((4, SYMBOLS, WIDEST), FAR)
    marks = np.full((2, SYMBOLS), -1, dtype=np.int64)
    return np.zeros((4, WIDEST), dtype=np.int16), profile, marks, np.zeros(WIDEST, dtype=np.uint8)


def alignment_in(lanes: int) -> Any:
    """A function for compiled code: the least cost of turning a known word into a string of up to `lanes` letters;
    FAR + 1 where it is more than `limit`."""

    @intrinsic
    def alignment(
        typing: Any, letters: Any, start: Any, size: Any, string: Any, length: Any, profile: Any, costs: Any, limit: Any
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def data_of(kind: Any, value: Any) -> Any:
                return context.make_array(kind)(context, builder, value).data

            kinds = (letters, string, profile, costs)
            spelled, known, prices, slips = map(data_of, kinds, (arguments[place] for place in (0, 3, 5, 6)))
            first_byte, count, last_lane, most = (arguments[place] for place in (1, 2, 4, 7))
            return _rows_of_d(builder, lanes, spelled, first_byte, count, known, last_lane, prices, slips, most)

        whole = types.int64
        return whole(letters, whole, whole, string, whole, profile, costs, whole), generate

    return alignment


def _rows_of_d(
    builder: Any, lanes: int, spelled: Any, start: Any, size: Any, known: Any, length: Any, prices: Any, slips: Any,
    limit: Any,
) -> Any:  # fmt: skip
    """Write the instructions that compute D row by row. `spelled` points to the letters of words (three bytes each, see
    kernel.py), `known` to what is known of the string, `prices` to what letters cost there; the others are numbers."""
    short, long, byte = ir.IntType(16), ir.IntType(64), ir.IntType(8)
    vector = ir.VectorType(short, lanes)
    module = builder.module

    def call(name: str, result: Any, *values: Any) -> Any:
        kind = ir.FunctionType(result, [value.type for value in values])
        return builder.call(cgutils.get_or_insert_function(module, kind, name), values)

    def plus(one: Any, other: Any) -> Any:  # held at the highest number
        return call(f"llvm.sadd.sat.v{lanes}i16", vector, one, other)

    def least(one: Any, other: Any) -> Any:
        return call(f"llvm.smin.v{lanes}i16", vector, one, other)

    def constant(number: int) -> Any:
        return ir.Constant(vector, [number] * lanes)

    def everywhere(value: Any) -> Any:
        unset, zeros = ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
        return builder.shuffle_vector(builder.insert_element(unset, value, ir.IntType(32)(0)), unset, zeros)

    def shift(value: Any, by: int, into: Any) -> Any:
        """Lane j becomes lane j + by; the first ones are those of `into`."""
        places = [place if place < by else lanes + place - by for place in range(lanes)]
        return builder.shuffle_vector(into, value, ir.Constant(ir.VectorType(ir.IntType(32), lanes), places))

    def behind(value: Any, zero: Any, by: int) -> Any:
        """As `shift`, with `zero`, which is D[i, 0], in the last lane that becomes free."""
        return shift(value, by, builder.insert_element(constant(HIGHEST), zero, ir.IntType(32)(by - 1)))

    def load(pointer: Any, row: Any) -> Any:
        place = builder.bitcast(builder.gep(pointer, [builder.mul(row, long(WIDEST))]), vector.as_pointer())
        loaded = builder.load(place)
        loaded.align = 2
        return loaded

    def variable(value: Any) -> Any:
        return cgutils.alloca_once_value(builder, value)

    first, last, swap = (builder.load(builder.gep(slips, [long(kind)])) for kind in (FIRST, LAST, SWAP))
    string = load(known, long(LETTER))
    string_before = shift(string, 1, constant(-1))
    within, at_last = load(known, long(EXTRA_WITHIN)), load(known, long(EXTRA_LAST))
    most = builder.trunc(limit, short)
    row, row_before = variable(load(known, long(EXTRA_FIRST))), variable(constant(HIGHEST))
    zero, zero_before = variable(short(0)), variable(short(HIGHEST))
    least_before, previous = variable(short(0)), variable(byte(0))
    number, result = variable(long(0)), variable(long(FARTHEST + 1))
    loop, go_on, done = (builder.append_basic_block(name) for name in ("letter", "next", "done"))
    builder.branch(loop)
    builder.position_at_end(loop)

    i = builder.load(number)
    place = builder.add(start, builder.mul(i, long(3)))
    letter, lost_kind, pair = (
        builder.load(builder.gep(spelled, [builder.add(place, long(offset))])) for offset in range(3)
    )
    is_last = builder.icmp_signed("==", i, builder.sub(size, long(1)))
    none = short(0)
    at_end = builder.select(is_last, last, none)
    at_one = builder.add(at_end, builder.select(builder.icmp_signed("==", i, long(0)), first, none))
    at_two = builder.add(at_end, builder.select(builder.icmp_signed("==", i, long(1)), first, none))
    lost = builder.add(builder.load(builder.gep(slips, [builder.zext(lost_kind, long)])), at_one)
    d, d_before, z, z_before = map(builder.load, (row, row_before, zero, zero_before))
    z_now = call("llvm.sadd.sat.i16", short, z, lost)

    def price(what: int, of: Any) -> Any:
        return load(prices, builder.add(builder.zext(of, long), long(what * SYMBOLS)))

    other = price(OTHER, letter)
    slip = builder.select(builder.icmp_signed("==", other, constant(0)), constant(0), everywhere(at_one))
    best = plus(behind(d, z, 1), builder.add(other, slip))
    best = least(best, plus(d, everywhere(lost)))
    best = least(best, plus(behind(d, z, 2), builder.add(price(ONE_TWO, letter), everywhere(at_one))))
    one_back, two_back = behind(d_before, z_before, 1), behind(d_before, z_before, 2)
    best = least(best, plus(one_back, builder.add(price(TWO_ONE, pair), everywhere(at_two))))
    best = least(best, plus(two_back, builder.add(price(TWO_TWO, pair), everywhere(at_two))))
    earlier = builder.load(previous)
    differ = builder.icmp_unsigned("!=", letter, earlier)  # two letters, both of them read
    for one_of_them in (letter, earlier):
        differ = builder.and_(differ, builder.icmp_unsigned("!=", one_of_them, byte(0)))
    swapped = builder.select(differ, builder.add(swap, at_two), short(FARTHEST))
    crossed = builder.and_(
        builder.icmp_signed("==", string, everywhere(builder.zext(earlier, short))),
        builder.icmp_signed("==", string_before, everywhere(builder.zext(letter, short))),
    )
    best = least(best, plus(two_back, builder.select(crossed, everywhere(swapped), constant(FARTHEST))))
    extra = builder.select(is_last, at_last, within)
    best = builder.sub(best, extra)
    step = 1
    while step < lanes:
        best = least(best, shift(best, step, constant(HIGHEST)))
        step *= 2
    now = plus(least(best, everywhere(z_now)), extra)
    lowest = call(f"llvm.vector.reduce.smin.v{lanes}i16", short, now)
    lowest = builder.select(builder.icmp_signed("<", z_now, lowest), z_now, lowest)
    hopeless = builder.and_(
        builder.icmp_signed(">", lowest, most), builder.icmp_signed(">", builder.load(least_before), most)
    )
    builder.cbranch(hopeless, done, go_on)

    builder.position_at_end(go_on)
    for goal, value in (
        *((row, now), (row_before, d), (zero, z_now), (zero_before, z)),
        *((least_before, lowest), (previous, letter), (number, builder.add(i, long(1)))),
    ):
        builder.store(value, goal)
    cost = builder.extract_element(now, builder.trunc(builder.sub(length, long(1)), ir.IntType(32)))
    final = builder.append_basic_block("final")
    builder.cbranch(is_last, final, loop)
    builder.position_at_end(final)
    builder.store(builder.sext(cost, long), result)
    builder.branch(done)
    builder.position_at_end(done)
    return builder.load(result)


in_narrow, in_wide = alignment_in(NARROW), alignment_in(WIDEST)


@compiled
def describe(letters: Any, length: Any, kinds: Any, two: Any, string: Any, string_two: Any) -> Any:
    """Write what is known of a string (its letters, and what extra letters cost up to each place) into `string`, and
    its spellings of two letters into `string_two`."""
    slip_costs, classes = kinds
    total = 0
    first, last = slip_costs[FIRST], slip_costs[LAST]
    for place in range(NARROW if length <= NARROW else WIDEST):
        if place >= length:
            string[LETTER, place] = -1
            total += BEYOND if place == length else 0
        else:
            letter = letters[place]
            string[LETTER, place] = letter
            kind = classes[letter]
            if letter and (
                (place > 0 and letters[place - 1] == letter) or (place + 1 < length and letters[place + 1] == letter)
            ):
                total += slip_costs[EXTRA_TWIN]
            elif kind == 1:
                total += slip_costs[EXTRA_VOWEL]
            elif kind == 3:
                total += slip_costs[EXTRA_JOINT]
            else:
                total += slip_costs[EXTRA]
            string_two[place] = two[letters[place - 1], letter] if place else 0
        string[EXTRA_WITHIN, place] = total
        string[EXTRA_FIRST, place] = min(total + first * min(place + 1, length), FARTHEST)
        string[EXTRA_LAST, place] = total + last * min(place + 1, length)


@compiled
def align(
    row: Any,
    letters: Any,
    length: Any,
    best: Any,
    found: Any,
    known: Any,
    kinds: Any,
    spelled: Any,
    own: Any,
    worth: Any,
    places: Any,
    costs: Any,
) -> Any:
    """Align the first `found` candidates with a string; write the cheapest ones into places[row] and their costs into
    costs[row], cheapest first."""
    word_letters, starts, rank_costs = known
    substitution, one, two, spellings = spelled
    string, profile, of_row, string_two = own
    describe(letters, length, kinds, two, string, string_two)
    kept, most = 0, places.shape[1]
    for candidate in range(found):
        word = best[candidate] & 0xFFFFFFFF
        base = rank_costs[word]
        limit = FARTHEST
        if kept:
            limit = costs[row, 0] + worth - base
            if kept == most:
                limit = min(limit, costs[row, most - 1] - base)
            if limit < 0:
                continue
            limit = min(limit, FARTHEST)
        start, end = starts[word], starts[word + 1]
        for place in range(start, end, 3):
            letter, pair = word_letters[place], word_letters[place + 2]
            if of_row[0, letter] != row:
                of_row[0, letter] = row
                single = one[letter]
                for lane in range(length):
                    profile[OTHER, letter, lane] = substitution[letter, letters[lane]]
                    profile[ONE_TWO, letter, lane] = spellings[single, string_two[lane]]
            if pair and of_row[1, pair] != row:
                of_row[1, pair] = row
                for lane in range(length):
                    profile[TWO_ONE, pair, lane] = spellings[pair, one[letters[lane]]]
                    profile[TWO_TWO, pair, lane] = spellings[pair, string_two[lane]]
        size = (end - start) // 3
        if length <= NARROW:
            cost = in_narrow(word_letters, start, size, string, length, profile, kinds[0], limit)
        else:
            cost = in_wide(word_letters, start, size, string, length, profile, kinds[0], limit)
        if cost > limit:
            continue
        cost += base
        place = min(kept, most - 1)
        if kept == most and (cost > costs[row, place] or (cost == costs[row, place] and word > places[row, place])):
            continue
        while place > 0 and (
            costs[row, place - 1] > cost or (costs[row, place - 1] == cost and places[row, place - 1] > word)
        ):
            costs[row, place], places[row, place] = costs[row, place - 1], places[row, place - 1]
            place -= 1
        costs[row, place], places[row, place] = cost, word
        kept = min(kept + 1, most)
