import { expect, test } from "vitest";
import { remedyFor } from "../../../provider/api/apiErrors";
import { service } from "../service";

const failure = (status: number, number?: number) => ({
  status,
  code: number === undefined ? undefined : `ERR_NGROK_${number}`,
  message: undefined,
  operationId: undefined,
});
const remedy = (status: number, number?: number) =>
  remedyFor(failure(status, number), { keyIsConfigured: false, isOfEndpoint: true });
const page = (number: number) => `https://ngrok.com/docs/errors/err_ngrok_${number}`;

/* The service documents the status of only a few codes, so the remedy must not depend on it. */
test.each<[number, RegExp | string]>([
  [204, `See ${page(204)}.`],
  [218, /set endpoints:versionHeader/],
  [2235, `See ${page(2235)}.`],
  [18005, /to replace the endpoint/],
  [18017, /choose another url/],
  [18023, `See ${page(18023)}.`],
])("code %i has its remedy with any status", (number, expected) => {
  const remedies = new Set([400, 401, 402, 403, 409, 422].map((status) => remedy(status, number)));
  expect([...remedies]).toEqual([typeof expected === "string" ? expected : expect.stringMatching(expected)]);
});

test("only the refusal of a change without a code, or with the general one, says how to go on if url cannot change", () => {
  const ofCreate = remedyFor(failure(400, 18014), { keyIsConfigured: false, isOfEndpoint: false });
  const others = [remedy(400, 18012), remedy(500), remedy(404), ofCreate];
  const isNamed = (text = "") => text.includes("never changes url or poolingEnabled");
  expect([remedy(400), remedy(422, 18014), ...others].map(isNamed)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("a create that the plan does not allow fails with the service's page", async () => {
  const { core, emulator } = await service();
  emulator.intercept("create", { status: 400, body: { error_code: "ERR_NGROK_18008", msg: "no access" } });
  await expect(core.create({ url: "https://shop.example.com" })).rejects.toThrow(
    `ERR_NGROK_18008 no access. See ${page(18008)}`,
  );
});
