/** A shorter key, such as `none` in a preview without an account, would corrupt texts. The service's keys have 49 characters. */
const MIN_KEY_LENGTH = 16;

/** The keys of this process's clients, also as JSON writes them. */
const keys = new Set<string>();

export function redact(apiKey: string): void {
  if (apiKey.length >= MIN_KEY_LENGTH) keys.add(apiKey).add(JSON.stringify(apiKey).slice(1, -1));
}

/** A text that leaves the process, for a user, a log or a report, without the API keys. Data of endpoints is never changed. */
export const withoutKeys = (text: string): string =>
  [...keys].reduce((shown, key) => shown.replaceAll(key, "[key]"), text);
