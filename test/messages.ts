/* The rule for messages: how long one may be, without what others wrote into it. */

/** The most characters of a message, and of one that tells two cases. */
const MAX_LENGTH = 400;
const MAX_LENGTH_OF_TWO = 600;

/** What does not count: URLs, ids, names of resources, values, and texts of the service and of Node.js. */
const FOREIGN: readonly RegExp[] = [
  /(?<=: status \d{3}), .*?(?= \(operation op_)/g,
  /(?<=: status \d{3}), [^.]*/g,
  /(?<=no answer )\(.*?\)(?=[.;]|$)/g,
  /(?<=the reply does not match the contract )\(.*?\)(?=\. )/g,
  /(?<=\()sent .*?, lives .*?(?=\)[,.;])/g,
  /\burn:pulumi:\S+?(?=['`]|\s|$)/g,
  /\b\w+:\/\/[^\s`"'),]+/g,
  /\b(ep|op)_[\w-]+(,( (?=ep_))?)?/g,
];

const isOfTwoCases = (message: string) => (message.match(/\b(if|otherwise)\b/gi) ?? []).length > 1;

/** The length of a message without what others wrote. */
export const ownLength = (message: string): number =>
  FOREIGN.reduce((text, pattern) => text.replace(pattern, ""), message).length;

/** The messages that are too long, each with its length. A message is one line. */
export const tooLong = (messages: readonly string[]): string[] =>
  messages
    .flatMap((text) => text.split("\n"))
    .filter((line) => ownLength(line) > (isOfTwoCases(line) ? MAX_LENGTH_OF_TWO : MAX_LENGTH))
    .map((line) => `${ownLength(line)} characters: ${line}`);

/** The headings that a message names, with their pages. */
export const headingsIn = (message: string): { heading: string; page: string }[] =>
  [...message.matchAll(/See "([^"]+)" in (docs\/[\w-]+\.md) of pulumi-endpoints/g)].map(
    ([, heading = "", page = ""]) => ({ heading, page }),
  );
