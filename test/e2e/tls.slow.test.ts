import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { issue } from "../certificates";
import { emulatedService } from "../emulatedService";
import { temporaryFolder } from "../folders";
import { startTls } from "../provider/servers";
import { errors, failure, onKit } from "./setup";

const program = `new CloudEndpoint("shop", { url: "https://shop.example.com" });`;

onKit("a service with a certificate that Node.js does not trust", (start) => {
  test("fails `up` with the remedy, and is reached once the remedy is obeyed", async () => {
    const emulator = await emulatedService({});
    const certificate = issue("gateway");
    const baseUrl = await startTls(certificate, new URL(emulator.baseUrl).host);
    const config = { "endpoints:baseUrl": baseUrl };
    const stack = await start(program, { emulator, config });
    const failed = await failure(stack.up());
    expect(errors(failed).join("\n")).toMatch(
      /DEPTH_ZERO_SELF_SIGNED_CERT.*its path into NODE_EXTRA_CA_CERTS/,
    );
    expect(emulator.requests).toEqual([]);
    expect(failed.text).not.toMatch(/are repeated for|may exist/);

    const file = join(temporaryFolder(), "authority.pem");
    writeFileSync(file, certificate.cert);
    const trusting = await start(program, { emulator, config, env: { NODE_EXTRA_CA_CERTS: file } });
    await trusting.up();
    expect(emulator.endpoints).toMatchObject([{ url: "https://shop.example.com" }]);
  });

  test("for another host fails `up` with the setting to correct", async () => {
    const emulator = await emulatedService({});
    const certificate = issue("elsewhere", { address: [10, 0, 0, 1] });
    const baseUrl = await startTls(certificate, new URL(emulator.baseUrl).host);
    const file = join(temporaryFolder(), "authority.pem");
    writeFileSync(file, certificate.cert);
    const stack = await start(program, {
      emulator,
      config: { "endpoints:baseUrl": baseUrl },
      env: { NODE_EXTRA_CA_CERTS: file },
    });
    expect(errors(await failure(stack.up())).join("\n")).toMatch(
      /ERR_TLS_CERT_ALTNAME_INVALID.* is for another host: correct the host in endpoints:baseUrl/,
    );
  });
});
