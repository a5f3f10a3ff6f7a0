import { type ChildProcess, execFile } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Emulator } from "../../sdk/testing";
import { listening } from "../provider/servers";

const PROBE = join(import.meta.dirname, "probe.mjs");
const KEY = "CANARY-key";

/** The output of the script about the service with this base URL, in lines. */
async function probe(baseUrl: string, apiKey = KEY): Promise<string[]> {
  const env = { PATH: process.env["PATH"], ENDPOINTS_API_KEY: apiKey, ENDPOINTS_BASE_URL: baseUrl };
  const { stdout } = await promisify(execFile)(process.execPath, [PROBE], { env });
  return stdout.split("\n").map((line) => line.replace(/ in \d+ ms/, "").replace(/ {2,}/, ": "));
}

test("the probe tells what a service does, sends only GET requests, and shows no address, id or key", async () => {
  await using emulator = await Emulator.start({ pageSize: 3 });
  for (const type of ["cloud", "ephemeral", "edge", "cloud"] as const)
    emulator.seed({ type, url: `https://canary-${emulator.endpoints.length}.example.com` });
  const lines = await probe(emulator.baseUrl, emulator.apiKey);
  expect(lines).toEqual(
    expect.arrayContaining([
      "list: status 200",
      ": 3 items: 1 cloud, 1 edge, 1 ephemeral",
      "next page: a whole URL on the same host",
      "unknown fields: none",
      "missing fields: none",
      "filter: status 200; works",
    ]),
  );
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET", "GET", "GET", "GET"]);
  expect(lines.join()).not.toMatch(/canary|ep_|127\.0\.0\.1|SvB/);
});

test.each([
  ["refused", "filter: status 400; refused with ERR_NGROK_231"],
  ["ignored", "filter: status 200; ignored: the list has other types"],
] as const)("the probe tells that filters are %s", async (filters, line) => {
  await using emulator = await Emulator.start({ filters });
  emulator.seed({ type: "cloud", url: "https://a.example.com" });
  emulator.seed({ type: "ephemeral", url: "https://b.example.com" });
  expect(await probe(emulator.baseUrl, emulator.apiKey)).toContain(line);
});

const TARGET = ["--write", "https://canary-a.example.com", "--host", "canary-b.example.com"];

