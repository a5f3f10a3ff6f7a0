import { expect, test } from "vitest";
import type { DriftReport } from "../../../sdk/commands/drift/report";
import { viewOf } from "../../../sdk/commands/drift/reportView";
import { tooLong } from "../../messages";
import { runDrift } from "./driftRun";
import { fixtures } from "./fixtures";
import { emulator, other } from "./stacks";

/** The report as a line for each part, without what is empty. */
function linesOf({ outcome, exitCode, stacks, accounts, shared }: DriftReport): string[] {
  const line = (value: object) =>
    JSON.stringify(value, (key, part) => {
      const isEmpty = part === false || part === 0 || (Array.isArray(part) && part.length === 0);
      return isEmpty || key === "urn" || key === "type" ? undefined : part;
    });
  return [
    `${outcome}, exit code ${exitCode}`,
    ...stacks.flatMap(({ drifted, pendingCreates, unchecked, ...stack }) => [
      line(stack),
      ...pendingCreates.map((create) => JSON.stringify({ ...create, urn: undefined, type: undefined })),
      ...drifted.flatMap(({ changes, ...one }) => [line(one), ...changes.map(line)]),
      ...unchecked.map(line),
    ]),
    ...accounts.flatMap(({ unmanaged, ignored, unchecked, ...account }) =>
      [account, ...unmanaged, ...ignored, ...unchecked].map(line),
    ),
    ...shared.map(line),
  ];
}

test.each(Object.keys(fixtures))("drift reports a fixture in which %s", async (name) => {
  const fixture = fixtures[name]?.();
  if (!fixture) throw new Error(`there is no fixture ${name}`);
  const ended = await runDrift(fixture.stacks, fixture);
  const { report, stdout, stderr, json, page, code } = ended;
  const steady = (text: string) =>
    text
      .replaceAll(emulator.baseUrl, "http://service")
      .replaceAll(other.baseUrl, "http://other")
      .replaceAll(/op_\w+/g, "op_1")
      // The time of an edit during the run.
      .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+/g, (time) => (time < "2026-02" ? time : "now"));
  const requests = [emulator, other].flatMap((on) =>
    on.requests.map(({ method, path }) => `${method} ${path}`).sort(),
  );
  expect(steady([...linesOf(report), "", ...requests, "", stdout].join("\n"))).toMatchSnapshot();
  expect(code).toBe(report.exitCode);
  const told = viewOf(report).sections.flatMap(({ remedy = "", items }) => [
    remedy,
    ...items.map(({ text = "" }) => text),
  ]);
  expect(tooLong(told)).toEqual([]);

  const headline = stdout.trimEnd().split("\n").at(-1) ?? "";
  expect(page).toContain(headline.replaceAll("'", "&#39;"));
  for (const form of [stdout, stderr, json, page]) {
    expect(form).not.toMatch(/canary|123456/i);
    // No line offers a deletion.
    expect(form).not.toMatch(/DELETE|delete it/);
    for (const { apiKey } of [emulator, other]) expect(form).not.toContain(apiKey);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no form may contain control characters
    expect(form).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]|##\w*\[/u);
  }
  expect(page).not.toMatch(/<script|<img|onerror="|`/);
  expect(page.match(/<\/style>/g)).toHaveLength(1);
});
