import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { expect, test } from "vitest";
import * as errors from "../../provider/endpoint/errors";
import {
  ApiError,
  ConnectionError,
  ReplyError,
  type RequestName,
  UnsentError,
} from "../../provider/service/apiErrors";
import { HEADINGS, see } from "../../provider/service/headings";
import { headingsIn, ownLength, tooLong } from "../messages";
import { root } from "../package/pack";

/* Holds the rule for messages: their length, and that each page that they name has the heading and is published. */

const url = "https://a-long-name-of-a-shop.europe.customers.example.com:8443";
const id = "ep_2abcDEFghiJKLmnoPQRstuVWXyz";
const create: RequestName = { method: "POST", path: "/endpoints" };
const update: RequestName = { method: "PATCH", path: `/endpoints/${id}` };
const list: RequestName = { method: "GET", path: "/endpoints" };

const failure = (request: RequestName, status: number, code?: string) =>
  new ApiError(
    request,
    { status, code, message: "The service's text. ".repeat(20), operationId: "op_2abc", retryAfter: 400_000 },
    { keySource: "configuration", baseUrl: "https://gateway.example.com/tools/endpoints/api/v2" },
  );
const taken = failure(create, 409, "ERR_NGROK_18017");
const notFound = failure(update, 404, "ERR_NGROK_18100");
const unread = new ReplyError(list, 200, "the reply is not JSON");
const lost = new ConnectionError(create, new Error("read ECONNRESET"), { origin: url, maybeSent: true });

const TLS = ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"];
const setups = [...TLS, "ERR_TLS_CERT_ALTNAME_INVALID", "ERR_SSL_WRONG_VERSION_NUMBER", "ECONNREFUSED"];

/** Every message of a failed request: by status, by code of the service, and without an answer. */
const requests = [create, update, list].flatMap((request) => [
  ...[301, 400, 401, 403, 404, 409, 422, 429, 500].map((status) => failure(request, status)),
  ...[206, 217, 225, 18004, 18005, 18006, 18009, 18011, 18014, 18015, 19999].map((code) =>
    failure(request, 400, `ERR_NGROK_${code}`),
  ),
  ...setups.map((code) => {
    const cause = Object.assign(new Error("x".repeat(200)), { code, port: 443 });
    return new ConnectionError(request, cause, { origin: "https://localhost", maybeSent: true });
  }),
  new ReplyError(request, 200, "the reply does not match the contract (endpoints.0.id: Invalid input)"),
  new UnsentError(request, "Pulumi has ended in the meantime"),
]);

const unknown = { isCreate: true, isWanted: false, isOwn: false };
const stack = "production-europe";
const subject = { displayUrl: url, stack };
const account = { baseUrl: url, keySource: "configuration" } as const;
const holder = { id, type: "cloud", createdAt: "2026-01-01T00:00:00Z" };

/** Every message of `errors.ts`, with the longest arguments. */
const messages: Record<Exclude<keyof typeof errors, `${string}Error`>, (string | Error)[]> = {
  wrongType: [errors.wrongType(id, "ephemeral")],
  goneUnproven: [errors.goneUnproven(id, unread)],
  stillListed: [errors.stillListed(id, notFound)],
  itemUnreadable: [errors.itemUnreadable(id)],
  listedUnreadable: [errors.listedUnreadable(unread)],
  otherAccount: [errors.otherAccount(id, 12_345, account)],
  otherFingerprint: [errors.otherFingerprint(url)],
  updateNotFound: [errors.updateNotFound(id, notFound)],
  alreadyManaged: [errors.alreadyManaged(id)],
  sharedEndpoint: [errors.sharedEndpoint(id, stack)],
  belongsToAnother: [errors.belongsToAnother(id)],
  notDeleted: [errors.notDeleted(id)],
  deletionKept: [errors.deletionKept(id)],
  adoptsReplaced: [errors.adoptsReplaced(id)],
  policyRemoved: [errors.policyRemoved()],
  adoptSettingIsLeft: [errors.adoptSettingIsLeft],
  adoptIgnored: [errors.adoptIgnored(id, id)],
  endpointNotFound: [errors.endpointNotFound(id)],
  adoptNeedsProgram: [errors.adoptNeedsProgram(id, url)],
  adoptNotFound: [errors.adoptNotFound(id)],
  adoptOtherScheme: [errors.adoptOtherScheme(id, url, "tls://secure.example.com")],
  storedOtherwise: [
    errors.storedOtherwise(url, "trafficPolicy.on_http_request[0].actions[0].config, 3 more"),
  ],
  notShown: [
    errors.notShown(url, ["trafficPolicy", "poolingEnabled", "description", "metadata", "bindings"]),
  ],
  uncertainCreate: [
    errors.uncertainCreate(lost, subject),
    errors.uncertainCreate(failure(create, 409), subject),
  ],
  recoveredCreate: [errors.recoveredCreate(id, subject)],
  urlTaken: [
    ...[{}, { isCreate: false }, { isWanted: true }, { isWanted: true, isOwn: true }].map((known) =>
      errors.urlTaken(taken, holder, subject, { ...unknown, ...known }),
    ),
    errors.urlTaken(taken, { ...holder, type: "ephemeral" }, subject, unknown),
  ],
};

