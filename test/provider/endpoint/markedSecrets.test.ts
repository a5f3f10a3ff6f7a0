import { afterEach, describe, expect, test, vi } from "vitest";
import { canonicalJson } from "../../../provider/api/json";
import { UNKNOWN } from "../../../provider/endpoint/documents";
import { bothProviders, created, type Props, startDynamic } from "../bothProviders";
import { secret } from "../plugin/pluginClient";
import { thrown } from "../service";

/* Secrets of a program on both providers. The property `__secrets` lists their fields; the plugin returns marks in its place. */

const url = "https://shop.example.com";
const policy = (body: unknown) => ({
  on_http_request: [{ actions: [{ type: "custom-response", config: { body } }] }],
});
const inPolicy = "trafficPolicy.on_http_request[0].actions[0].config.body";
/** A resource with one secret. */
const described = { url, description: "CANARY-1", __secrets: ["description"] };
const refusal = (msg: string) => ({ status: 418, body: { error_code: "ERR_NGROK_9", msg } });

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe.each(bothProviders)("%s", (name, start) => {
  /** The engine sends the properties of a state to the plugin with their marks. */
  const stored = (props: Props) => (name === "the plugin" ? props : plain(props));

  /** The error of a create that the service refuses with this message. */
  async function refused(news: Props, text: string): Promise<string> {
    const provider = await start();
    const { inputs, failures } = await provider.check({}, news);
    expect(failures).toEqual([]);
    provider.emulator.intercept("create", refusal(text));
    return (await thrown(provider.create(inputs))).message;
  }

  const LEFT_OUT = "the service's text is left out, because it may repeat a secret";

  describe("the service's text about a refusal", () => {
    test.each<[string, Props]>([
      ["a marked description", { description: "CANARY-1", __secrets: ["description"] }],
      ["a marked policy", { trafficPolicy: policy("CANARY-1"), __secrets: ["trafficPolicy"] }],
      ["a marked policy as text", { trafficPolicy: '{"a":"CANARY-1"}', __secrets: ["trafficPolicy"] }],
      ["a marked key of metadata", { metadata: { "CANARY-1": 1 }, __secrets: ["metadata"] }],
      ["a marked binding", { bindings: ["CANARY-1"], __secrets: ["bindings"] }],
      ["a marked URL", { url: "https://canary-1.example.com", __secrets: ["url"] }],
      ["an unmarked value under a secret's name in the policy", { trafficPolicy: { secret: "CANARY-1" } }],
      ["an unmarked value under a secret's name in metadata", { metadata: '{"password":12345678}' }],
    ])("is left out for a resource with %s, and the message says so", async (_, news) => {
      const message = await refused({ url, ...news }, "Q0FOQVJZLTE= CANARY-1 12345678");
      expect(message).toMatch(
        new RegExp(
          `status 418, ERR_NGROK_9 \\(${LEFT_OUT}\\)\\. See https://ngrok.com/docs/errors/err_ngrok_9\\.$`,
        ),
      );
      expect(message).not.toMatch(/canary-1|Q0FO|12345678/i);
    });

    test("is shown for a resource without secrets", async () => {
      const news = { url, description: "plain", trafficPolicy: policy("plain"), metadata: { kind: "plain" } };
      const message = await refused(news, "plain is no value");
      expect(message).toMatch(/status 418, ERR_NGROK_9 plain is no value\. See https:\S+err_ngrok_9\.$/);
    });

    test("is left out for every request about the resource: a read, an update and a delete", async () => {
      const { emulator, inputs, id, outs, ...provider } = await created(start, described);
      emulator.intercept(({ path }) => path.startsWith("/endpoints"), refusal('near "CANARY-1"'), 99);
      const state = stored(outs);
      for (const call of [
        () => provider.read(id, state, inputs),
        () => provider.update(id, state, { ...inputs, metadata: "new" }),
        () => provider.delete(id, state),
      ]) {
        const { message } = await thrown(call());
        expect(message).toContain(`status 418, ERR_NGROK_9 (${LEFT_OUT})`);
        expect(message).not.toContain("CANARY");
      }
    });

    test("is left out for the request that adopts an endpoint, and for a look-up with a secret URL", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url });
      const { inputs } = await provider.check({}, { ...described, adopt: id });
      provider.emulator.intercept("update", refusal("CANARY-1"));
      await expect(provider.create(inputs)).rejects.toThrow(LEFT_OUT);

      const other = await start({ settings: { listFilter: "on" } });
      other.emulator.intercept(() => true, { status: 401, body: { msg: "for canary-1.example.com" } }, 9);
      const hidden = { url: "https://canary-1.example.com", adopt: true, __secrets: ["url"] };
      const { failures } = await other.check({}, hidden);
      expect(failures).toEqual([{ property: "", reason: expect.stringContaining(`401 (${LEFT_OUT})`) }]);
      expect(JSON.stringify(failures)).not.toMatch(/canary/i);
    });

    test("of another request, the list, is not quoted; its status and code are named", async () => {
      const { emulator, inputs, id, outs, ...provider } = await created(start, described);
      emulator.intercept("delete", { status: 404, body: {} });
      emulator.intercept("list", refusal("no lists for you"), 99);
      const { message } = await thrown(provider.delete(id, stored(outs)));
      expect(message).toContain("cannot be read (GET /endpoints: status 418 ERR_NGROK_9)");
      expect(message).not.toContain("no lists for you");
    });

    test("leaves code and operation id, if they have the service's form, in messages and with ENDPOINTS_LOG", async () => {
      vi.stubEnv("ENDPOINTS_LOG", "requests");
      const trace = vi.spyOn(process.stderr, "write").mockReturnValue(true);
      const provider = await start();
      const { inputs } = await provider.check({}, described);
      const body = (code: string, operation_id: string) => ({
        status: 418,
        body: { error_code: code, msg: "CANARY-1", details: { operation_id } },
      });
      provider.emulator.intercept("create", body("ERR_NGROK_2201", "op_2abc"));
      await expect(provider.create(inputs)).rejects.toThrow(
        `status 418, ERR_NGROK_2201 (operation op_2abc; ${LEFT_OUT}). See https://ngrok.com/docs/errors/err_ngrok_2201.`,
      );
      provider.emulator.intercept("create", body("ERR_CANARY-1", "op_CANARY-1"));
      await expect(provider.create(inputs)).rejects.toThrow(`status 418 (${LEFT_OUT})`);
      const lines = [...trace.mock.calls.map(([line]) => String(line)), ...provider.logged()].join("\n");
      expect(lines).toMatch(/POST \/endpoints 418 \d+ms op_2abc[\s\S]*POST \/endpoints 418 \d+ms -/);
      expect(lines).not.toContain("CANARY");
    });
  });

  describe("a message of the provider", () => {
    test("is shown without a secret URL, and without the description of another endpoint", async () => {
      const provider = await start();
      const news = {
        url: "https://canary.example.com",
        metadata: "CANARY-1",
        __secrets: ["url", "metadata"],
      };
      const { inputs } = await provider.check({}, news);
      provider.emulator.seed({ type: "cloud", url: news.url, description: "was CANARY-1" });
      const { message } = await thrown(provider.create(inputs));
      expect(message).toMatch(
        /^cannot create \[secret\]: .*\[secret\] is served by ep_\w+, a cloud endpoint/,
      );
      expect(message).not.toMatch(/canary/i);
    });

    test("about an adoption is shown without a secret key and a secret URL", async () => {
      const provider = await start();
      const { id } = provider.emulator.seed({ type: "cloud", url: "https://canary.example.com" });
      const adopt = { adopt: id, url: "https://canary.example.com", metadata: { "CANARY-1": 1 } };
      await provider.check({}, { ...adopt, __secrets: ["url", "metadata"] });
      expect(provider.logged()).toEqual([
        expect.stringMatching(/^\[secret\]: adopts ep_\w+ and changes metadata/),
      ]);
      const other = { adopt: id, url: "tls://canary.example.com", __secrets: ["url"] };
      const { failures } = await provider.check({}, other);
      expect(failures).toEqual([{ property: "", reason: expect.stringMatching(/\[secret\].*\[secret\]/) }]);
      expect(JSON.stringify([provider.logged(), failures])).not.toMatch(/canary/i);
    });
  });

  describe("the outputs", () => {
    test("are secret if their inputs are, also fields that follow from a secret URL", async () => {
      const { outs, inputs, id, ...provider } = await created(start, {
        url,
        trafficPolicy: policy("CANARY-1"),
        description: "plain",
        __secrets: ["trafficPolicy", "url"],
      });
      expect(outs).toMatchObject({
        url: secret(url),
        publicUrl: secret(url),
        hostport: secret("shop.example.com:443"),
        trafficPolicy: secret(canonicalJson(policy("CANARY-1"))),
        description: "plain",
      });
      expect(outs["__secrets"]).toEqual(name === "the plugin" ? undefined : ["trafficPolicy", "url"]);
      const found = await provider.read(id, stored(outs), inputs);
      expect(found.props).toMatchObject(outs);
      expect((await provider.update(id, stored(outs), inputs)).outs).toMatchObject(outs);
    });

    test.each<[string, Props]>([
      ["another place of its document", { metadata: '{"a":["CANARY-1"]}' }],
      ["a key of its document", { metadata: '{"CANARY-1":1}' }],
      ["a text in place of its document", { metadata: "it was CANARY-1" }],
      ["another document, under a secret's name", { traffic_policy: '{"a":{"token":"CANARY-1"}}' }],
    ])("keep a secret that somebody moved by hand into %s, in each of three refreshes", async (_, edit) => {
      const news = { url, metadata: { key: "CANARY-1" }, __secrets: ["metadata"] };
      const { id, inputs, outs, emulator, ...provider } = await created(start, news);
      emulator.edit(id, { metadata: '{"key":"new"}', ...edit });
      let state = { props: outs, inputs };
      for (let refresh = 0; refresh < 3; refresh++) {
        const { props = {}, inputs } = await provider.read(id, stored(state.props), stored(state.inputs));
        expect(inPlain([props, inputs])).not.toMatch(/canary/i);
        expect(JSON.stringify(props)).toMatch(/canary/i);
        state = { props, inputs: inputs ?? {} };
      }
    });

    test("have a secret document if somebody adds a value with the name of a secret", async () => {
      const { id, inputs, outs, emulator, ...provider } = await created(start, {
        url,
        trafficPolicy: policy("x"),
      });
      emulator.edit(id, { traffic_policy: '{"client_secret":"CANARY-1"}' });
      const found = await provider.read(id, outs, inputs);
      expect(found.props).toMatchObject({ trafficPolicy: secret('{"client_secret":"CANARY-1"}') });
      expect(found.inputs).toMatchObject({ trafficPolicy: secret({ client_secret: "CANARY-1" }) });
    });

    test("are not secret if the program gave them in plain, even under a secret's name", async () => {
      const news = { url, metadata: { password: "plain" }, bindings: ["internal"], __secrets: ["bindings"] };
      const { id, inputs, outs, emulator, ...provider } = await created(start, news);
      const metadata = '{"password":"plain"}';
      expect(outs).toMatchObject({ url, publicUrl: url, metadata, bindings: secret(["internal"]) });
      emulator.edit(id, { description: "by hand" });
      const { props } = await provider.read(id, stored(outs), inputs);
      expect(props).toMatchObject({ url, metadata, description: "by hand" });
    });

    test("have no note if nothing is secret", async () => {
      const { id, inputs, outs, ...provider } = await created(start, { url, description: "plain" });
      const found = await provider.read(id, outs, inputs);
      for (const props of [inputs, outs, found.props, found.inputs])
        expect(props).not.toHaveProperty("__secrets");
    });
  });

  test("a value that becomes secret is a change without a request, and one that is no longer secret is no change", async () => {
    const { id, outs, inputs, emulator, ...provider } = await created(start, {
      url,
      description: "CANARY-1",
    });
    const news = { ...inputs, __secrets: ["description"] };
    expect(await provider.diff(id, outs, news)).toMatchObject({ changes: true, replaces: [] });
    const marked = (await provider.update(id, outs, news)).outs;
    expect(emulator.requests).toHaveLength(1);
    expect(inPlain(marked)).not.toContain("CANARY");
    expect(await provider.diff(id, stored(marked), news)).toMatchObject({ changes: false });
    expect(await provider.diff(id, stored(marked), inputs)).toMatchObject({ changes: false });
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
  const provider = await startDynamic();
  const news = (body: string, status: unknown) => ({
    url,
    trafficPolicy: { ...policy(body), on_http_response: [{ status, "X-CANARY": status }] },
    __secrets: ["trafficPolicy"],
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
  expect(await logged(news("CANARY-2", 403))).toEqual([
    `${url}: changes ${inPolicy}, trafficPolicy.on_http_response[0]["[secret]"], trafficPolicy.on_http_response[0].status`,
  ]);
});
