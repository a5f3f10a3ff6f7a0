import { expect, test } from "vitest";
import { RequestNotSimulated } from "../../sdk/testing";
import { startEmulator } from "./policies";

test.each([
  ["https://pool.example.com", "the choice between 2 endpoints for https://pool.example.com"],
  ["https://edge.example.com", "the edge https://edge.example.com"],
])("a request to %s is not answered", async (url, words) => {
  const emulator = await startEmulator({});
  for (const _ of [1, 2]) emulator.seed({ type: "cloud", url: "https://pool.example.com" });
  emulator.seed({ type: "edge", public_url: "https://edge.example.com" });
  await expect(emulator.fetch(url)).rejects.toThrow(RequestNotSimulated);
  await expect(emulator.fetch(url)).rejects.toThrow(words);
});
