"use strict";
// Encodes text with the vocabulary of the page, as the Python package does. Special tokens are cut out if
// they are allowed. The rest is split by the expressions of the pattern, one after the other. In each piece
// the leftmost pair of the lowest rank is merged, until no pair has a rank.
class Encoder {
  constructor(vocabulary) {
    this.tokens = new Map(Object.entries(vocabulary.tokens).map(([id, token]) => [Number(id), token]));
    this.special = new Map(Object.entries(vocabulary.special));
    this.specialIds = new Set(this.special.values());
    this.expressions = (vocabulary.pattern || []).map((source) => new RegExp(source, "gu"));
    this.canSplit = vocabulary.pattern !== null;
    this.byteOf = Encoder.byteTable();
    this.idOfByte = new Array(256);
    for (const [id, token] of this.tokens) {
      if (!this.specialIds.has(id) && token.length === 1) this.idOfByte[this.byteOf.get(token)] = id;
    }
    this.merges = vocabulary.merges;
    this.merged = vocabulary.merged;
    this.rankOf = new Map(); // left -> right -> rank
    this.madeBy = new Map(); // id -> the first rank that makes it
    for (let rank = 0; rank < this.merged.length; rank++) {
      const left = this.merges[2 * rank];
      if (!this.rankOf.has(left)) this.rankOf.set(left, new Map());
      this.rankOf.get(left).set(this.merges[2 * rank + 1], rank);
      if (!this.madeBy.has(this.merged[rank])) this.madeBy.set(this.merged[rank], rank);
    }
    const longestFirst = [...this.special.keys()].sort((a, b) => [...b].length - [...a].length || (a < b ? -1 : 1));
    const quoted = longestFirst.map((token) => token.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&"));
    this.specials = quoted.length ? new RegExp(quoted.join("|"), "gu") : null;
    this.known = new Map(); // piece -> ids
    this.whole = new Map(Object.entries(vocabulary.whole)); // piece -> its id, without merging
  }

  // From GPT-2's characters back to the bytes.
  static byteTable() {
    const table = new Map();
    let n = 0;
    for (let value = 0; value < 256; value++) {
      const prints = (value > 0x20 && value < 0x7f) || (value > 0xa0 && value !== 0xad);
      table.set(String.fromCharCode(prints ? value : 0x100 + n++), value);
    }
    return table;
  }

  bytesOf(id) {
    return Uint8Array.from(this.tokens.get(id), (character) => this.byteOf.get(character));
  }

  // The matches and the gaps between them.
  static cut(expression, text) {
    const pieces = [];
    let end = 0;
    for (const match of text.matchAll(expression)) {
      if (match.index > end) pieces.push(text.slice(end, match.index));
      if (match[0]) pieces.push(match[0]);
      end = match.index + match[0].length;
    }
    if (end < text.length) pieces.push(text.slice(end));
    return pieces;
  }

  split(text) {
    let pieces = text ? [text] : [];
    for (const expression of this.expressions) pieces = pieces.flatMap((piece) => Encoder.cut(expression, piece));
    return pieces;
  }

  encode(text, allowSpecial = false) {
    text = text.toWellFormed ? text.toWellFormed() : text.replace(/[\ud800-\udfff]/gu, "\ufffd");
    const ids = [];
    let end = 0;
    const ordinary = (part) => this.split(part).forEach((piece) => this.piece(piece).forEach((id) => ids.push(id)));
    for (const match of allowSpecial && this.specials ? text.matchAll(this.specials) : []) {
      ordinary(text.slice(end, match.index));
      ids.push(this.special.get(match[0]));
      end = match.index + match[0].length;
    }
    ordinary(text.slice(end));
    return ids;
  }

  piece(text) {
    if (this.whole.has(text)) return [this.whole.get(text)];
    let ids = this.known.get(text);
    if (ids === undefined) {
      ids = this.merge(Array.from(new TextEncoder().encode(text), (value) => this.idOfByte[value]));
      if (this.known.size > 50000) this.known.clear();
      if (text.length < 64) this.known.set(text, ids);
    }
    return ids;
  }

  rank(left, right) {
    const ranks = this.rankOf.get(left);
    const rank = ranks && ranks.get(right);
    return rank === undefined ? Infinity : rank;
  }

  // A heap of (rank, place) and a linked list of places: O(n log n).
  merge(ids) {
    const n = ids.length;
    if (n < 2) return ids;
    const previous = new Int32Array(n), next = new Int32Array(n), heap = [];
    const less = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
    const push = (place) => {
      const rank = this.rank(ids[place], ids[next[place]]);
      if (rank === Infinity) return;
      let i = heap.push([rank, place]) - 1;
      while (i > 0 && less(heap[i], heap[(i - 1) >> 1])) {
        const up = (i - 1) >> 1;
        [heap[i], heap[up]] = [heap[up], heap[i]];
        i = up;
      }
    };
    const pop = () => {
      const top = heap[0], last = heap.pop();
      if (heap.length) {
        heap[0] = last;
        for (let i = 0; ; ) {
          let least = 2 * i + 1;
          if (least >= heap.length) break;
          if (least + 1 < heap.length && less(heap[least + 1], heap[least])) least++;
          if (!less(heap[least], heap[i])) break;
          [heap[i], heap[least]] = [heap[least], heap[i]];
          i = least;
        }
      }
      return top;
    };
    for (let i = 0; i < n; i++) {
      previous[i] = i - 1;
      next[i] = i + 1 < n ? i + 1 : -1;
    }
    for (let i = 0; i + 1 < n; i++) push(i);
    while (heap.length) {
      const [rank, place] = pop(), right = next[place];
      if (ids[place] < 0 || right < 0 || this.rank(ids[place], ids[right]) !== rank) continue;
      ids[place] = this.merged[rank];
      ids[right] = -1;
      next[place] = next[right];
      if (next[place] >= 0) {
        previous[next[place]] = place;
        push(place);
      }
      if (previous[place] >= 0) push(previous[place]);
    }
    return ids.filter((id) => id >= 0);
  }
}
