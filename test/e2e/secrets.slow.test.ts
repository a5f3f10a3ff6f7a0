import { describe, expect, test } from "vitest";
import type { RunResult } from "../../sdk/testing";
import { edit, errors, failure, onBothDrivers, plainIn } from "./setup";

/* No output of Pulumi and no plain part of the state contains a secret of the program, whatever the service replies. */

/** Every secret of these programs contains this, or begins with it in base64. */
const CANARY = /CANARY|Q0FOQV/i;

const SECRETS = {
  body: 'CANARY-body <1> & "2"\n',
  description: "CANARY-description/+",
  key: "CANARY-key",
  metadata: "CANARY-metadata",
};

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const go = (text: string) =>
  json(text).replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
const spellings: ((text: string) => string)[] = [
  (text) => text,
  (text) => json(json(text)),
  go,
  (text) => encodeURIComponent(text),
  (text) => encodeURIComponent(text).replaceAll("%20", "+").toLowerCase(),
  (text) => text.slice(2, -1),
  (text) => Buffer.from(text).toString("base64"),
];

const secret = (text: string) => `pulumi.secret(${JSON.stringify(text)})`;
const program = (more = "") => `
new CloudEndpoint("shop", {
  url: "https://shop.example.com",
  trafficPolicy: { on_http_request: [{ actions: [{ type: "custom-response", config: {
    status_code: 404, body: ${secret(SECRETS.body)}, headers: { "x-key": ${secret(SECRETS.key)} },
  } }] }] },
  description: ${secret(SECRETS.description)},
  metadata: { note: ${secret(SECRETS.metadata)}, kind: "plain" },
  ${more}
});`;

const printed = ({ text, diagnostics, steps }: RunResult) => text + JSON.stringify([diagnostics, steps]);

const isPost = ({ method }: { method: string }) => method === "POST";

describe.each(["dynamic", "plugin"])("with the %s provider", (provider) => {
  const config = { "endpoints:provider": provider };

  onBothDrivers("a secret that the service repeats", (start) => {
    test("is in no output, from any field and in any encoding", async () => {
      const stack = await start(program(), { config });
      const words = Object.values(SECRETS).flatMap((text) => spellings.map((spell) => spell(text)));
      const msg = `unknown action "dney" at on_http_request[0], beside ${words.join(" | ")}.`;
      const body = { error_code: `ERR_${words[0]}`, msg, details: { operation_id: `op_${words[6]}` } };
      stack.emulator.intercept(isPost, { status: 418, body });
      const result = await failure(stack.up());
      expect(errors(result).join()).toMatch(
        /POST \/endpoints: status 418 \(the service's text is left out, .*\. Correct the inputs/,
      );
      expect(printed(result)).not.toMatch(CANARY);

      // A later run knows the secrets of the state.
      await stack.up();
      stack.emulator.intercept(() => true, { status: 418, body }, 9);
      for (const run of [() => stack.refresh(), () => stack.destroy()])
        expect(printed(await failure(run()))).not.toMatch(CANARY);
      edit(stack, program().replace('kind: "plain"', 'kind: "other"'));
      expect(printed(await failure(stack.up()))).not.toMatch(CANARY);
    });
  });

  onBothDrivers("fields that follow from a secret URL", (start) => {
    test("are secret in the state and in the program, and no message shows them", async () => {
      const of = (url: string) => `
const shop = new CloudEndpoint("shop", { url: ${secret(url)} });
module.exports = { isSecret: pulumi.all([shop.publicUrl, shop.hostport].map((output) => pulumi.isSecret(output))) };`;
      const stack = await start(of("https://canary-1.example.com"), { config });
      stack.emulator.intercept(isPost, { status: 418, body: { msg: "no canary-1.example.com here" } });
      expect(printed(await failure(stack.up()))).not.toMatch(CANARY);
      const { outputs } = await stack.up();
      expect(outputs).toEqual({ isSecret: [true, true] });
      await stack.refresh({ expectNoChanges: true });
      edit(stack, of("https://canary-2.example.com"));
      expect(printed(await stack.up())).not.toMatch(CANARY);
      expect(plainIn(await stack.exportState())).not.toMatch(CANARY);
      await stack.destroy();
    });
  });

  onBothDrivers("an invalid secret", (start) => {
    // `check.test.ts` has every property.
    test("that two resources share is not printed with the reason", async () => {
      const twice = await start(
        `for (const name of ["a", "b"]) new CloudEndpoint(name, {
  url: ${secret("https://canary.example.com")}, bindings: ${secret("CANARY")}.apply((name) => [name, name]),
});`,
        { config },
      );
      const result = await failure(twice.preview());
      expect(errors(result).join()).toMatch(/bindings/);
      expect(printed(result)).not.toMatch(CANARY);
    });
  });
});
