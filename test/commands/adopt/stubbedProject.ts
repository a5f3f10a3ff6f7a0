import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { Emulator } from "../../../sdk/testing";
import { temporaryFolder } from "../../folders";
import { pathWithPulumi } from "../runCommand";

/** A stack's state with one endpoint. */
export const stateOf = (id = "") => {
  const type = "endpoints:index:CloudEndpoint";
  const urn = `urn:pulumi:dev::web::${type}::${id}`;
  return JSON.stringify({ deployment: { resources: [{ urn, type, custom: true, id }] } });
};

/**
 * A project, and a Pulumi CLI that knows only these stacks, each with one endpoint.
 *
 * @param first What the CLI's script does first.
 */
export function projectWith(
  states: Record<string, string | undefined>,
  { baseUrl, apiKey }: Emulator,
  { listed = {}, first = "" } = {},
): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: web\n");
  writeFileSync(join(folder, "stacks.yaml"), JSON.stringify(listed));
  const config = { "endpoints:baseUrl": { value: baseUrl }, "endpoints:apiKey": { value: apiKey } };
  const cases = Object.entries(states).map(([stack, id]) => `*"--stack ${stack}"*) echo '${stateOf(id)}' ;;`);
  const script = ['case "$*" in', `config*) echo '${JSON.stringify(config)}' ;;`, ...cases, "esac"];
  vi.stubEnv("PATH", pathWithPulumi([first, ...script].join("\n")));
  return folder;
}
