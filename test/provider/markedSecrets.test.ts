import { afterEach, describe, expect, test, vi } from "vitest";
import { canonicalJson } from "../../provider/api/json";
import { UNKNOWN } from "../../provider/document";
import type { RecordedRequest } from "../../sdk/testing";
import { bothProviders, type Options, type Props } from "./bothProviders";
import { secret } from "./plugin/pluginClient";
import { thrown } from "./service";

/* Secrets of a program on both providers. The property `__secrets` lists their places. */

const url = "https://shop.example.com";
const policy = (body: unknown) => ({
  on_http_request: [{ actions: [{ type: "custom-response", config: { body } }] }],
});
const inPolicy = "trafficPolicy.on_http_request[0].actions[0].config.body";
const isPost = ({ method }: RecordedRequest) => method === "POST";
const refusal = (msg: string) => ({ status: 418, body: { error_code: "ERR_NGROK_9", msg } });

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe.each(bothProviders)("%s", (_, start) => {
  async function created(news: Props, options?: Options) {
    const provider = await start(options);
    const { inputs } = await provider.check({}, news);
    return { ...provider, inputs, ...(await provider.create(inputs)) };
  }

  /** The error of a create that the service refuses with this message. */
  async function refused(news: Props, text: string): Promise<string> {
    const provider = await start();
    const { inputs, failures } = await provider.check({}, news);
    expect(failures).toEqual([]);
    provider.emulator.intercept(isPost, refusal(text));
    return (await thrown(provider.create(inputs))).message;
  }

  describe("a message of the service", () => {
    test.each<[string, Props, string, string]>([
      ["a description", { description: "CANARY-1", __secrets: ["description"] }, '"CANARY-1"', '"[secret]"'],
      [
        "a part of a policy",
        { trafficPolicy: policy("CANARY-1"), __secrets: [inPolicy] },
        'a custom-response at actions[0] has "CANARY-1"',
        'a custom-response at actions[0] has "[secret]"',
      ],
      [
        "a word of a secret policy text",
        { trafficPolicy: JSON.stringify(policy("CANARY-1")), __secrets: ["trafficPolicy"] },
        "on_http_request[0] has CANARY-1",
        "on_http_request[0] has [secret]",
      ],
      [
        "a key of metadata",
        { metadata: { "CANARY-1": true, team: "x" }, __secrets: ["metadata"] },
        "team and CANARY-1",
        "team and [secret]",
      ],
      [
        "a number",
        { metadata: { pin: 12345678 }, __secrets: ["metadata.pin"] },
        "12345678, 1.2345678e+07",
        "[secret], [secret]",
      ],
      ["bindings", { bindings: ["CANARY-1"], __secrets: ["bindings[0]"] }, "CANARY-1", "[secret]"],
      [
        "a URL",
        { url: "https://canary-1.example.com", __secrets: ["url"] },
        "canary-1.example.com",
        "[secret]",
      ],
      ["a very short secret", { description: "7", __secrets: ["description"] }, "7 is no text", "[secret]"],
      [
        "unmarked values with the names of secrets",
        { trafficPolicy: { secret: "CANARY-1" }, metadata: { password: "CANARY-2" } },
        "CANARY-1 CANARY-2 CANARY-3",
        "[secret] [secret] CANARY-3",
      ],
    ])("is shown without %s", async (_, news, text, shown) => {
      const message = await refused({ url, ...news }, text);
      expect(message).toContain(`status 418, ERR_NGROK_9 ${shown}`);
      if (!text.includes("CANARY-3")) expect(message).not.toMatch(/canary|7 is/i);
    });

    test("is shown without secrets of the state, for a read, an update and a delete", async () => {
      const { emulator, inputs, id, outs, ...provider } = await created({
        url,
        description: "CANARY-1",
        __secrets: ["description"],
      });
      emulator.intercept(({ path }) => path.startsWith("/endpoints"), refusal('near "CANARY-1"'), 99);
      for (const call of [
        () => provider.read(id, outs, inputs),
        () => provider.update(id, outs, { ...inputs, metadata: "new" }),
        () => provider.delete(id, outs),
      ])
        expect((await thrown(call())).message).toMatch(/near "\[secret\]"/);
    });

    test("is logged by ENDPOINTS_LOG without secrets", async () => {
      vi.stubEnv("ENDPOINTS_LOG", "requests");
      const trace = vi.spyOn(process.stderr, "write").mockReturnValue(true);
      const provider = await start();
      const { inputs } = await provider.check(
        {},
        { url, description: "CANARY-1", __secrets: ["description"] },
      );
      const body = { error_code: "ERR_CANARY-1", msg: "", details: { operation_id: "op_CANARY-1" } };
      provider.emulator.intercept(isPost, { status: 418, body });
      expect((await thrown(provider.create(inputs))).message).toContain(
        "ERR_[secret] (operation op_[secret])",
      );
      const lines = [...trace.mock.calls.map(([line]) => String(line)), ...provider.logged()].join();
      expect(lines).toContain("418 ERR_[secret] op_[secret]");
      expect(lines).not.toContain("CANARY");
    });
  });

  describe("a message of the provider", () => {
    test("is shown without a secret URL, and without a secret in a live description", async () => {
      const provider = await start();
      const news = {
        url: "https://canary.example.com",
        metadata: "CANARY-1",
        __secrets: ["url", "metadata"],
      };
      const { inputs } = await provider.check({}, news);
      provider.emulator.seed({ type: "cloud", url: news.url, description: "was CANARY-1" });
      const { message } = await thrown(provider.create(inputs));
      expect(message).toMatch(/^cannot create \[secret\]: .*described as “was \[secret\]”/);
      expect(message).not.toMatch(/canary/i);
    });

    test("about an adoption is shown without a secret key and a secret URL", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url: "https://canary.example.com" });
      const adopt = { adopt: id, url: "https://canary.example.com", metadata: { "CANARY-1": 1 } };
      await provider.check({}, { ...adopt, __secrets: ["url", "metadata"] });
      expect(provider.logged()).toEqual([
        expect.stringMatching(/^\[secret\]: adopts ep_\w+, and changes metadata/),
      ]);
      const other = { adopt: id, url: "tls://canary.example.com", __secrets: ["url"] };
      const { failures } = await provider.check({}, other);
      expect(failures).toEqual([{ property: "", reason: expect.stringMatching(/\[secret\].*\[secret\]/) }]);
      expect(JSON.stringify([provider.logged(), failures])).not.toMatch(/canary/i);
    });
  });

  describe("the outputs", () => {
    test("are secret if their inputs are, also fields that follow from a secret URL, and the note has only places", async () => {
      const { outs, inputs, id, ...provider } = await created({
        url,
        trafficPolicy: policy("CANARY-1"),
        description: "plain",
        __secrets: [inPolicy, "url"],
      });
      expect(outs).toMatchObject({
        url: secret(url),
        publicUrl: secret(url),
        hostport: secret("shop.example.com:443"),
        trafficPolicy: secret(canonicalJson(policy("CANARY-1"))),
        description: "plain",
        __secrets: [inPolicy, "url"],
      });
      const found = await provider.read(id, plain(outs), inputs);
      expect(found.props).toMatchObject(outs);
      expect((await provider.update(id, plain(outs), inputs)).outs).toMatchObject(outs);
    });

    test.each<[string, Props]>([
      ["a description", { description: "see CANARY-1" }],
      ["a description, URL-encoded", { description: "see%20CANARY%2D1" }],
      ["metadata", { metadata: '{"a":["CANARY-1"]}' }],
      ["a key of metadata", { metadata: '{"CANARY-1":1}' }],
      ["a policy", { traffic_policy: '{"a":"CANARY-1"}' }],
      ["an invalid policy", { traffic_policy: "a: CANARY-1: b" }],
      ["bindings", { bindings: ["public", "CANARY-1"] }],
      ["the URL", { url: "https://canary-1.example.com" }],
    ])("keep a secret that somebody moved by hand into %s, in each of three refreshes", async (_, edit) => {
      const news = {
        url,
        metadata: { key: "CANARY-1" },
        bindings: ["public"],
        __secrets: ["metadata.key"],
      };
      const { id, inputs, outs, emulator, ...provider } = await created(news);
      emulator.edit(id, { metadata: '{"key":"new"}', ...edit });
      let state = { props: outs, inputs };
      for (let refresh = 0; refresh < 3; refresh++) {
        const { props = {}, inputs } = await provider.read(id, plain(state.props), plain(state.inputs));
        expect(inPlain([props, inputs])).not.toMatch(/canary/i);
        expect(JSON.stringify(props)).toMatch(/canary/i);
        state = { props, inputs: inputs ?? {} };
      }
    });

    test("have a secret document if somebody adds a value with the name of a secret", async () => {
      const { id, inputs, outs, emulator, ...provider } = await created({ url, trafficPolicy: policy("x") });
      emulator.edit(id, { traffic_policy: '{"client_secret":"CANARY-1"}' });
      const found = await provider.read(id, outs, inputs);
      expect(found.props).toMatchObject({ trafficPolicy: secret('{"client_secret":"CANARY-1"}') });
      expect(found.inputs).toMatchObject({ trafficPolicy: secret({ client_secret: "CANARY-1" }) });
    });

    test("are not secret if the program gave them in plain, or if they share only a word with a secret document", async () => {
      const news = {
        url,
        description: "the public shop",
        trafficPolicy: { a: "public", b: url, c: "https" },
        bindings: ["internal"],
        __secrets: ["trafficPolicy"],
      };
      const { id, inputs, outs, emulator, ...provider } = await created(news);
      expect(outs).toMatchObject({ url, publicUrl: url, description: "the public shop" });
      emulator.edit(id, { bindings: ["public"], description: "another public shop" });
      const { props } = await provider.read(id, plain(outs), inputs);
      expect(props).toMatchObject({ url, bindings: ["public"], description: "another public shop" });
    });

    test("have no note if nothing is secret", async () => {
      const { id, inputs, outs, ...provider } = await created({ url, description: "plain" });
      const found = await provider.read(id, outs, inputs);
      for (const props of [inputs, outs, found.props, found.inputs])
        expect(props).not.toHaveProperty("__secrets");
    });
  });

  test("a value that becomes secret is a change without a request, and one that is no longer secret is no change", async () => {
    const { id, outs, inputs, emulator, ...provider } = await created({ url, description: "CANARY-1" });
    const news = { ...inputs, __secrets: ["description"] };
    expect(await provider.diff(id, outs, news)).toMatchObject({ changes: true, replaces: [] });
    const marked = (await provider.update(id, outs, news)).outs;
    expect(emulator.requests).toHaveLength(1);
    expect(inPlain(marked)).not.toContain("CANARY");
    expect(await provider.diff(id, plain(marked), news)).toMatchObject({ changes: false });
    expect(await provider.diff(id, plain(marked), inputs)).toMatchObject({ changes: false });
  });

  test("a secret part of a document that was secret as a whole is no change", async () => {
    const { id, outs, inputs, ...provider } = await created({
      url,
      trafficPolicy: policy("CANARY-1"),
      __secrets: ["trafficPolicy"],
    });
    const news = { ...inputs, __secrets: [inPolicy] };
    expect(await provider.diff(id, plain(outs), news)).toMatchObject({ changes: false });
    const beside = { ...plain(outs), __secrets: ["trafficPolicy.on_http"] };
    expect(await provider.diff(id, beside, news)).toMatchObject({ changes: true });
  });
});

