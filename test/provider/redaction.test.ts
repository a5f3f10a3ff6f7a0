import { describe, expect, test } from "vitest";
import { Redaction } from "../../provider/redaction";

const SECRET = 'CANARY<7>&"a b"/ü\\x+\nkey';

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const go = (text: string) =>
  json(text).replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
const url = encodeURIComponent;
const form = (text: string) => url(text).replaceAll("%20", "+");
const lower = (text: string) => text.replace(/%[\dA-F]{2}/g, (hex) => hex.toLowerCase());
const html = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&#x3e;").replaceAll('"', "&#34;");
const ascii = (text: string) =>
  json(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const spellings: [string, (text: string) => string][] = [
  ["unchanged", (text) => text],
  ["as JSON", json],
  ["as JSON in JSON", (text) => json(json(text))],
  ["as JSON in JSON in JSON", (text) => json(json(json(text)))],
  ["as Go's JSON", go],
  ["as Go's JSON in JSON", (text) => json(go(text))],
  ["as JSON in ASCII", ascii],
  ["in a URL", url],
  ["in a URL, in lower case", (text) => lower(url(text))],
  ["in a form", form],
  ["twice in a URL", (text) => url(url(text))],
  ["as JSON in a URL", (text) => url(json(text))],
  ["as HTML", html],
  ["as JSON in HTML", (text) => html(json(text))],
  ["in capitals", (text) => text.replace("ü", "Ü").toUpperCase().replace("Ü", "ü")],
  ["on one line", (text) => text.replaceAll(/\s+/g, " ")],
  ["wrapped and indented", (text) => text.replaceAll(" ", "\n    ")],
];

describe.each(spellings)("a secret %s", (_, spell) => {
  test.each(["redacted", "cleaned"] as const)("is removed completely from a text that is %s", (method) => {
    const text = `the value "${spell(SECRET)}" is bad: {"key": "${spell(SECRET)}"}`;
    expect(new Redaction([SECRET])[method](text)).toBe('the value "[secret]" is bad: {"key": "[secret]"}');
  });

  test("is found in a text", () => {
    expect(new Redaction([SECRET]).isIn(`see ${spell(SECRET)}`)).toBe(true);
    expect(new Redaction([SECRET]).isIn(`see ${spell(SECRET.slice(0, -4))}`)).toBe(false);
  });
});

test("a secret that contains escapes is removed, with its escapes or decoded", () => {
  const secret = "100%41-\\u0042-&lt;-CANARY";
  for (const text of [secret, json(secret), url(secret), "100A-B-<-CANARY"])
    expect(new Redaction([secret]).cleaned(`"${text}"`)).toBe('"[secret]"');
});

test("a secret is removed after the start of an escape", () => {
  for (const before of ["\\", "%", "%4", "\\u00", "&#", "\\n", "100%"])
    expect(new Redaction(["41CANARY-x"]).cleaned(`${before}41CANARY-x.`)).not.toMatch(/CANARY/);
});

test("parts of a secret, and the start or end of a shortened one, are removed from a message", () => {
  const known = new Redaction(["CANARY-77ab-0123456789"]);
  for (const [message, cleaned] of [
    ["near 'ARY-77ab-01'", "near '[secret]'"],
    ["near CANARY-7****9", "near [secret]****9"],
    ["begins with CANA...", "begins with [secret]..."],
    ["begins with CANAR… and more", "begins with [secret]… and more"],
    ["ends with ...56789'", "ends with ...[secret]'"],
    ["is CANARY", "is [secret]"],
    ["CANA is an island", "CANA is an island"],
  ])
    expect(known.cleaned(String(message))).toBe(cleaned);
});

test("a message with a very short secret as a word is replaced as a whole", () => {
  const known = new Redaction(["7", "ab", "ü-1"]);
  for (const message of [
    "pin 7 is bad",
    "pin=7",
    "%227%22",
    '{\\"pin\\":\\"7\\"}',
    "AB",
    "x ü-1 y",
    "on[7].actions",
  ])
    expect(known.cleaned(message)).toBe("[secret]");
  for (const message of ["77 are too many", "about", "a-b", ""]) expect(known.cleaned(message)).toBe(message);
});

describe("a text", () => {
  const known = new Redaction();
  known.add("public", "part");
  known.add("hooks.internal", "part");
  known.add("word");
  known.add("abc");
  test.each([
    ["public", false],
    ["it is at HOOKS.internal", true],
  ])("contains a part of a secret document only if the part is distinctive: %s", (text, isIn) =>
    expect(known.isIn(text)).toBe(isIn),
  );
  test.each([
    ["a word of it", true],
    ["abc", true],
    ["abc and more", false],
  ])("contains a marked secret if that has four letters or is the whole text: %s", (text, isIn) =>
    expect(known.isIn(text)).toBe(isIn),
  );
  test("is cleaned of parts of secret documents, and keeps secrets of three letters if it is redacted", () => {
    expect(known.cleaned("not public")).toBe("not [secret]");
    expect(known.redacted("abc is no word")).toBe("abc is no [secret]");
  });
});

test("a text without a secret stays unchanged", () => {
  for (const text of ['unknown action "dney" at on_http_request[0] (50%, a\\b, &c)', "", "😀\u2028"])
    expect(new Redaction(["CANARY-1", "", " ", "\\"]).cleaned(text)).toBe(text);
});
