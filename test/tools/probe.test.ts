import { execFile } from "node:child_process";
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
