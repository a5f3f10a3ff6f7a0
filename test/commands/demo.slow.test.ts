import { execSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";
import { until } from "../until";
import { runCommand, startCommand } from "./runCommand";

test("the demo creates, repairs, changes and deletes an endpoint, and prints the requests of each step", async () => {
  const { code, stdout, stderr } = await runCommand(["demo"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toContain("with the test kit's engine, because no Pulumi CLI is on the PATH");
  const rows = [...stdout.matchAll(/^ {2}(\w.*): .*? {2,}(.*)$/gm)].map(([, step, requests]) => [
    step,
    requests,
  ]);
  expect(rows).toEqual([
    ["preview", "no request"],
    ["up", "1 POST"],
    ["refresh", "1 GET"],
    ["up again", "1 PATCH"],
    ["up", "1 PATCH"],
    ["preview", "no request"],
    ["destroy", "1 DELETE"],
  ]);
  expect(stdout).toContain("200 hello again");
  // The next command works in this clone, after any number of builds. Without an argument, it only lists the examples.
  const [, next = ""] = /Next: (npx pulumi-endpoints new) quickstart,/.exec(stdout) ?? [];
  expect(
    execSync(next, { cwd: root, env: { ...process.env, npm_config_offline: "true" } }).toString(),
  ).toContain("quickstart ");
});

test("with --serve, the demo answers requests to the endpoint until Ctrl-C, then deletes it", async () => {
  const { child, printed, ended } = startCommand(["demo", "--serve", "0"]);
  const listening = /^The endpoints answer on (\S+):/m;
  await until(() => listening.test(printed.stdout));
  const [, address = ""] = listening.exec(printed.stdout) ?? [];
  expect(await requestTo(`${address}/`, "shop.example.com")).toBe("hello again");
  child.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(printed.stdout).toMatch(/── destroy: [\s\S]* 1 DELETE\n/);
});

/** The body of the answer to a `GET`. */
const requestTo = (url: string, host: string) =>
  new Promise<string>((resolve, reject) => {
    get(url, { headers: { host } }, async (reply) => resolve(await text(reply))).on("error", reject);
  });

test("a demo that Ctrl-C ends prints a line about it, and leaves no folder", async () => {
  const temporary = temporaryFolder();
  const { child, printed, ended } = startCommand(["demo"], { TMPDIR: temporary });
  await until(() => printed.stdout.includes("── up: "));
  child.kill("SIGINT");
  expect(await ended).toBe(1);
  expect(printed.stderr).toBe(
    "pulumi-endpoints demo: ended by Ctrl-C; its processes have ended, and its folders are removed\n",
  );
  // Node and Pulumi's ts-node keep their caches of compiled code there.
  expect(readdirSync(temporary).filter((name) => !/^(node-compile-cache|ts-node-)/.test(name))).toEqual([]);
});
