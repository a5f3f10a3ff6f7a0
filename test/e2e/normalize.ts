import { comparableState } from "../../sdk/test-engine/test/comparableState";
import type { ExportedState } from "../../sdk/testing";

/** The stack's own key, and the account's fingerprint, which depends on it. */
const KEYS = /^(endpoints:)?apiKey$|^__accountFingerprint$/;

/** Prepares the states of two drivers for a comparison: numbers the ids in order of appearance, and masks what differs in each run. */
export function normalize(state: ExportedState): { resources: unknown[]; pending: unknown[] } {
  const ids = new Map<string, string>();
  const text = JSON.stringify(comparableState(state))
    .replace(/\b(ep|ra|rd)_\w+/g, (id) => {
      const number = ids.get(id) ?? `id-${ids.size + 1}`;
      ids.set(id, number);
      return number;
    })
    .replace(/https?:\/\/127\.0\.0\.1:\d+/g, "http://service")
    .replace(/"[0-9a-f]{16}"/g, '"a random number"');
  return JSON.parse(text, (name, value) => (KEYS.test(name) ? "a key" : value));
}
