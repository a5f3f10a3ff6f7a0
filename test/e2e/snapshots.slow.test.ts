import { expect, test } from "vitest";
import { edit, onBothDrivers } from "./setup";

const POLICY = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const program = (description: string) => `
const trafficPolicy = ${JSON.stringify(POLICY)};
const api = new CloudEndpoint("api", { url: "https://api.example.com", trafficPolicy });
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy, description: "${description}" });
module.exports = { created: shop.createdAt, uri: pulumi.interpolate\`\${shop.uri} of \${api.id}\` };
`;

onBothDrivers("a result", (start) => {
  test("with unexpected changes fails with their names", async () => {
    const stack = await start(program("front door"));
    await expect(stack.preview({ expectNoChanges: true })).rejects.toThrow(
      /no changes were expected.*: create (api, create shop|shop, create api)$/,
    );
    await stack.up();
    edit(stack, program("back door"));
    await expect(stack.preview({ expectNoChanges: true })).rejects.toThrow(
      /no changes were expected.*: update shop \(~description\)$/,
    );
  });
});
