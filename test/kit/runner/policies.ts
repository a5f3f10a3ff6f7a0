import { onTestFinished } from "vitest";
import { Emulator, type FetchOptions } from "../../../sdk/testing";

/* Policies for tests, and the endpoint that has them. */

export const URL = "https://shop.example.com";

export async function startEmulator(policies: Record<string, unknown>): Promise<Emulator> {
  const emulator = await Emulator.start();
  onTestFinished(() => emulator.close());
  for (const [url, policy] of Object.entries(policies)) seed(emulator, url, policy);
  return emulator;
}

export function seed(emulator: Emulator, url: string, policy: unknown): void {
  const binding = url.endsWith(".internal") ? "internal" : "public";
  emulator.seed({ type: "cloud", url, bindings: [binding], traffic_policy: JSON.stringify(policy) });
}

export type Action = { type: string; config?: unknown };

export const HELLO: Action = {
  type: "custom-response",
  config: { body: "hello", headers: { "content-type": "text/plain" } },
};
export const request = (...actions: Action[]) => ({ on_http_request: [{ actions: [...actions, HELLO] }] });
export const when = (expression: string) => ({
  on_http_request: [{ expressions: [expression], actions: [{ type: "deny" }] }, { actions: [HELLO] }],
});

export async function send(policy: unknown, options: FetchOptions = {}, path = "/") {
  const emulator = await startEmulator({ [URL]: policy });
  return emulator.fetch(URL + path, options);
}

/** What an action did to the request, by the text that it writes. */
export const shows = (text: string): Action => ({
  type: "custom-response",
  config: { body: text, headers: { "content-type": "text/plain" } },
});
