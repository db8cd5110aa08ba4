// The map: frequent words on a plane (lab/runs/map.py made it), where a typed word lands among them, and its way there.

const SIDE = 32000;
const NEAR = SIDE / 6; // neighbors farther than this from the nearest one say nothing about the place
const SHARP = 25; // how much more a neighbor counts that is nearer
const CLOSEST = 60;
const LABELS = 90;
const ROUND = 2.5; // pixels from which a dot is no square
const BESIDE = [[0, 0], [1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [0, 2], [0, -2]]; // where a near word's label may stand

export class WordMap {
  constructor(canvas, buffer) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    const count = new DataView(buffer).getUint32(0, true);
    const plane = new Int16Array(buffer, 4, 2 * count);
    [this.x, this.y] = [plane.subarray(0, count), plane.subarray(count)];
    this.region = new Uint8Array(buffer, 4 + 4 * count, count);
    this.words = new TextDecoder().decode(new Uint8Array(buffer, 4 + 5 * count)).split("\n");
    this.row = new Map(this.words.map((word, row) => [word, row]));
    this.byRegion = [];
    this.region.forEach((region, row) => (this.byRegion[region] ??= []).push(row));
    this.view = { x: 0, y: 0, zoom: 1 }; // the place in the middle; 1 shows all
    this.goal = null;
    this.marks = [];
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  // Where a word lies: its own place, or among those of its neighbors [{word, cosine}] that are on the map.
  place(word, neighbors) {
    const own = this.row.get(word);
    if (own !== undefined) return this.at(own);
    const known = neighbors.filter((one) => this.row.has(one.word));
    if (!known.length) return null;
    const first = this.at(this.row.get(known[0].word));
    const sum = { x: 0, y: 0, weight: 0 };
    for (const { word: name, cosine } of known) {
      const there = this.at(this.row.get(name));
      if (Math.hypot(there.x - first.x, there.y - first.y) > NEAR) continue;
      const weight = Math.exp(SHARP * (cosine - known[0].cosine));
      sum.x += weight * there.x;
      sum.y += weight * there.y;
      sum.weight += weight;
    }
    return { x: sum.x / sum.weight, y: sum.y / sum.weight };
  }

  at(row) {
    return { x: this.x[row], y: this.y[row] };
  }

  // marks: [{word, place, path: [{x, y}], near: [word], colour}]; the view follows them.
  show(marks) {
    this.marks = marks.filter((mark) => mark.place);
    if (this.marks.length) this.goal = this.around(this.marks.flatMap((mark) => [mark.place, ...this.beside(mark)]));
    this.draw();
  }

  // Where the nearest words lie that are not far off.
  beside({ place, near }) {
    const rows = near.map((word) => this.row.get(word)).filter((row) => row !== undefined);
    return rows.map((row) => this.at(row)).filter(({ x, y }) => Math.hypot(x - place.x, y - place.y) < NEAR / 2);
  }

  around(places) {
    const [xs, ys] = [places.map((place) => place.x), places.map((place) => place.y)];
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    const spread = Math.max(right - left, high - low, SIDE / 12);
    return { x: (left + right) / 2, y: (low + high) / 2, zoom: Math.min(14, SIDE / spread) };
  }

  whole() {
    this.goal = { x: 0, y: 0, zoom: 1 };
    this.draw();
  }

  zoomBy(factor, at = null) {
    this.goal = null;
    const zoom = Math.min(CLOSEST, Math.max(0.7, this.view.zoom * factor));
    if (at) {
      const place = this.toMap(at.x, at.y);
      const kept = this.view.zoom / zoom;
      this.view.x = place.x + (this.view.x - place.x) * kept;
      this.view.y = place.y + (this.view.y - place.y) * kept;
    }
    this.view.zoom = zoom;
    this.draw();
  }

  moveBy(x, y) {
    this.goal = null;
    this.view.x -= x / this.scale;
    this.view.y += y / this.scale;
    this.draw();
  }

  get scale() {
    return ((Math.min(this.width, this.height) / 2) * 0.96 * this.view.zoom) / SIDE;
  }

  toScreen({ x, y }) {
    return [this.width / 2 + (x - this.view.x) * this.scale, this.height / 2 - (y - this.view.y) * this.scale];
  }

  toMap(left, top) {
    return { x: this.view.x + (left - this.width / 2) / this.scale, y: this.view.y - (top - this.height / 2) / this.scale };
  }

  listen() {
    const { canvas } = this;
    const touching = new Map();
    const place = (event) => ({ x: event.offsetX, y: event.offsetY });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      touching.set(event.pointerId, place(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = touching.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      const other = [...touching].find(([id]) => id !== event.pointerId)?.[1];
      touching.set(event.pointerId, now);
      if (!other) return this.moveBy(now.x - before.x, now.y - before.y);
      const apart = (one) => Math.max(20, Math.hypot(one.x - other.x, one.y - other.y));
      this.zoomBy(apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => touching.delete(event.pointerId));
    }
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 400), place(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const step = 60;
      const does = {
        ArrowLeft: () => this.moveBy(step, 0),
        ArrowRight: () => this.moveBy(-step, 0),
        ArrowUp: () => this.moveBy(0, step),
        ArrowDown: () => this.moveBy(0, -step),
        "+": () => this.zoomBy(1.5),
        "=": () => this.zoomBy(1.5),
        "-": () => this.zoomBy(1 / 1.5),
        0: () => this.whole(),
      }[event.key];
      if (!does) return;
      event.preventDefault();
      does();
    });
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height] = [width, height];
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  draw() {
    if (this.waiting || !this.width) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.goal && this.approach()) this.draw();
      this.paint();
    });
  }

  // A step of the view towards its goal; whether there is more to go.
  approach() {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const { view, goal } = this;
    const part = still ? 1 : 0.18;
    view.x += (goal.x - view.x) * part;
    view.y += (goal.y - view.y) * part;
    view.zoom *= (goal.zoom / view.zoom) ** part;
    const far = Math.hypot(goal.x - view.x, goal.y - view.y) * this.scale;
    if (far > 0.5 || Math.abs(Math.log(goal.zoom / view.zoom)) > 0.01) return true;
    Object.assign(view, goal);
    this.goal = null;
    return false;
  }

  paint() {
    const { context, width, height } = this;
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    context.clearRect(0, 0, width, height);
    this.paintDots(colour("--dot-light"));
    const taken = new Grid(width, height);
    this.paintMarks(colour, taken);
    this.paintLabels(colour, taken);
    this.paintNames(colour);
  }

  paintDots(light) {
    const { context, width, height, scale, view } = this;
    const size = Math.min(6, 0.9 + 0.9 * Math.sqrt(view.zoom));
    const [left, top] = [width / 2 - view.x * scale, height / 2 + view.y * scale];
    this.byRegion.forEach((rows, region) => {
      context.fillStyle = `hsl(${(region * 137.5) % 360} 38% ${light})`;
      for (const row of rows) {
        const [x, y] = [left + this.x[row] * scale, top - this.y[row] * scale];
        if (x < -5 || y < -5 || x > width + 5 || y > height + 5) continue;
        if (size < ROUND) context.fillRect(x - size / 2, y - size / 2, size, size);
        else dot(context, x, y, size / 2);
      }
    });
  }

  // The nearest words of the marks first, then others in their order (lab/runs/map.py), where there is room.
  paintLabels(colour, taken) {
    const { context } = this;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.strokeStyle = colour("--panel");
    context.lineWidth = 3;
    context.fillStyle = colour("--ink");
    context.font = `600 12px ${colour("--sans")}`;
    const near = this.marks.flatMap((mark) => mark.near).map((word) => this.row.get(word)).filter((row) => row !== undefined);
    for (const row of near) dot(context, ...this.toScreen(this.at(row)), 3);
    for (const row of near) BESIDE.some(([left, down]) => this.paintLabel(row, taken, left, down));
    context.fillStyle = colour("--soft");
    context.font = `12px ${colour("--sans")}`;
    let painted = 0;
    for (let row = 0; row < this.words.length && painted < LABELS; row += 1) painted += this.paintLabel(row, taken);
  }

  // To the right of its dot, or a label's width to the left, or some lines down; whether there was room.
  paintLabel(row, taken, left = 0, down = 0) {
    const wide = 7 * this.words[row].length + 8;
    const [at, y] = this.toScreen(this.at(row));
    const [x, top] = [at - left * wide, y + 18 * down];
    if (x < 0 || top < 8 || x > this.width - wide || top > this.height - 8 || !taken.free(x, top - 9, wide, 18)) return 0;
    taken.take(x, top - 9, wide, 18);
    this.context.strokeText(this.words[row], x + 4, top);
    this.context.fillText(this.words[row], x + 4, top);
    return 1;
  }

  paintMarks(colour, taken) {
    const { context } = this;
    for (const mark of this.marks) {
      const way = [...mark.path, mark.place].map((place) => this.toScreen(place));
      const [x, y] = way.at(-1);
      context.strokeStyle = context.fillStyle = colour(mark.colour);
      context.lineWidth = 1.5;
      context.setLineDash([2, 4]);
      context.beginPath();
      way.forEach(([left, top], step) => (step ? context.lineTo(left, top) : context.moveTo(left, top)));
      context.stroke();
      context.setLineDash([]);
      for (const [left, top] of way.slice(0, -1)) dot(context, left, top, 2.5);
      taken.take(x - 8, y - 14, 9 * Array.from(mark.word).length + 34, 28);
    }
  }

  // The typed words, above all else.
  paintNames(colour) {
    const { context } = this;
    context.font = `600 15px ${colour("--sans")}`;
    let before = null;
    for (const mark of this.marks) {
      const [x, y] = this.toScreen(mark.place);
      const close = before && Math.hypot(x - before[0], y - before[1]) < 24;
      before = [x, y];
      context.fillStyle = colour(mark.colour);
      dot(context, x, y, 6);
      context.lineWidth = 2;
      context.strokeStyle = colour("--panel");
      context.stroke();
      context.lineWidth = 5;
      context.strokeText(mark.word, x + 11, close ? y + 20 : y);
      context.fillText(mark.word, x + 11, close ? y + 20 : y);
    }
  }
}

function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

// Which parts of the picture hold a label already.
class Grid {
  constructor(width, height) {
    this.columns = Math.ceil(width / 8) + 1;
    this.cells = new Uint8Array(this.columns * (Math.ceil(height / 8) + 1));
  }

  *inside(x, y, width, height) {
    for (let row = Math.max(0, Math.floor(y / 8)); row <= (y + height) / 8; row += 1) {
      for (let column = Math.max(0, Math.floor(x / 8)); column <= Math.min((x + width) / 8, this.columns - 1); column += 1) {
        yield row * this.columns + column;
      }
    }
  }

  free(...box) {
    for (const cell of this.inside(...box)) if (this.cells[cell]) return false;
    return true;
  }

  take(...box) {
    for (const cell of this.inside(...box)) this.cells[cell] = 1;
  }
}
