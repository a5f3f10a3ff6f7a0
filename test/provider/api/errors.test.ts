import { expect, test } from "vitest";
import { ConnectionError } from "../../../provider/api/apiErrors";

const refused = (origin: string) =>
  new ConnectionError(
    { method: "GET", path: "/endpoints" },
    Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
    {
      origin,
      wentOut: false,
    },
  ).message;

test("an address of this machine that does not answer may be an emulator that has ended", () => {
  for (const origin of ["http://127.0.0.1:4980", "http://localhost:4980", "http://[::1]:4980"])
    expect(refused(origin)).toContain(". If this is the emulator, start it. Check that");
  for (const origin of ["https://api.ngrok.com", "https://localhost.example.com"])
    expect(refused(origin)).not.toContain("emulator");
});
