import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SECRET, SIGNATURE } from "../../provider/pulumi/sentinels";
import { whoHasCommand } from "../../sdk/commands/whoHas";
import type { Seed } from "../../sdk/testing";
import { emulatedService } from "../emulatedService";
import { temporaryFolder } from "../folders";
import { entryOf, projectWith, stateOf, stateWith } from "./adopt/stubbedProject";
import { runInProcess } from "./runCommand";

const url = "https://shop.example.com";
const DEV = "organization/web/dev";
const OTHER = "organization/api/prod";
const encrypted = { url: { [SIGNATURE]: SECRET, ciphertext: "v1:x" } };
const foreign = {
  type: "ngrok:index/cloudEndpoint:CloudEndpoint",
  urn: "urn:pulumi:prod::api::ngrok::theirs",
};

const line = (id = "ep_1") => `pulumi up --config endpoints:adopt=${id} --stack dev`;
const TAKEN = 'See "A URL that is taken" in docs/operations.md';
const MEMBERS = 'See "Adopt members of a pool" in docs/adoption.md';
const KILLED = 'See "A run was killed" in docs/operations.md';

interface Case {
  live?: Partial<Seed>[];
  states?: Record<string, string>;
  wanted?: string;
  first?: string;
  code?: number;
  says: string[];
}

const one: Partial<Seed>[] = [{}];
const member: Partial<Seed> = { pooling_enabled: true };

const cases: Record<string, Case> = {
  "nobody has it: the one line": {
    live: [{ description: "front door" }],
    says: [
      '(cloud, ep_1, "front door", created ',
      "no state that was read has it",
      "Nothing in this backend has it",
      line(),
    ],
  },
  "nobody has it, asked by its id": { live: one, wanted: "ep_1", says: [url, line()] },
  "nobody has the URL in another spelling": {
    live: one,
    wanted: "https://SHOP.example.com:443/",
    says: [line()],
  },
  "its own stack has it": {
    live: one,
    states: { [DEV]: stateOf("ep_1") },
    says: [`'ep_1' of the stack web/dev has it (urn:`, TAKEN],
  },
  "another project's stack has it": {
    live: one,
    states: { [OTHER]: stateOf("ep_1") },
    says: ["'ep_1' of the stack api/prod has it (urn:", TAKEN],
  },
  "a stack of another provider has it": {
    live: one,
    states: { [OTHER]: stateWith([entryOf("ep_1", foreign)]) },
    says: ["'theirs' of the stack api/prod has it", TAKEN],
  },
  "a program only reads it: the line": {
    live: one,
    states: { [OTHER]: stateWith([entryOf("ep_1", { external: true })]) },
    says: [line()],
  },
  "an entry's replacement is pending": {
    live: one,
    states: { [OTHER]: stateWith([entryOf("ep_1", { pendingReplacement: true })]) },
    says: ["has it, and its replacement is pending", TAKEN],
  },
  "an entry's deletion is pending": {
    live: one,
    states: { [OTHER]: stateWith([entryOf("ep_1", { delete: true })]) },
    says: ["has it, and its deletion is pending", TAKEN],
  },
  "two entries have it": {
    live: one,
    states: { [DEV]: stateOf("ep_1"), [OTHER]: stateOf("ep_1") },
    says: [
      "of the stack web/dev has it",
      "of the stack api/prod has it",
      'See "Two resources share an endpoint"',
    ],
  },
  "a stack is creating it": {
    live: one,
    states: { [OTHER]: stateWith([], [{ url: `${url}/` }]) },
    says: ["creating: 'begun' of the stack api/prod, on this URL (urn:", KILLED],
  },
  "a stack is creating another one: the line": {
    live: one,
    states: { [OTHER]: stateWith([], [{ url: "https://else.example.com" }]) },
    says: [line()],
  },
  "a stack is creating an endpoint with an encrypted URL": {
    live: one,
    states: { [OTHER]: stateWith([], [encrypted]) },
    says: ["creating: 'begun' of the stack api/prod, with an encrypted URL, which may be this one", KILLED],
  },
  "no state has one of a pool's two members": {
    live: [member, member],
    states: { [OTHER]: stateOf("ep_1") },
    says: ["in a pool", "no state that was read has it", MEMBERS],
  },
  "each member of a pool has an owner": {
    live: [member, member],
    states: { [DEV]: stateOf("ep_2"), [OTHER]: stateOf("ep_1") },
    says: ["in a pool", "of the stack web/dev has it", "of the stack api/prod has it", TAKEN],
  },
  "no state that was read has a pool's member, and one cannot be read": {
    live: [member],
    states: { [OTHER]: "" },
    code: 1,
    says: ["in a pool", "no state that was read has it", TAKEN],
  },
  "an agent serves a member of a pool, and its cloud endpoint has an owner": {
    live: [member, { ...member, type: "ephemeral" }],
    states: { [OTHER]: stateOf("ep_1") },
    says: ["(ephemeral, in a pool, ep_2", TAKEN],
  },
  "two endpoints have the URL": {
    live: [{}, { type: "ephemeral", id: "ep_2" }],
    says: ["ep_1", "(ephemeral, ep_2", TAKEN],
  },
  "an agent serves it": { live: [{ type: "ephemeral" }], says: ["(ephemeral, ep_1", TAKEN] },
  "nothing serves it": { says: ["no account of the stack has an endpoint on the URL", TAKEN] },
  "no account shows the id, and a state has it": {
    wanted: "ep_1",
    states: { [OTHER]: stateOf("ep_1") },
    says: ["no account of the stack shows ep_1", "'ep_1' of the stack api/prod has it", TAKEN],
  },
  "a state cannot be read": {
    live: one,
    states: { [OTHER]: "" },
    code: 1,
    says: ["no state that was read has it", "unread api/prod: it is locked", TAKEN],
  },
  "a stack is gone since the list: the line": {
    live: one,
    first: `case "$*" in *export*${OTHER}*) echo "error: no stack named '${OTHER}' found" >&2; exit 255 ;; esac`,
    states: { [OTHER]: stateOf() },
    says: [line()],
  },
  "a truncated state makes the list fail": {
    live: one,
    first: `case "$*" in "stack ls"*) echo "error: unexpected end of JSON input" >&2; exit 255 ;; esac`,
    code: 1,
    says: ["unread the list of the backend's stacks: unexpected end of JSON input", "at no stack", TAKEN],
  },
};

