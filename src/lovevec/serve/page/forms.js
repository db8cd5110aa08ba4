// Forms of one and the same word (lovevec/near/forms.py): what is looked for among the known words before anything is read.

import { isAlpha, isAscii, isCombining, size, strip, translate } from "./strings.js";

export class Forms {
  // tables: strings.json; kinds: of strings that are no words (parts.js)
  constructor(tables, kinds) {
    Object.assign(this, tables.forms, { blanks: tables.blanks, digitsApart: kinds.digitsApart });
    this.isOfAKind = (string) => kinds.kindOf(kinds.plainForm(string)) !== null;
  }

  // The row of the known word that a string is a form of (`get` gives -1 for none), and that form; else -1 and the string as
  // it is to be read further.
  find(word, get) {
    if (/^[A-Za-z0-9]+$/.test(word)) {
      const row = get(word);
      return { row: row >= 0 ? row : get(word.toLowerCase()), form: word };
    }
    if (word.length > 2 * this.MAX_FORM_LENGTH || size(word) > this.MAX_FORM_LENGTH) return { row: -1, form: word };
    let plain = translate(word, this.same);
    if (!isAscii(plain)) plain = translate(this.digitsApart(plain).normalize("NFKC"), this.same);
    const inner = strip(plain, this.LEADING, this.TRAILING);
    const bare = strip(plain, this.blanks, this.blanks);
    for (const form of [word, plain, bare, strip(plain, this.BRACKETS, this.BRACKETS), strip(plain, "", this.TRAILING), inner]) {
      const row = form ? lookUp(form, get) : -1;
      if (row >= 0) return { row, form };
    }
    if (!isAscii(inner)) {
      const row = lookUp(withoutMarks(inner), get);
      if (row >= 0) return { row, form: inner };
    }
    if (/^[<>]/.test(plain) && this.isOfAKind(plain)) return { row: -1, form: plain };
    if (!Array.from(inner).some(isAlpha)) {
      const isFramed = inner !== plain && !this.isOfAKind(plain) && this.isOfAKind(inner); // (547), 43%!
      return { row: -1, form: isFramed ? inner : plain };
    }
    const sign = strip(plain, this.LEADING_BUT_SIGNS)[0];
    return { row: -1, form: sign === "#" || sign === "@" ? sign + inner : inner };
  }

  isBlank(word) {
    return strip(word, this.blanks, this.blanks) === "";
  }
}

function lookUp(form, get) {
  const row = get(form);
  return row >= 0 ? row : get(form.toLowerCase());
}

// Й is a letter of its own.
const withoutMarks = (word) => Array.from(word.normalize("NFC"))
  .flatMap((letter) => ("йЙ".includes(letter) ? [letter] : Array.from(letter.normalize("NFD")).filter((one) => !isCombining(one))))
  .join("");
