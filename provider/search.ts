/** The start and the end of a match. */
export interface Match {
  start: number;
  end: number;
}

/**
 * Searches for many texts at once, in time linear in their length and in that of the searched text (Aho and Corasick's
 * automaton). `indexOf` can take the product of both, for each text.
 *
 * @returns A function that finds, at each position where a match ends, the longest match.
 */
export function searchFor(texts: readonly string[]): (text: string, from?: number) => Iterable<Match> {
  // Each state is a prefix of a text. It has the steps from it, the longest other prefix that is a suffix of it, and the length
  // of the longest text that is a suffix of it.
  const steps = new Map<number, number>();
  const shorter = [0];
  const found = [0];
  const step = (from: number, character: number): number => {
    for (let state = from; ; state = shorter[state] ?? 0) {
      const next = steps.get(state * 65_536 + character);
      if (next !== undefined) return next;
      if (state === 0) return 0;
    }
  };

  // All texts together, character by character, because a state depends on shorter states.
  let growing = texts.map((text) => ({ text, state: 0 }));
  for (let length = 1; growing.length > 0; length++) {
    growing = growing.filter(({ text }) => text.length >= length);
    for (const one of growing) {
      const character = one.text.charCodeAt(length - 1);
      const key = one.state * 65_536 + character;
      let next = steps.get(key);
      if (next === undefined) {
        const end = one.state === 0 ? 0 : step(shorter[one.state] ?? 0, character);
        next = shorter.push(end) - 1;
        found.push(found[end] ?? 0);
        steps.set(key, next);
      }
      one.state = next;
      if (one.text.length === length) found[next] = length;
    }
  }

  return function* (text, from = 0) {
    let state = 0;
    for (let end = from; end < text.length; ) {
      state = step(state, text.charCodeAt(end++));
      const length = found[state] ?? 0;
      if (length > 0) yield { start: end - length, end };
    }
  };
}
