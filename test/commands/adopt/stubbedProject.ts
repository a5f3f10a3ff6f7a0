import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { Emulator } from "../../../sdk/testing";
import { temporaryFolder } from "../../folders";
import { pathWithPulumi } from "../runCommand";

const TYPE = "endpoints:index:CloudEndpoint";

/** An entry of a state. */
export const entryOf = (id: string, more: object = {}) => ({
  ...{ urn: `urn:pulumi:dev::web::${TYPE}::${id}`, type: TYPE, custom: true, id },
  ...more,
});

/** An exported state with these entries, and creates that a run has begun. */
export const stateWith = (resources: object[], begun: object[] = []) =>
  JSON.stringify({
    deployment: {
      resources,
      pending_operations: begun.map((inputs) => ({
        type: "creating",
        resource: { urn: `urn:pulumi:dev::web::${TYPE}::begun`, type: TYPE, custom: true, inputs },
      })),
    },
  });

/** A state with one endpoint, or without any. */
export const stateOf = (id?: string) => stateWith(id === undefined ? [] : [entryOf(id)]);

/**
 * The project `web`, and a Pulumi CLI whose backend has these stacks, each with its exported state. An empty one makes the export fail.
 *
 * @param first What the CLI's script does first.
 */
export function projectWith(
  states: Record<string, string>,
  { baseUrl, apiKey }: Pick<Emulator, "baseUrl" | "apiKey">,
  { listed = {}, first = "" } = {},
): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: web\n");
  writeFileSync(join(folder, "stacks.yaml"), JSON.stringify(listed));
  const config = { "endpoints:baseUrl": { value: baseUrl }, "endpoints:apiKey": { value: apiKey } };
  const names = Object.keys(states).map((name) => ({ name }));
  const cases = Object.entries(states).map(([name, state]) => {
    const does = state === "" ? "echo 'error: it is locked' >&2; exit 255" : `echo '${state}'`;
    // In its own folder, a stack also has its short name.
    const short = name.replace("organization/web/", "");
    return `*"--stack ${name} --"*|*"--stack ${short} --"*) ${does} ;;`;
  });
  const script = [
    'case "$*" in',
    `config*) echo '${JSON.stringify(config)}' ;;`,
    `whoami*) echo '{"url":"file:///backend"}' ;;`,
    `"stack ls"*) echo '${JSON.stringify(names)}' ;;`,
    ...cases,
    `*export*) echo "error: no stack named 'x' found" >&2; exit 255 ;;`,
    "esac",
  ];
  vi.stubEnv("PATH", pathWithPulumi([first, ...script].join("\n")));
  return folder;
}
