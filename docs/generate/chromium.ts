import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, launch } from "puppeteer-core";
import { findOnPath } from "../../sdk/pulumi-cli/index";

/** A running Chromium. */
interface Opened {
  browser: Browser;
  close(): Promise<void>;
}

/**
 * Starts the Chromium of the development dependencies, or else one on the PATH. Undefined if there is neither.
 */
export async function openChromium(): Promise<Opened | undefined> {
  // The bundled Chromium exists for this platform only.
  if (process.platform === "linux" && process.arch === "x64") {
    const bundled = await openBundled().catch(() => undefined);
    if (bundled) return bundled;
  }
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const executablePath = await findOnPath(name);
    if (!executablePath) continue;
    const browser = await launch({ executablePath, args: ["--no-sandbox"] });
    return { browser, close: () => browser.close() };
  }
  return undefined;
}

const MONOSPACED =
  "<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family><family>Liberation Mono</family></prefer></alias>";

/** Starts the bundled Chromium, which unpacks its files into the temporary folder. */
async function openBundled(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "chromium-"));
  process.env["TMPDIR"] = folder;
  process.env["AWS_LAMBDA_JS_RUNTIME"] = "nodejs22.x";
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    const executablePath = await chromium.executablePath();
    // The bundled configuration always names /tmp/fonts, but the fonts are here. Without fonts, a page has no text. None of them is
    // monospaced.
    const fonts = join(folder, "fonts");
    writeFileSync(
      join(fonts, "fonts.conf"),
      `<fontconfig><dir>${fonts}</dir><dir>/usr/share/fonts</dir>${MONOSPACED}<cachedir>${fonts}</cachedir></fontconfig>`,
    );
    const browser = await launch({ executablePath, args: chromium.args, headless: "shell" });
    const close = async () => {
      await browser.close();
      remove();
    };
    return { browser, close };
  } catch (error) {
    remove();
    throw error;
  }
}
