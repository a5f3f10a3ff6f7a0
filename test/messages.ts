/* The rule for messages: how long one may be, without what others wrote into it. */

/** The most characters of a message. */
const MAX_LENGTH = 300;

/** What does not count: URLs, ids, quoted lists of places or differences, and texts of the service and of Node.js, or what stands for them. */
const FOREIGN: readonly RegExp[] = [
  /^(warning|error): /g,
  /(?<=^cannot \w+ )\S+(?=:)/g,
  /(?<=: status \d{3}), .*?(?= \(operation op_)/g,
  /(?<=: status \d{3}), [^.]*/g,
  /the service's text is left out, because it may repeat a secret/g,
  /(?<=no answer )\(.*?\)(?=[.;]|$)/g,
  /(?<=the reply does not match the contract )\(.*?\)(?=\. )/g,
  /(?<=than this run sent: ).*?(?=\. [A-Z])/g,
  /"[^"]*"(?= is no id)/g,
  /\burn:pulumi:\S+?(?=['`]|\s|$)/g,
  /\b\w+:\/\/[^\s`"'),]*[\w/]/g,
  /(?<=endpoints:adopt=)[^\s`]+/g,
  /(?<=--stack )[^\s`]+/g,
  /\b(ep|op)_[\w-]+(, ?(?=ep_))?/g,
];

/** The length of a message without what others wrote. */
export const ownLength = (message: string): number =>
  FOREIGN.reduce((text, pattern) => text.replace(pattern, ""), message).length;

/** The messages that are too long, each with its length. A message is one line. */
export const tooLong = (messages: readonly string[]): string[] =>
  messages
    .flatMap((text) => text.split("\n"))
    .filter((line) => ownLength(line) > MAX_LENGTH)
    .map((line) => `${ownLength(line)} characters: ${line}`);

/** The headings that a message names, with their pages. */
export const headingsIn = (message: string): { heading: string; page: string }[] =>
  [...message.matchAll(/See "([^"]+)" in (docs\/[\w-]+\.md) of pulumi-endpoints/g)].map(
    ([, heading = "", page = ""]) => ({ heading, page }),
  );
