import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { emulatorCommand } from "../../../../sdk/commands/emulator";
import { start } from "./calls";

const out: string[] = [];
const errors: string[] = [];

beforeEach(() => {
  out.length = 0;
  errors.length = 0;
  vi.spyOn(console, "log").mockImplementation((line) => void out.push(line));
  vi.spyOn(console, "error").mockImplementation((line) => void errors.push(line));
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the emulator command", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "serves, prints a line a request, and ends on %s with 0",
    async (signal) => {
      const ended = emulatorCommand([
        "--api-key",
        "it's",
        "--version-header",
        "Ngrok-Version",
        "--seed",
        "4",
      ]);
      await expect.poll(() => process.listenerCount(signal)).toBe(1);
      const exported = out.find((line) => line.startsWith("export ENDPOINTS_BASE_URL="));
      const baseUrl = exported?.match(/=(http:\S+) ENDPOINTS_API_KEY='it'\\''s'$/)?.[1];
      expect(out).toContain("export ENDPOINTS_VERSION_HEADER=Ngrok-Version");

      const headers = { authorization: "Bearer it's", "ngrok-version": "2" };
      const reply = await fetch(`${baseUrl}/endpoints`, { headers });
      const { endpoints } = (await reply.json()) as { endpoints: { type: string }[] };
      expect(endpoints.map(({ type }) => type)).toEqual(["cloud", "edge", "ephemeral", "cloud"]);
      await expect.poll(() => out.at(-1)).toBe("GET /endpoints 200");

      process.emit(signal);
      expect(await ended).toBe(0);
      expect(process.listenerCount(signal)).toBe(0);
      await expect(fetch(`${baseUrl}/endpoints`, { headers })).rejects.toThrow();
    },
  );

  it("says in one line that a port is in use, and ends with 1", async () => {
    const port = new URL((await start()).baseUrl).port;
    expect(await emulatorCommand(["--port", port])).toBe(1);
    expect(errors).toEqual([`pulumi-endpoints emulator: port ${port} is in use; choose another with --port`]);
  });

  it.each([
    [["--prot", "1"], "--prot"],
    [["extra"], "extra"],
    [["--port", "abc"], "--port takes a whole number"],
    [["--port", "70000"], "65535"],
    [["--seed", "-1"], "--seed"],
    [["--api-key", ""], "--api-key"],
    [["--version-header", "a b"], "--version-header"],
  ])("refuses %j with a message and 2", async (args, word) => {
    expect(await emulatorCommand(args)).toBe(2);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(word);
    expect(out).toEqual([]);
  });

  it("lists its options for --help, and ends with 0", async () => {
    expect(await emulatorCommand(["--help"])).toBe(0);
    for (const option of ["--port", "--api-key", "--version-header", "--seed"])
      expect(out.join()).toContain(option);
  });
});
