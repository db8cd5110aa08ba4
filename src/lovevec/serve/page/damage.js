// Damage for the slider: slips of typing or of scanning, the same ones for the same word, number and draw.

// Keys around each key of a US keyboard, and what scanners take letters for.
const KEYS = {
  q: "wa", w: "eqs", e: "rwd", r: "etf", t: "ryg", y: "tuh", u: "iyj", i: "ouk", o: "ipl", p: "ol", a: "sqz", s: "adwx", d: "fsec",
  f: "dgrc", g: "fhtb", h: "gjyn", j: "hkum", k: "jlim", l: "kop", z: "xas", x: "zcds", c: "xvdf", v: "cbfg", b: "vngh", n: "bmhj", m: "nkj",
};
const SCANS = {
  a: ["o"], b: ["6", "h"], c: ["e"], d: ["cl"], e: ["c"], g: ["9", "q"], h: ["b", "li"], i: ["1", "l"], l: ["1", "i"], m: ["rn"], n: ["ri"],
  o: ["0"], q: ["9"], s: ["5", "8"], t: ["f"], u: ["ii"], w: ["vv"], z: ["2"], r: ["k"],
};

export function damage(word, kind, slips, draw = 0) {
  const random = seeded(`${word} ${kind} ${draw}`);
  let letters = Array.from(word);
  for (let slip = 0; slip < slips; slip += 1) letters = (kind === "ocr" ? scan : mistype)(letters, random);
  return letters.join("");
}

function mistype(letters, random) {
  if (letters.length < 2) return letters;
  const at = 1 + Math.floor(random() * (letters.length - 1)); // the first letter is nearly always right
  const next = letters[at];
  const before = letters.slice(0, at);
  const after = letters.slice(at + 1);
  const kind = Math.floor(random() * 4);
  if (kind === 0 && after.length && after[0] !== next) return [...before, after[0], next, ...after.slice(1)];
  if (kind === 1 && letters.length > 3) return [...before, ...after];
  if (kind === 2) return [...before, next, next, ...after];
  const keys = KEYS[next.toLowerCase()];
  return keys ? [...before, keys[Math.floor(random() * keys.length)], ...after] : [...before, next, next, ...after];
}

function scan(letters, random) {
  const places = letters.flatMap((letter, place) => (SCANS[letter.toLowerCase()] ? [place] : []));
  if (!places.length) return letters;
  const at = places[Math.floor(random() * places.length)];
  const others = SCANS[letters[at].toLowerCase()];
  return [...letters.slice(0, at), ...others[Math.floor(random() * others.length)], ...letters.slice(at + 1)];
}

// Numbers between 0 and 1 that depend on the text alone (mulberry32 over FNV-1a).
function seeded(text) {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