/** Runs the script with these arguments to its end. `rows` has what it says of each step. */
async function probeWriting(emulator: Emulator, onStart: (child: ChildProcess) => void = () => {}) {
  const env = { PATH: process.env["PATH"], ENDPOINTS_API_KEY: emulator.apiKey };
  const run = promisify(execFile)(process.execPath, [PROBE, emulator.baseUrl, ...TARGET], { env });
  onStart(run.child);
  const {
    code = 0,
    stdout,
    stderr,
  } = await run.then(
    (output) => ({ code: 0, ...output }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  const written = stdout.slice(stdout.indexOf("\ncreate "));
  const rows = [...written.matchAll(/^(\S.*?) {2,}((?:same|different|not asked): .*)$/gm)].map(
    ([, subject, text = ""]) => `${subject}: ${text.replace(/ in \d+ ms/, "")}`,
  );
  const writes = emulator.requests.filter(({ method }) => method !== "GET").map(({ method }) => method);
  return { code, stdout, stderr, rows, writes };
}

test("with --write, the probe makes one endpoint, compares each step, and deletes it", async () => {
  await using emulator = await Emulator.start();
  const other = emulator.seed({ type: "cloud", url: "https://other.example.com" });
  const { code, stdout, stderr, rows, writes } = await probeWriting(emulator);
  expect([code, stderr]).toEqual([0, ""]);
  expect(rows).toEqual([
    "create: same: status 201",
    "read: same: status 200",
    "filter by URL: same: status 200",
    "clear the description: same: status 200",
    "change the policy: same: status 200",
    "move to the other host: same: status 200",
    "set bindings: same: status 200",
    "clear the metadata: same: status 200",
    "unset bindings: same: status 200",
    "delete: same: status 204, no JSON",
    "read what is gone: same: status 404, ERR_NGROK_222",
  ]);
  expect(writes).toEqual(["POST", ...Array(6).fill("PATCH"), "DELETE"]);
  expect(emulator.endpoints).toEqual([other]);
  expect(stdout).not.toMatch(/canary|ep_\w|127\.0\.0\.1|SvB/);
});

test("the probe shows each point in which a service differs", async () => {
  let updates = 0;
  await using emulator = await Emulator.start({
    ...{ filters: "ignored", fixedUrlAndPooling: true, createdAt: -60_000 },
    stores: ({ description = "", ...sent }, before) =>
      before
        ? { ...(sent.bindings && { bindings: ["internal"] }), description: `canary ${updates++}` }
        : { ...sent, description: description.toUpperCase() },
    shows: ({ hostport: _hidden, ...endpoint }) => endpoint,
  });
  const other = emulator.seed({ type: "cloud", url: "https://other.example.com" });
  emulator.intercept("delete", { afterCommit: true, status: 200, body: {} });
  const isDeleted = () => emulator.requests.some(({ method }) => method === "DELETE");
  emulator.intercept(({ method }) => method === "GET" && isDeleted(), {
    status: 410,
    body: { error_code: "CANARY" },
  });
  const { stdout, rows } = await probeWriting(emulator);
  expect(rows).toEqual([
    "create: different: status 201; description; without hostport (cloud); another time",
    "read: different: status 200; description",
    "filter by URL: different: status 200; another list",
    "clear the description: different: status 200; description",
    "change the policy: different: status 200; description; traffic_policy",
    "move to the other host: different: status 400, ERR_NGROK_18014",
    "set bindings: different: status 200; description; bindings",
    "clear the metadata: different: status 200; description; metadata",
    "unset bindings: different: status 200; description; bindings",
    "delete: different: status 200",
    "read what is gone: different: status 410, a code in another form",
  ]);
  expect(emulator.endpoints).toEqual([other]);
  expect(stdout).not.toMatch(/canary|CANARY/);
});

test.each([
  [
    "the host has an endpoint",
    "not asked: one of the hosts has an endpoint",
    [],
    (emulator: Emulator) => void emulator.seed({ type: "ephemeral", url: "https://canary-b.example.com" }),
  ],
  [
    "the service refuses the create",
    "different: status 400, ERR_NGROK_18006",
    ["POST"],
    (emulator: Emulator) =>
      emulator.intercept("create", { status: 400, body: { error_code: "ERR_NGROK_18006" } }),
  ],
])("if %s, the probe says so, and deletes nothing", async (_when, row, sent, prepare) => {
  await using emulator = await Emulator.start();
  prepare(emulator);
  const { rows, writes, stderr } = await probeWriting(emulator);
  expect([rows, writes, stderr]).toEqual([[`create: ${row}`], sent, ""]);
});

test("if the create has no answer, or is answered with another endpoint, the probe deletes nothing, and says where to look", async () => {
  await using emulator = await Emulator.start();
  const other = emulator.seed({ type: "cloud", url: "https://other.example.com" });
  for (const reply of [{ reset: true }, { status: 201, body: { ...other } }] as const) {
    emulator.intercept("create", reply);
    const { code, stderr, writes } = await probeWriting(emulator);
    expect(code).toBe(1);
    expect(stderr).toContain("look for an endpoint on https://canary-a.example.com, and delete it");
    expect(writes).not.toContain("DELETE");
  }
  expect(emulator.endpoints).toEqual([other]);
});

test("after Ctrl-C, the probe ends its request, and deletes what it made", async () => {
  await using emulator = await Emulator.start();
  let process: ChildProcess | undefined;
  const before = () => void process?.kill("SIGINT");
  emulator.intercept("create", { afterCommit: true, delayMs: 500, before });
  const { code, stderr, rows, writes } = await probeWriting(emulator, (child) => {
    process = child;
  });
  expect([code, stderr]).toEqual([1, "Stopping, after the deletion of what was made.\n"]);
  expect(rows.map((row) => row.split(":")[0])).toEqual(["create", "delete", "read what is gone"]);
  expect([writes, emulator.endpoints]).toEqual([["POST", "DELETE"], []]);
});

test("an endpoint that the service does not delete is named on stderr only", async () => {
  await using emulator = await Emulator.start();
  emulator.intercept("delete", { status: 500, body: {} }, 3);
  const { code, stdout, stderr, writes } = await probeWriting(emulator);
  const [{ id }] = emulator.endpoints as [{ id: string }];
  expect(code).toBe(1);
  expect(stderr).toBe(
    `The endpoint ${id} may exist, at https://canary-a.example.com or https://canary-b.example.com: delete it.\n`,
  );
  expect(writes.filter((method) => method === "DELETE")).toHaveLength(3);
  expect(stdout).not.toContain(id);
});

test.each([
  [["--write", "https://a.example.com"]],
  [["--write", "http://a.example.com", "--host", "b.example.com"]],
  [["--write", "https://a.example.com/path", "--host", "b.example.com"]],
  [["--write", "https://a.example.com", "--host", "a.example.com"]],
  [["--host", "a.example.com"]],
])("%j are refused before any request", async (wrong) => {
  await using emulator = await Emulator.start();
  const env = { PATH: process.env["PATH"], ENDPOINTS_API_KEY: emulator.apiKey };
  const run = promisify(execFile)(process.execPath, [PROBE, emulator.baseUrl, ...wrong], { env });
  await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/^--write takes/) });
  expect(emulator.requests).toEqual([]);
});

/** A service that lies, with the key and an address in its names, codes and types. */
const LIES = {
  error_code: `ERR_${KEY}`,
  endpoints: [{ id: "ep_canary", type: `cloud ${KEY}`, [`http://canary.example.com`]: 1, extra: KEY }, null],
  next_page_uri: "http://canary.example.com/next",
};

test("the probe prints no key and no address of a service that repeats them", async () => {
  const server = createServer((_, response) =>
    response.writeHead(200, { date: KEY }).end(JSON.stringify(LIES)),
  );
  const lines = await probe(`http://${await listening(server)}`);
  expect(lines).toEqual(
    expect.arrayContaining([
      "Date: replies have none, or in another form",
      ": 2 items: 1 of another type",
      ": 1 items are no objects",
      "next page: a whole URL on another host",
      "unknown fields: a name in another form, extra",
      "a cloud endpoint by id: not asked: the first page has none",
      "an unknown id: status 200",
      ": a code in another form",
      ": no operation id",
    ]),
  );
  expect(lines.join()).not.toMatch(/canary|CANARY|127\.0\.0\.1/);
});

test("the probe stops after a page in place of the list, and names a lost connection without its address", async () => {
  const page = createServer((_, response) => response.end(`<html>${KEY}</html>`));
  expect(await probe(`http://${await listening(page)}`)).toContain("list: status 200, no JSON");
  const closed = createServer();
  const address = await listening(closed);
  closed.close();
  const failure: { stdout: string } = await probe(`http://${address}`).catch((error) => error);
  expect(failure.stdout).toMatch(/failed +ECONNREFUSED/);
  expect(failure.stdout).not.toContain("127.0.0.1");
});
