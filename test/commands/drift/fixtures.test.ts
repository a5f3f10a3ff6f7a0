import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { MASKED } from "../../../provider/endpoint/secretSearch";
import { realClock } from "../../../provider/service/clock";
import { viewOf } from "../../../sdk/commands/drift/reportView";
import { tooLong } from "../../messages";
import { runDrift } from "./driftRun";
import { fixtures } from "./fixtures";
import { emulator, other } from "./stacks";

// The wait between two reads of a missing endpoint takes no time.
beforeAll(() => void vi.spyOn(realClock, "sleep").mockResolvedValue());
afterAll(() => void vi.restoreAllMocks());

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
  const shown = [`${report.outcome}, exit code ${code}`, ...requests, "", stdout];
  // One report shows the form in JSON. `runDrift` parses that of every fixture.
  if (name === "every field has drifted") shown.push(json);
  expect(steady(shown.join("\n"))).toMatchSnapshot();
  expect(report).toMatchObject(fixture.report ?? {});
  expect(stdout).toContain(fixture.line ? `\n    ${fixture.line}\n` : "");
  expect(code).toBe(report.exitCode);
  const { promise } = fixture;
  if (promise) {
    expect(code).toBe(promise.code);
    expect(stdout).toContain(promise.says);
    if (promise.never !== undefined) expect(stdout).not.toContain(promise.never);
  }
  for (const { changes } of report.stacks.flatMap(({ drifted }) => drifted))
    for (const { secret, expected, live } of changes) expect(secret).toBe([expected, live].includes(MASKED));
  const told = viewOf(report).sections.flatMap(({ remedy = "", items }) => [
    remedy,
    ...items.map(({ text = "" }) => text),
  ]);
  expect(tooLong(told)).toEqual([]);

  const [headline = ""] = stdout.split("\n");
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
