import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { describe, expect, onTestFinished, test } from "vitest";
import { CliStack, type ConfigValue, Emulator, type ExportedState } from "../../../sdk/testing";
import { newCase, writeProgram } from "../setup";
import { KEY, writeState } from "./recorded";

/* `npm run record:states` records the states of this version with the Pulumi CLI on the PATH. */

const recording = process.env["RECORD"] === "states";
const { VERSION }: { VERSION: string } = recording
  ? createRequire(import.meta.url)("../../../dist/provider/api/version.js")
  : { VERSION: "" };

if (recording && execFileSync("git", ["tag", "--list", `v${VERSION}`]).length > 0)
  throw new Error(`${VERSION} is released, so its states are final: run npm version first`);

interface Scene {
  program: string;
  config?: Record<string, ConfigValue>;
  /** What happens. Default: one `up`. */
  play?: (stack: CliStack, emulator: Emulator) => Promise<unknown>;
}

const policy = (body: string) =>
  `{ on_http_request: [{ actions: [{ type: "custom-response", config: { status_code: 200, body: ${body} } }] }] }`;
const POLICY = policy('"hello"');
const PROVIDER = `
const { Provider } = require("pulumi-endpoints");
const settings = new pulumi.Config("endpoints");
const theirs = new Provider("theirs", {
  apiKey: settings.requireSecret("apiKey"), baseUrl: settings.require("baseUrl"), requestsPerWindow: 1000,
});`;
const endpoint = (name: string, more = "", options = "") =>
  `\nnew CloudEndpoint("${name}", { url: "https://${name}.example.com", description: "front door", ${more} }${options});`;

/** An endpoint on the dynamic provider, and one on the plugin. */
const TWO = `${PROVIDER}${endpoint("ours", `trafficPolicy: ${POLICY}, metadata: { team: "shop" }`)}${endpoint(
  "theirs",
  `trafficPolicy: ${POLICY}, metadata: { team: "shop" }`,
  ", { provider: theirs }",
)}`;

const SEVERAL = `
const { WebhookVerification, mergeTrafficPolicy } = require("pulumi-endpoints");
const github = new WebhookVerification("github", { platform: "github", secret: pulumi.secret("throw-away-webhook") });${[
  endpoint("plain"),
  endpoint(
    "full",
    `trafficPolicy: ${POLICY}, metadata: { team: "shop", of: [1, "a"] }, bindings: ["public"]`,
  ),
  endpoint(
    "texts",
    `trafficPolicy: "on_tcp_connect: [{ actions: [{ type: deny }] }] # YAML", metadata: "a text"`,
  ),
  endpoint("blue", "poolingEnabled: true").replace("blue.", "pool."),
  endpoint("green", "poolingEnabled: true").replace("green.", "pool."),
  endpoint("secret-policy", `trafficPolicy: ${policy('pulumi.secret("throw-away-body")')}`),
  endpoint("secret-url").replace(
    '"https://secret-url.example.com"',
    'pulumi.secret("https://throw-away.example.com")',
  ),
  endpoint("adopted", "adopt: true"),
  endpoint("webhook", `trafficPolicy: mergeTrafficPolicy(${POLICY}, github)`),
].join("")}`;

const MOVED = `${endpoint("plain")}${endpoint("secret-policy", `trafficPolicy: ${policy('pulumi.secret("throw-away-body")')}`)}`;

const adopting = async (stack: CliStack, emulator: Emulator) => {
  emulator.seed({ type: "cloud", url: "https://adopted.example.com", description: "by hand" });
  await stack.up();
};

const moving = async (stack: CliStack, to: string) => {
  await stack.up();
  await stack.setConfig("endpoints:provider", to);
  await stack.up();
};

/** Every create happens, but the service's replies cannot be read. */
const partially = async (stack: CliStack, emulator: Emulator) => {
  for (const name of ["ours", "theirs"]) {
    const url = `https://${name}.example.com`;
    const { id } = emulator.seed({ type: "cloud", url, description: "front door" });
    emulator.intercept(({ method, body }) => method === "POST" && JSON.stringify(body).includes(url), {
      status: 201,
      body: { id, type: "cloud", url, port: "high" },
    });
  }
  emulator.intercept("read", { status: 403, body: "" }, 2);
  await expect(stack.up()).rejects.toThrow(/could not read its fields/);
};

const importing = async (stack: CliStack, emulator: Emulator) => {
  const { id } = emulator.seed({
    type: "cloud",
    url: "https://imported.example.com",
    description: "front door",
    traffic_policy: '{"on_http_request":[]}',
  });
  await stack.import([{ type: "endpoints:index:CloudEndpoint", name: "imported", id }], { protect: false });
};

const drifting = async (stack: CliStack, emulator: Emulator) => {
  await stack.up();
  for (const { id } of emulator.endpoints) emulator.edit(id, { bindings: ["internal"] });
  await stack.refresh();
};

const plugin = { "endpoints:provider": "plugin" };
const scenes: Record<string, Scene> = {
  dynamic: { program: SEVERAL, play: adopting },
  plugin: { program: SEVERAL, config: plugin, play: adopting },
  "explicit-provider": { program: TWO },
  "dynamic-to-plugin": { program: MOVED, play: (stack) => moving(stack, "plugin") },
  "plugin-to-dynamic": { program: MOVED, config: plugin, play: (stack) => moving(stack, "dynamic") },
  imported: {
    program: endpoint("imported", "trafficPolicy: { on_http_request: [] }"),
    config: plugin,
    play: importing,
  },
  drifted: { program: TWO, play: drifting },
  marked: { program: TWO, config: { "endpoints:mark": "a-team/test" } },
  partial: {
    program: `${PROVIDER}${endpoint("ours")}${endpoint("theirs", "", ", { provider: theirs }")}`,
    play: partially,
  },
};

describe.runIf(recording)(`version ${VERSION} is recorded`, () => {
  test.for(Object.entries(scenes))(
    "%s",
    async ([name, { program, config = {}, play = (stack: CliStack) => stack.up() }]) => {
      expect(VERSION, "the version of a release").toMatch(/^\d+\.\d+\.\d+$/);
      const emulator = await Emulator.start({ apiKey: KEY });
      onTestFinished(() => emulator.close());
      const folder = newCase();
      writeProgram(folder, program);
      const { baseUrl } = emulator;
      const reach = { "endpoints:baseUrl": baseUrl, "endpoints:apiKey": { secret: KEY } };
      await using stack = await CliStack.create({
        program: folder,
        projectName: "case",
        config: { ...reach, ...config },
      });
      await play(stack, emulator);

      const { stdout } = await stack.pulumi(["stack", "export"]);
      const state: ExportedState = JSON.parse(stdout, (key, value) =>
        /^(sourcePosition|stackTrace)$/.test(key) ? undefined : value,
      );
      const provider = name.includes("-to-") && { "endpoints:provider": name.split("-to-")[1] ?? "" };
      const cli = execFileSync("pulumi", ["version"], { encoding: "utf8" }).trim();
      const { endpoints } = emulator;
      writeState(VERSION, name, {
        cli,
        program,
        config: { ...config, ...provider },
        baseUrl,
        endpoints,
        state,
      });
    },
  );
});
