import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { accountFingerprint } from "../../provider/endpoint/state";
import type { WireEndpoint } from "../../provider/service/contract";
import type { ExportedState } from "../../sdk/testing";
import { emulatedService } from "../emulatedService";
import { edit, methods, onBothDrivers, plainIn, type Start, writes } from "./setup";

/*
 * This version continues with every state that a released version wrote. `npm run record:states` records this version's states.
 * Without a release, the tests continue with this version's own states.
 */

interface RecordedState {
  program: string;
  /** Where the service was. */
  baseUrl: string;
  /** What the service held, newest first. */
  endpoints: WireEndpoint[];
  /** Its secrets are in plain text, and made up. */
  state: ExportedState;
}

/** A key that no service knows. */
const KEY = "2throwThisKeyAwayAfterTests_aKeyOfNobodyAtAll1";
const settings = (provider: string) => ({ "endpoints:provider": provider });

/** The version of the compiled package, which the stacks run. */
const { VERSION }: { VERSION: string } = createRequire(import.meta.url)(
  "../../dist/provider/service/version.js",
);

const policy = (body: string) =>
  `{ on_http_request: [{ actions: [{ type: "custom-response", config: { status_code: 200, body: ${body} } }] }] }`;
const endpoint = (name: string, more = "", url = `"https://${name}.example.com"`) =>
  `\nnew CloudEndpoint("${name}", { url: ${url}, description: "front door", ${more} });`;

const PROGRAM = [
  'const { WebhookVerification, mergeTrafficPolicy } = require("pulumi-endpoints");',
  '\nconst github = new WebhookVerification("github", { platform: "github", secret: pulumi.secret("CANARY-webhook") });',
  endpoint("plain"),
  endpoint("full", `trafficPolicy: ${policy('"hello"')}, metadata: { of: [1, "a"] }, bindings: ["public"]`),
  endpoint(
    "texts",
    `trafficPolicy: "on_tcp_connect: [{ actions: [{ type: deny }] }] # YAML", metadata: "a text"`,
  ),
  endpoint("blue", "poolingEnabled: true", '"https://pool.example.com"'),
  endpoint("green", "poolingEnabled: true", '"https://pool.example.com"'),
  endpoint("secret-policy", `trafficPolicy: ${policy('pulumi.secret("CANARY-body")')}`),
  endpoint("secret-url", "", 'pulumi.secret("https://canary.example.com")'),
  endpoint("adopted", 'adopt: "ep_adopted"'),
  endpoint("webhook", `trafficPolicy: mergeTrafficPolicy(${policy('"hello"')}, github)`),
].join("");

/** Creates the program's endpoints. */
async function record(start: Start, provider: string): Promise<RecordedState> {
  const emulator = await emulatedService({ apiKey: KEY });
  emulator.seed({
    type: "cloud",
    id: "ep_adopted",
    url: "https://adopted.example.com",
    description: "by hand",
  });
  const stack = await start(PROGRAM, { emulator, config: settings(provider) });
  await stack.up();
  const { baseUrl, endpoints } = emulator;
  return { program: PROGRAM, baseUrl, endpoints, state: await stack.exportState() };
}

/** Starts a service that holds the recorded endpoints, and returns the state as if it had been written there. */
async function restore({ baseUrl, state, endpoints }: RecordedState) {
  const emulator = await emulatedService({ apiKey: KEY });
  const [before, now] = [baseUrl, emulator.baseUrl].map((url) =>
    accountFingerprint({ baseUrl: url, apiKey: KEY }),
  );
  const moved = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll(baseUrl, emulator.baseUrl).replaceAll(`${before}`, `${now}`));
  for (const one of moved(endpoints).reverse()) emulator.seed({ ...one, type: "cloud" });
  return { emulator, state: moved(state) };
}

const endpointsIn = ({ deployment: { resources = [] } }: ExportedState) =>
  resources.filter(({ type }) => type.endsWith(":CloudEndpoint"));

const versionsIn = (state: ExportedState) =>
  new Set(endpointsIn(state).map(({ outputs }) => outputs?.["__version"]));

/** The notes of each endpoint: their names, and the value of the one that never changes. */
const notesIn = (state: ExportedState) =>
  Object.fromEntries(
    endpointsIn(state).map(({ urn, outputs = {} }) => [
      urn,
      { names: Object.keys(outputs).filter((name) => name.startsWith("__")), entry: outputs["__entryId"] },
    ]),
  );

async function takeOn(start: Start, recorded: RecordedState, provider: string): Promise<void> {
  const { emulator, state } = await restore(recorded);
  const stack = await start(recorded.program, { emulator, config: settings(provider) });
  await stack.importState(state);
  const { length: count } = endpointsIn(state);
  expect(count).toBe(emulator.endpoints.length);

  expect((await stack.preview({ expectNoChanges: true })).requests).toEqual([]);
  expect(writes(await stack.refresh({ expectNoChanges: true }))).toEqual([]);
  edit(stack, recorded.program.replaceAll("front door", "back door"));
  const up = await stack.up();
  expect(writes(up).map(({ method, body }) => [method, Object.keys(Object(body))])).toEqual(
    Array(count).fill(["PATCH", ["id", "description"]]),
  );
  const after = await stack.exportState();
  expect(notesIn(after)).toEqual(notesIn(state));
  expect(versionsIn(after)).toEqual(new Set([VERSION]));
  expect(plainIn(after)).not.toMatch(/CANARY/i);

  // The other provider takes all endpoints over, and changes none.
  await stack.setConfig("endpoints:provider", provider === "plugin" ? "dynamic" : "plugin");
  expect((await stack.up()).requests).toEqual([]);
  await stack.refresh({ expectNoChanges: true });
  expect(methods({ requests: writes(await stack.destroy()) })).toEqual(Array(count).fill("DELETE"));
  expect(emulator.endpoints).toEqual([]);
}

const FOLDER = join(import.meta.dirname, "states");
const recordedNames = existsSync(FOLDER) ? readdirSync(FOLDER).map((file) => file.replace(".json", "")) : [];

function write(recorded: RecordedState, provider: string): void {
  expect(VERSION, "the version of a release").toMatch(/^\d+\.\d+\.\d+$/);
  const tags = execFileSync("git", ["tag", "--list", `v${VERSION}`], { encoding: "utf8" });
  expect(tags, `${VERSION} is released, so its states are final: run npm version first`).toBe("");
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${VERSION}-${provider}.json`), `${JSON.stringify(recorded, undefined, 1)}\n`);
}

onBothDrivers("the state", (start, driver) => {
  test.each(["dynamic", "plugin"])(
    "that this version wrote with the %s provider is taken on",
    async (provider) => {
      const recorded = await record(start, provider);
      if (process.env["RECORD"] === "states" && driver === "kit") write(recorded, provider);
      await takeOn(start, recorded, provider);
    },
  );

  test.each(recordedNames)("%s is taken on", async (name) => {
    const recorded: RecordedState = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8"));
    const [version, provider = ""] = name.split(/-(?=\w+$)/);
    expect(versionsIn(recorded.state)).toEqual(new Set([version]));
    await takeOn(start, recorded, provider);
  });
});