test.each(Object.entries(cases))(
  "who-has, if %s",
  async (name, { live = [], states, wanted = url, first = "", code = 0, says }) => {
    const emulator = await emulatedService();
    for (const [index, more] of live.entries())
      emulator.seed({ type: "cloud", id: `ep_${index + 1}`, url, ...more });
    const folder = projectWith({ [DEV]: stateOf(), ...states }, emulator, { first });
    const ended = await whoHas(folder, wanted);
    expect([ended.code, ended.stderr]).toEqual([code, ""]);
    for (const text of says) expect(ended.stdout).toContain(text);
    // No other case prints a line to run, and none has written anything.
    expect(ended.stdout.includes("pulumi up")).toBe(
      /the (one )?line$|asked by its id|another spelling/.test(name),
    );
    expect(new Set(emulator.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  },
);

const whoHas = (folder: string, ...args: string[]) =>
  runInProcess(whoHasCommand, ["--cwd", folder, "--stack", "dev", ...args]);

test("who-has reads the states after the accounts, because a run may create the endpoint meanwhile", async () => {
  const emulator = await emulatedService();
  emulator.seed({ type: "cloud", id: "ep_1", url });
  const isListed = join(temporaryFolder(), "listed");
  emulator.intercept(
    () => {
      writeFileSync(isListed, "");
      return false;
    },
    { status: 500, body: {} },
  );
  const first = `case "$*" in *export*) test -e '${isListed}' || { echo '${stateOf()}'; exit; } ;; esac`;
  const folder = projectWith({ [DEV]: stateOf(), [OTHER]: stateOf("ep_1") }, emulator, { first });
  expect((await whoHas(folder, url)).stdout).toContain("of the stack api/prod has it");
});

test("who-has finds an endpoint in the account of an explicit provider, and prints no line for it", async () => {
  const [own, other] = [await emulatedService(), await emulatedService()];
  other.seed({ type: "cloud", id: "ep_1", url });
  const provider = {
    ...{ urn: "urn:pulumi:dev::web::pulumi:providers:endpoints::second", type: "pulumi:providers:endpoints" },
    ...{ custom: true, id: "1", inputs: { baseUrl: other.baseUrl, apiKey: other.apiKey } },
  };
  const folder = projectWith({ [DEV]: stateWith([provider]) }, own);
  const { code, stdout } = await whoHas(folder, url);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`account at ${other.baseUrl}`)]);
  expect(stdout).toContain("no state that was read has it");
  expect(stdout).toContain(TAKEN);
});

