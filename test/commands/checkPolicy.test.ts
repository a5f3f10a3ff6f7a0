import { writeFileSync } from "node:fs";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { checkPolicyCommand } from "../../sdk/commands/checkPolicy";
import { temporaryFolder } from "../folders";
import { runInProcess } from "./runCommand";

/* The command is that of the package traffic-policy, whose tests cover what it prints. */

beforeEach(() => {
  const cwd = process.cwd();
  process.chdir(temporaryFolder());
  onTestFinished(() => process.chdir(cwd));
  writeFileSync("oauth.yaml", "on_http_request: [{ actions: [{ type: oauth }, { type: deny }] }]");
  writeFileSync("broken.yaml", "a: b: c");
});

const URL = "https://shop.example.com";
const request = ["--request", URL];

test.each<[outcome: string, args: string[], printed: RegExp]>([
  [
    "a warning",
    ["oauth.yaml", "--strict"],
    /^7 oauth\.yaml:1:31: .* is missing; .*\nChecked 1 file: 1 policy, 1 warning\n$/,
  ],
  [
    "a mistake with its own name",
    ["broken.yaml"],
    /^1 pulumi-endpoints check-policy: broken\.yaml is not valid YAML/,
  ],
  [
    "a reply",
    [...request, "oauth.yaml", "--header", "X-Role: admin", "--conn", "geo.country_code=DE"],
    /^1 https.*: matched\n {4}oauth: not simulated\n.*\noauth\.yaml:1:31: .*\npulumi-endpoints check-policy: .* is not simulated; only/,
  ],
  [
    "which options exclude each other",
    [...request, "--strict", "oauth.yaml"],
    /^2 .*--strict and --request exclude/,
  ],
  ["which options need another one", ["--header", "A: b", "oauth.yaml"], /^2 .*--header needs --request/],
  ["that a file is missing", [], /^2 .*there is no file to check/],
])("prints %s", async (_, args, printed) => {
  const { code, stdout, stderr } = await runInProcess(checkPolicyCommand, args);
  expect(`${code} ${stdout}${stderr}`).toMatch(printed);
});