/** The properties without marks, as the dynamic provider gets them. */
const plain = (props: Props): Props =>
  Object.fromEntries(
    Object.entries(props).map(([name, value]) => [name, isMarked(value) ? value["value"] : value]),
  );

/** The value as JSON, without its secrets. */
const inPlain = (value: unknown) => JSON.stringify(value, (_, part) => (isMarked(part) ? "marked" : part));

function isMarked(value: unknown): value is Props {
  return typeof value === "object" && value !== null && Object.keys(secret("")).every((key) => key in value);
}

test("the dynamic provider logs the changed places of a secret document, without values, once they are known", async () => {
  const [[, start] = []] = bothProviders;
  const provider = await start?.();
  if (!provider) throw new Error("there is no dynamic provider");
  const news = (body: string, status: unknown, places = [inPolicy]) => ({
    url,
    trafficPolicy: { ...policy(body), on_http_response: [{ status, "X-CANARY": status }] },
    __secrets: places,
  });
  const { id, outs } = await provider.create(news("CANARY-1", 404));
  // The engine unwraps the secrets of a dynamic resource.
  const state = { ...outs, trafficPolicy: (outs["trafficPolicy"] as Props)["value"] };
  const logged = async (after: Props) => {
    const before = provider.logged().length;
    await provider.diff(id, state, after);
    return provider.logged().slice(before);
  };
  expect(await logged(news("CANARY-1", 404))).toEqual([]);
  expect(await logged(news("CANARY-1", UNKNOWN))).toEqual([]);
  for (const places of [[inPolicy], ["trafficPolicy"]])
    expect(await logged(news("CANARY-2", 403, places))).toEqual([
      `${url}: changes ${inPolicy}, trafficPolicy.on_http_response[0]["[secret]"], trafficPolicy.on_http_response[0].status`,
    ]);
});
