// Words that are run together (lovevec/near/joined.py): the cheapest cut of a string into known words, and the places where
// one of them may be damaged.

const MULTIPLE = 720720; // which all lengths from 1 to 16 divide

export class JoinedWords {
  // words: Map of each word that may be run together to {row, cost}; join: what a lacking blank costs; limits: near.json's.
  constructor(words, join, limits) {
    Object.assign(this, limits, { words, join });
  }

  // {cost, words: [[row, end], …]} of a string, given as its characters; null where it cannot be cut.
  cut(characters) {
    const { length } = characters;
    return length >= this.MIN_JOINED_LENGTH ? this.chains(length, this.segments(characters))[length] : null;
  }

  // The words that stand in a string, but for the whole: [start, end, row, cost].
  segments(characters) {
    const found = [];
    for (let start = 0; start < characters.length; start += 1) {
      let text = "";
      for (let end = start + 1; end <= Math.min(characters.length, start + this.MAX_PART); end += 1) {
        text += characters[end - 1];
        const word = end - start < characters.length ? this.words.get(text) : undefined;
        if (word) found.push([start, end, word.row, word.cost]);
      }
    }
    return found;
  }

  // For each length the cheapest cut of so many letters from the begin, or null. Fewer words win, then a longer last one.
  chains(length, segments) {
    const most = this.MAX_PARTS;
    const best = Array.from({ length: most + 1 }, () => Array.from({ length: length + 1 }, () => null));
    best[0][0] = { cost: 0 };
    for (const [start, end, row, cost] of segments) {
      for (let count = 0; count < most; count += 1) {
        const before = best[count][start];
        if (!before) continue;
        const total = before.cost + cost + (count ? this.join : 0);
        if (total < (best[count + 1][end]?.cost ?? Infinity)) best[count + 1][end] = { cost: total, start, row };
      }
    }
    return Array.from({ length: length + 1 }, (_, until) => {
      let count = 0;
      for (let other = 1; until && other <= most; other += 1) {
        if ((best[other][until]?.cost ?? Infinity) < (count ? best[count][until].cost : Infinity)) count = other;
      }
      if (!count) return null;
      const words = [];
      for (let [left, end] = [count, until]; left > 0; left -= 1) {
        const { start, row } = best[left][end];
        words.unshift([row, end]);
        end = start;
      }
      return { cost: best[count][until].cost, words };
    });
  }

  // Where a damaged word may stand, from `start` to `end`, the words before and behind it, and what they cost: behind the
  // beginnings that cost least a letter, before such ends, and between the best of both.
  gaps(characters) {
    const { length } = characters;
    const segments = this.segments(characters);
    const backward = segments.map(([start, end, row, cost]) => [length - end, length - start, row, cost]);
    backward.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const beginnings = this.cheapest(length, this.chains(length, segments));
    const ends = this.cheapest(length, this.chains(length, backward));
    const found = beginnings.map(([start, { cost, words }]) => (
      { start, end: length, before: words, behind: [], cost: cost + this.join }));
    for (const [from, { cost, words }] of ends) {
      found.push({ start: 0, end: length - from, before: [], behind: turned(words, length), cost: cost + this.join });
    }
    if (beginnings.length && ends.length) {
      const [[start, first], [from, last]] = [beginnings[0], ends[0]];
      const cost = first.cost + last.cost + 2 * this.join;
      found.push({ start, end: length - from, before: first.words, behind: turned(last.words, length), cost });
    }
    return found.filter(({ start, end, before, behind }) =>
      end - start >= this.MIN_DAMAGED_PART && before.length + behind.length < this.MAX_PARTS);
  }

  cheapest(length, chains) {
    const each = ([letters, { cost }]) => Math.floor((cost * MULTIPLE) / letters);
    return [...chains.entries()]
      .filter(([letters, chain]) =>
        chain && letters <= length - this.MIN_DAMAGED_PART && letters * this.MIN_SHARE >= length &&
        chain.cost <= letters * this.MAX_COST_PER_LETTER)
      .sort((one, other) => each(one) - each(other) || other[0] - one[0])
      .slice(0, this.BEGINNINGS);
  }
}

// Words of a chain from the end on, as they stand in the string.
function turned(words, length) {
  const starts = [0, ...words.slice(0, -1).map(([, end]) => end)].reverse();
  return words.map(([row]) => row).reverse().map((row, place) => [row, length - starts[place]]);
}

// Where words that are run together stand in a string, by where they end in what is compared, in which of a letter that stands
// three times or more in a row two are kept; where nobody knows, each has the whole.
export function spansOf(string, ends) {
  const [characters, letters] = [Array.from(string), Array.from(string.toLowerCase())];
  const kept = [];
  letters.forEach((letter, place) => {
    if (!(place > 1 && letter === letters[place - 1] && letter === letters[place - 2])) kept.push(place);
  });
  if (letters.length !== characters.length || ends.at(-1) !== kept.length || new Set(ends).size < ends.length) {
    return ends.map(() => [0, characters.length]);
  }
  const starts = [0, ...ends.slice(0, -1).map((end) => kept[end])];
  return starts.map((start, place) => [start, starts[place + 1] ?? characters.length]);
}