test("who-has does not show what the stack's state keeps secret, nor controls of a terminal", async () => {
  const emulator = await emulatedService();
  const description = "CANARY-DESCRIPTION";
  emulator.seed({ type: "cloud", id: "ep_1", url: "https://canary.example.com", description });
  emulator.seed({ type: "cloud", id: "ep_2", url, description: "\u001b[31mred" });
  const secret = (value: string) => ({ [SIGNATURE]: SECRET, plaintext: JSON.stringify(value) });
  const inputs = { url: secret("https://canary.example.com"), description: secret(description) };
  const folder = projectWith({ [DEV]: stateWith([entryOf("ep_1", { inputs })]) }, emulator);
  const { stdout } = await whoHas(folder, "ep_1");
  expect(stdout).toContain("live [secret] (cloud, ep_1, ");
  expect(stdout).not.toMatch(/canary/i);
  expect((await whoHas(folder, url)).stdout).not.toContain("\u001b");
});

test("who-has shows nothing of another stack's endpoint that its state keeps secret, and masks failures", async () => {
  const emulator = await emulatedService();
  const canary = "https://canary.example.com";
  emulator.seed({ type: "cloud", id: "ep_1", url: canary, description: "CANARY-DESCRIPTION" });
  emulator.seed({ type: "cloud", id: "ep_2", url, description: "CANARY-DESCRIPTION" });
  const own = { inputs: { url: { [SIGNATURE]: SECRET, plaintext: JSON.stringify(canary) } } };
  const theirs = stateWith([
    entryOf("ep_1", { inputs: encrypted, outputs: encrypted }),
    entryOf("ep_2", { inputs: { url }, outputs: { url } }),
  ]);
  const first = `case "$*" in *export*infra*) echo "error: ${canary} is locked" >&2; exit 255 ;; esac`;
  const states = { [DEV]: stateWith([entryOf("ep_3", own)]), [OTHER]: theirs, "organization/infra/dev": "" };
  const folder = projectWith(states, emulator, { first });
  const secret = await whoHas(folder, "ep_1");
  expect(secret.stdout).toMatch(/^live \[secret\] \(cloud, ep_1, created [^"]*\)$/m);
  expect(secret.stdout).toContain("'ep_1' of the stack api/prod has it");
  expect(secret.stdout).toContain("unread infra/dev: [secret] is locked");
  const shown = await whoHas(folder, url);
  expect(shown.stdout).toContain(`live ${url} (cloud, ep_2, created`);
  expect(secret.stdout + secret.stderr + shown.stdout).not.toMatch(/canary/i);
});

test("who-has begins with the stack that it looked at, and says that no account was opened", async () => {
  const emulator = await emulatedService();
  const { stdout } = await whoHas(projectWith({ [DEV]: stateOf() }, emulator), url);
  expect(stdout).toMatch(/^The stack web\/dev: looked at the account at \S+, and then at 1 stack of \S+\.\n/);
  // As with `--config-file`, which the command does not know.
  const none = { baseUrl: "", apiKey: "" };
  const opened = await whoHas(projectWith({ [DEV]: stateOf("ep_1") }, none), url);
  expect(opened.stdout).toMatch(/^The stack web\/dev: no account was opened; looked at 1 stack of \S+\.\n/);
  expect(opened.stdout).toMatch(/^unread the account: .*ENDPOINTS_API_KEY.*; there is no base URL/m);
  expect([opened.code, opened.stdout]).toEqual([
    1,
    expect.not.stringContaining("no account of the stack has"),
  ]);
});

test("who-has says that the key is refused, or missing", async () => {
  const emulator = await emulatedService();
  const refused = await whoHas(
    projectWith({ [DEV]: stateOf() }, { baseUrl: emulator.baseUrl, apiKey: "of-nobody" }),
    url,
  );
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringMatching(/unread the account at .* status 401/),
  ]);
  const none = await whoHas(projectWith({ [DEV]: stateOf() }, { baseUrl: "", apiKey: "" }), url);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("there is no API key")]);
});