const textOf = (message: string | Error) => (typeof message === "string" ? message : message.message);
/** As the provider prints them. */
const printed = (name: string, message: string | Error): string =>
  name === "request" || message instanceof Error
    ? `cannot create ${url}: ${textOf(message)}`
    : textOf(message);

const all = [...Object.entries(messages), ["request", requests] as const].flatMap(([name, list]) =>
  list.map((message) => printed(name, message)),
);

test("no message is longer than 300 characters", () => {
  expect(tooLong(all)).toEqual([]);
});

test("no message tells two cases, because their reader would have to know what the process does not", () => {
  expect(all.filter((message) => /\bif\b.*\b(if|otherwise)\b/i.test(message))).toEqual([]);
});

test("a message names the command that looks by an id, and never by a URL that is secret or needs quotes", () => {
  const commandIn = (error: Error) => /`(npx pulumi-endpoints who-has .*?)`/.exec(error.message)?.[1];
  const taken = errors.urlTaken(lost, holder, { displayUrl: "[secret]", stack: undefined }, unknown);
  expect(commandIn(taken)).toBe(`npx pulumi-endpoints who-has ${id}`);
  expect(commandIn(errors.uncertainCreate(lost, subject))).toBe(
    `npx pulumi-endpoints who-has ${url} --stack ${stack}`,
  );
  for (const unsafe of ["[secret]", "https://*.example.com", "https://a'b.example.com"])
    expect(commandIn(errors.uncertainCreate(lost, { displayUrl: unsafe, stack: undefined }))).toBe(
      "npx pulumi-endpoints who-has URL",
    );
});

test("what does not count in a message is what others wrote into it", () => {
  const own = "It is served by , a cloud endpoint: see .";
  expect(ownLength(`It is served by ${id}, a cloud endpoint: see ${url}/path.`)).toBe(own.length);
  expect(ownLength(taken.message)).toBeLessThan(200);
  expect(tooLong([`${"x".repeat(299)} ${url}${"x".repeat(300)}`])).toEqual([]);
  expect(tooLong(["x".repeat(301)])).toHaveLength(1);
});

test("a message has one line", () => {
  expect(all.filter((message) => message.includes("\n"))).toEqual([]);
});

const published = (() => {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: string[] };
  const patterns = files.filter((pattern) => /^!?docs\//.test(pattern));
  const without = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
  const given = patterns.filter((pattern) => !pattern.startsWith("!"));
  return globSync(given, { cwd: root, ignore: without, expandDirectories: false });
})();

test.each(Object.keys(HEADINGS) as (keyof typeof HEADINGS)[])(
  "the heading “%s”, which messages name, is on a page that is published with the package",
  (name) => {
    const [named] = headingsIn(see(name));
    expect(published).toContain(named?.page);
    const page = readFileSync(join(root, named?.page ?? ""), "utf8");
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toContain(name);
  },
);

test("every heading that a message names is one of those", () => {
  const sources = globSync(["provider/**/*.ts", "sdk/**/*.ts"], {
    cwd: root,
    ignore: ["**/node_modules/**", "**/test/**"],
  });
  const texts = sources
    .filter((file) => file !== "provider/service/headings.ts")
    .map((file) => readFileSync(join(root, file), "utf8"));
  // A heading in a plain text would escape the check above.
  expect(texts.flatMap(headingsIn)).toEqual([]);
  const used = texts.flatMap((text) => [...text.matchAll(/\bsee\("([^"]+)"\)/g)].map(([, name]) => name));
  expect([...new Set(used)].sort()).toEqual(Object.keys(HEADINGS).sort());
});
