import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "../../provider/service/version";
import { reportSchema } from "../../sdk/commands/drift/report";
import { reportPage } from "../../sdk/commands/drift/reportPage";
import { openChromium } from "./chromium";
import { copiesDiagram, poolDiagram } from "./diagrams";
import { outputOf, root } from "./docs";
import { killedRunPicture } from "./killedRun";
import { terminal } from "./terminal";

/*
 * Makes the pictures of the documentation: `npm run pictures`. Terminals show real runs on this machine: the demo on the test kit's
 * engine, the killed run on the Pulumi CLI. The drift page shows the report in `drift.json`, and needs Chromium.
 */

/** The trace of a request. */
async function tracePicture(): Promise<string> {
  const request = ["--request", "GET https://shop.example.com/basket"];
  const output = await outputOf(["check-policy", join(root, "docs", "generate", "trace.yaml"), ...request]);
  return terminal(`npx pulumi-endpoints check-policy policy.yaml --request "${request[1]}"`, output);
}

/** The steps of the demo that the picture shows: the life of the endpoint. */
const STEPS = [
  "up: creates it",
  "refresh: sees that the description drifted",
  "up again: puts it back",
  "up: changes the policy in place",
  "a request to the endpoint",
  "destroy: deletes it",
];

/** What changes in a step, who changes something before the next one, and a request with its answer. */
const SHOWN =
  /^(── |\s*[~+-] +(?=\S)(?!pulumi:pulumi:Stack|trafficPolicy: |\d|updatedAt)|\((someone|the program) |GET |https:|\d{3} )/;

async function demoPicture(): Promise<string> {
  // Without the Pulumi CLI: the test kit's engine names a change within a policy in one line.
  process.env["PATH"] = dirname(process.execPath);
  const sections = (await outputOf(["demo"])).split(/^(?=── )/m);
  const life = STEPS.map((step) => {
    const section = sections.find((one) => one.startsWith(`── ${step} ─`)) ?? "";
    const shown = section
      .replace(/^Outputs:\n(?: .*\n)+/m, "")
      .split("\n")
      .filter((line) => SHOWN.test(line));
    return shown.map((line) => line.replace(/^\(/, "\n(")).join("\n");
  });
  return terminal("npm run demo", ["…", ...life].join("\n\n"));
}

/** Whether narrow and wide letters take the same room in code. */
const HAS_MONOSPACED_CODE = `["iii", "WWW"]
  .map((text) => {
    const code = document.createElement("code");
    code.textContent = text;
    document.querySelector("main").append(code);
    const { width } = code.getBoundingClientRect();
    code.remove();
    return width;
  })
  .every((width, _, [first]) => width === first)`;

/** The page of the report in `drift.json`. */
async function driftPicture(): Promise<Uint8Array> {
  const report = readFileSync(join(root, "docs", "generate", "drift.json"), "utf8");
  // Without the version, which would change the picture at each build.
  const html = reportPage(reportSchema.parse(JSON.parse(report))).replace(` ${VERSION}`, "");
  const chromium = await openChromium();
  if (!chromium) throw new Error("there is no Chromium for the picture of the drift page");
  try {
    const page = await chromium.browser.newPage();
    await page.setViewport({ width: 840, height: 600 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    await page.setContent(html);
    if (!(await page.evaluate(HAS_MONOSPACED_CODE)))
      throw new Error("there is no monospaced font for the picture of the drift page: install DejaVu");
    return await page.screenshot({ type: "webp", quality: 80, fullPage: true });
  } finally {
    await chromium.close();
  }
}

async function main(): Promise<void> {
  const write = (name: string, picture: string | Uint8Array) =>
    writeFileSync(join(root, "docs", "pictures", name), picture);
  write("trace.svg", await tracePicture());
  write("copies.svg", copiesDiagram());
  write("pool.svg", poolDiagram());
  write("killed-run.svg", await killedRunPicture());
  write("demo.svg", await demoPicture());
  write("drift.webp", await driftPicture());
}

void main();
