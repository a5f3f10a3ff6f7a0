import { expect, test, vi } from "vitest";
import { UnsentError } from "../../../provider/api/apiErrors";
import { CONNECTIONS } from "../../../provider/api/client";
import { service, thrown } from "../service";

/** A client whose waits never end. */
const waiting = (settings: Record<string, string> = {}) =>
  service({ settings, sleep: () => new Promise(() => {}) });

test("a stopped client fails a request that waits for a repetition, with its last error", async () => {
  const { emulator, api } = await waiting();
  emulator.intercept(() => true, { status: 503, body: "" });
  const error = thrown(api.get("ep_1"));
  await vi.waitUntil(() => emulator.requests.some(({ status }) => status === 503), 60_000);
  api.http.stop();
  expect(await error).toMatchObject({ status: 503 });
});

test("a stopped client cancels requests that wait for a connection", async () => {
  const { emulator, api } = await waiting();
  emulator.intercept(() => true, { hang: true }, 30);
  const errors = Array.from({ length: 30 }, () => thrown(api.get("ep_1")));
  await vi.waitUntil(() => emulator.requests.length === CONNECTIONS.provider, 60_000);
  api.http.stop();
  for (const error of await Promise.all(errors.slice(CONNECTIONS.provider)))
    expect(error).toBeInstanceOf(UnsentError);
  expect(emulator.requests).toHaveLength(CONNECTIONS.provider);
  await emulator.close();
  await Promise.all(errors);
});
