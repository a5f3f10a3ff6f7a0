import { expect, test } from "vitest";
import type { RunResult } from "../../sdk/testing";
import { edit, errors, failure, onBothDrivers, plainIn } from "./setup";

/** Every secret of these programs contains this, or begins with it in base64. */
const CANARY = /CANARY|Q0FOQV/i;

const SECRETS = {
  url: "https://canary.example.com",
  body: 'CANARY-body <1> & "2"\n',
  description: "CANARY-description/+",
  metadata: "CANARY-metadata",
};

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const spellingsOf = (text: string) => [
  ...[text, json(json(text)), encodeURIComponent(text), Buffer.from(text).toString("base64")],
];

const secret = (text: string) => `pulumi.secret(${JSON.stringify(text)})`;
const program = (kind: string) => `
const shop = new CloudEndpoint("shop", {
  url: ${secret(SECRETS.url)},
  trafficPolicy: { on_http_request: [{ actions: [{ type: "custom-response", config: { body: ${secret(SECRETS.body)} } }] }] },
  description: ${secret(SECRETS.description)},
  metadata: { note: ${secret(SECRETS.metadata)}, kind: "${kind}" },
});
const derived = [shop.publicUrl, shop.hostport, shop.trafficPolicy, shop.metadata];
module.exports = { areSecret: pulumi.all(derived.map((output) => pulumi.isSecret(output))) };`;

const printed = ({ text, diagnostics, steps }: RunResult) => text + JSON.stringify([diagnostics, steps]);

onBothDrivers("a program's secrets", (start) => {
  test.each(["dynamic", "plugin"])(
    "are in no output of the %s provider, whatever the service repeats, and in no plain part of the state",
    async (provider) => {
      const env = { ENDPOINTS_PROVIDER: provider, ENDPOINTS_LOG: "requests" };
      const stack = await start(program("one"), { env });
      const words = Object.values(SECRETS).flatMap(spellingsOf);
      const msg = `unknown action "dney" at on_http_request[0], beside ${words.join(" | ")}.`;
      const body = { error_code: `ERR_${words[4]}`, msg, details: { operation_id: `op_${words[6]}` } };
      let isRefusing = true;
      stack.emulator.intercept(() => isRefusing, { status: 418, body }, 99);
      const refused = await failure(stack.up());
      expect(errors(refused).filter((error) => error.includes("418"))).toEqual([
        expect.stringMatching(/POST \/endpoints: status 418 \(the service's text is left out, .*\. Correct/),
      ]);
      isRefusing = false;
      const up = await stack.up();
      expect(up.outputs).toEqual({ areSecret: [true, true, true, true] });
      expect(up.diagnostics.map(({ message }) => message.trim())).toContainEqual(
        expect.stringMatching(/^endpoints: \S+Z POST \/endpoints 201 \d+ms -$/),
      );
      // This process knows only the secrets of the state.
      isRefusing = true;
      const refresh = await failure(stack.refresh());
      edit(stack, program("two"));
      const change = await failure(stack.up());
      for (const run of [refused, up, refresh, change]) {
        expect(printed(run)).not.toMatch(CANARY);
        expect(run.text).not.toMatch(/\n\s+at .*\(/);
      }
      expect(plainIn(await stack.exportState())).not.toMatch(CANARY);
    },
  );
});
