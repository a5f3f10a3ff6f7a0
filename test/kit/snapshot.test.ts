import { expect, test } from "vitest";
import { Emulator, type RunResult, snapshotOf } from "../../sdk/testing";
import type { Diagnostic } from "../../sdk/testing/types";

const urnOf = (name: string) => `urn:pulumi:test::shop::endpoints:index:CloudEndpoint::${name}`;

const resultWith = (more: Partial<RunResult>): RunResult => ({
  command: "up",
  ok: true,
  outputs: {},
  steps: [],
  changes: {},
  diagnostics: [],
  requests: [],
  seconds: 0,
  text: "",
  ...more,
});

test("a snapshot does not depend on the order in which parallel operations end", () => {
  const diagnostics: Diagnostic[] = [
    { severity: "info", message: "waiting" },
    { severity: "error", message: "refused", urn: urnOf("api") },
    { severity: "error", message: "conflict", urn: urnOf("api") },
    { severity: "info", message: "refused", urn: urnOf("api") },
    { severity: "info", message: "done" },
  ];
  const snapshot = snapshotOf(resultWith({ diagnostics }));
  expect(snapshotOf(resultWith({ diagnostics: diagnostics.toReversed() }))).toEqual(snapshot);
  expect(snapshot.diagnostics).toEqual([
    { severity: "info", message: "done" },
    { severity: "info", message: "waiting" },
    { severity: "error", message: "conflict", name: "api" },
    { severity: "error", message: "refused", name: "api" },
    { severity: "info", message: "refused", name: "api" },
  ]);
});

test("a snapshot replaces the ids of the emulator, but not similar texts of the program", async () => {
  const emulator = await Emulator.start();
  try {
    const urls = ["https://a.example.com", "tcp://1.tcp.example.com:1", "tls://b.example.com"];
    for (const url of urls) emulator.seed({ type: "cloud", url });
    emulator.seed({ type: "ephemeral" });
    for (const proto of ["https", "tls", "tcp"])
      emulator.seed({ type: "edge", public_url: `${proto}://c.example.com` });
    const refused = await fetch(`${emulator.baseUrl}/endpoints/ep_0`);
    const given = [...emulator.endpoints, await refused.text()].map((one) => JSON.stringify(one));
    const { outputs } = snapshotOf(resultWith({ outputs: { given } }));
    expect(JSON.stringify(outputs)).not.toMatch(/[a-z]+_[0-9A-Za-z]{27}\b/);

    const own = { label: "release_20261122abcdefghijklmnop", id: "ep_0123456789abcdefghijABCDEFG" };
    expect(snapshotOf(resultWith({ outputs: own })).outputs).toEqual({ ...own, id: "[id]" });
  } finally {
    await emulator.close();
  }
});
