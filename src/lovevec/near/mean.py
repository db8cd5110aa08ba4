"""The mean over readings, compiled: known words' own rows as they are stored, unpacked on the way. To the same bits as
reader.py's, since numbers are rounded one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from lovevec.engine.kernel import compiled_exactly


@compiled_exactly
def add_packed_readings(
    vectors: Any, rows: Any, chances: Any, new: Any, codes: Any, scale: Any, levels: Any, least: Any
) -> Any:
    """vectors · new + Σ chance · row, in place; the rows are int4 (model/known_rows.py)."""
    half, odd = codes.shape[1], vectors.shape[1] % 2
    low, high = np.zeros(half, dtype=np.float32), np.zeros(half, dtype=np.float32)
    for string in range(len(vectors)):
        vector, own = vectors[string], np.float32(new[string])
        for place in range(half - odd):
            low[place], high[place] = own * vector[2 * place], own * vector[2 * place + 1]
        if odd:
            low[half - 1] = own * vector[2 * half - 2]
        for column in range(rows.shape[1]):
            if chances[string, column] < least:
                break
            row = rows[string, column]
            add_row(codes[row], scale[row], np.float32(chances[string, column]), levels, low, high)
        for place in range(half - odd):
            vector[2 * place], vector[2 * place + 1] = low[place], high[place]
        if odd:
            vector[2 * half - 2] = low[half - 1]


@compiled_exactly
def add_row(codes: Any, scale: Any, chance: Any, levels: Any, low: Any, high: Any) -> Any:
    """chance · row, two numbers a byte, the first of them into `low`. There are no more than 16 numbers in a row."""
    numbers = np.empty(16, dtype=np.float32)
    for level in range(16):
        numbers[level] = levels[level] * scale * chance
    for place in range(len(codes)):
        low[place] += numbers[codes[place] & 15]
        high[place] += numbers[codes[place] >> 4]
