import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { openChromium } from "./chromium";
import { terminal } from "./terminal";

/*
 * Makes the pictures of the documentation from real runs on loopback: `npm run pictures`. Runs of Pulumi need its CLI, and the
 * drift page Chromium. Ids, ports and times are fixed, so that a run without a change writes the same files.
 */

const root = join(__dirname, "../../..");
const pictures = join(root, "docs", "pictures");
const command = join(root, "dist", "sdk", "commands", "main.js");

/** The steps of the demo that the picture shows. */
const STEPS = [
  "refresh: sees that the description drifted",
  "up again: puts it back",
  "up: changes the policy in place",
];

/** What changes in a step. The rest of the resource is the same in each step. */
const CHANGE = /^(── |\w+ing \(|\s*[~+-] (?!updatedAt))/;

async function demoPicture(): Promise<string> {
  const output = await run(command, ["demo"], {});
  const [steps = "", table = ""] = output.split(/^(?=The requests of each step)/m);
  const sections = steps.split(/^(?=── )/m).slice(1);
  const shown = STEPS.map((step) => sections.find((section) => section.startsWith(`── ${step} ─`)) ?? "");
  const changes = shown.map((section) =>
    section
      .split("\n")
      .filter((line) => CHANGE.test(line))
      .join("\n"),
  );
  const [rows = ""] = table.split(/^Next:/m);
  return terminal("npm run demo", ["…", ...changes, "…", rows.trimEnd()].join("\n\n"));
}

const PROGRAM = `const { CloudEndpoint } = require("pulumi-endpoints");
const refuse = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] };
for (const name of ["shop", "api", "status"]) {
  const url = "https://" + name + ".example.com";
  new CloudEndpoint(name, { url, description: name === "shop" ? "front door" : undefined, trafficPolicy: refuse });
}
`;

/** The page of `drift --html` after an endpoint was edited, one deleted, and one created by hand. */
async function driftPage(): Promise<string> {
  const emulator = await Emulator.start();
  const backend = mkdtempSync(join(tmpdir(), "pictures-"));
  mkdirSync(join(root, "test", ".programs"), { recursive: true });
  const cwd = mkdtempSync(join(root, "test", ".programs", "pictures-"));
  const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
  writeFileSync(join(cwd, "Pulumi.yaml"), `name: shop\n${runtime}`);
  writeFileSync(join(cwd, "package.json"), '{ "name": "shop", "main": "index.js" }\n');
  writeFileSync(join(cwd, "index.js"), PROGRAM);
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_HOME: join(backend, "home"),
    PULUMI_CONFIG_PASSPHRASE: "pictures",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
  };
  try {
    await run("pulumi", ["stack", "init", "prod"], { cwd, env });
    await run("pulumi", ["up", "--yes", "--skip-preview"], { cwd, env });
    const idOf = (name: string) =>
      emulator.endpoints.find(({ url }) => url === `https://${name}.example.com`)?.id ?? "";
    const deny = { type: "deny", config: { status_code: 403 } };
    const edited = JSON.stringify({ on_http_request: [{ actions: [deny] }] });
    emulator.edit(idOf("shop"), { description: "edited by hand", traffic_policy: edited });
    emulator.remove(idOf("api"));
    emulator.seed({ type: "cloud", url: "https://old.example.com", description: "made by hand" });
    const file = join(backend, "drift.html");
    await run(command, ["drift", "--stack", "prod", "--html", file], { cwd, env }, 7);
    return readFileSync(file, "utf8");
  } finally {
    await emulator.close();
    rmSync(backend, { recursive: true, force: true });
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** The page with fixed ids, times, version and address. */
function reproducible(page: string): string {
  const ids = new Map<string, string>();
  const fixed = (id: string) => {
    if (!ids.has(id)) ids.set(id, `ep_2${"abcdefgh"[ids.size]}9gTz4KxQm7VbN1sYw3Re8LpD`);
    return ids.get(id) ?? id;
  };
  return page
    .replace(/ep_\w{20,}/g, fixed)
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "2026-11-21 20:20 UTC")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080")
    .replace(/pulumi-endpoints \d+\.\d+\.\d+(\+dev\.\w+)?/, "pulumi-endpoints");
}

async function driftPicture(): Promise<Uint8Array> {
  const html = reproducible(await driftPage());
  const chromium = await openChromium();
  if (!chromium) throw new Error("there is no Chromium for the picture of the drift page");
  try {
    const page = await chromium.browser.newPage();
    await page.setViewport({ width: 840, height: 600 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    await page.setContent(html);
    return await page.screenshot({ type: "webp", quality: 80, fullPage: true });
  } finally {
    await chromium.close();
  }
}

/** Runs a program and returns its standard output. Rejects if the exit code is not the expected one. */
function run(
  program: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv },
  expected = 0,
): Promise<string> {
  const isScript = program.endsWith(".js");
  const [file, all] = isScript ? [process.execPath, [program, ...args]] : [program, args];
  return new Promise((resolve, reject) => {
    const child = execFile(file, all, { ...options, encoding: "utf8" }, (_, stdout, stderr) => {
      if (child.exitCode === expected) resolve(stdout);
      else reject(new Error(`${program} ${args.join(" ")} ended with ${child.exitCode}: ${stdout}${stderr}`));
    });
  });
}

const POLICY = `on_http_request:
  - name: administrators
    expressions: ["req.url.path.startsWith('/admin')"]
    actions:
      - type: basic-auth
        config: { credentials: ["admin:\${secrets.get('shop', 'admin')}"] }
  - name: old names
    expressions: ["req.host == 'shop.example.com'", "req.url.path == '/basket'"]
    actions: [{ type: redirect, config: { to: /cart, status_code: 301 } }]
  - name: all other requests
    actions: [{ type: forward-internal, config: { url: https://shop.internal } }]
`;

/** The trace of a request. */
async function tracePicture(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pictures-"));
  try {
    writeFileSync(join(folder, "policy.yaml"), POLICY);
    const args = ["check-policy", "policy.yaml", "--request", "GET https://shop.example.com/basket"];
    const shown = `npx pulumi-endpoints ${args.slice(0, -1).join(" ")} "${args.at(-1)}"`;
    return terminal(shown, (await run(command, args, { cwd: folder })).trimEnd());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  writeFileSync(join(pictures, "trace.svg"), await tracePicture());
  if (!(await findPulumiCli())) throw new Error("the pictures of runs need the Pulumi CLI on the PATH");
  writeFileSync(join(pictures, "demo.svg"), await demoPicture());
  writeFileSync(join(pictures, "drift.webp"), await driftPicture());
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
