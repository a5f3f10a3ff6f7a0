import { resolve } from "node:path";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { z } from "zod";
import type { ConfigReader } from "../../provider/config";
import { plain, UserError } from "../../provider/userError";
import { findOnPath } from "../testing/cli";

/* What commands read of the stacks of the user's own project, through the Pulumi CLI. */

/** A stack that cannot be read, with the CLI's own words where it has said something. */
export class StackError extends UserError {
  override readonly name = "StackError";
  constructor(
    message: string,
    /** The CLI's own, where it was the CLI that failed. */
    readonly exitCode?: number,
  ) {
    super(message);
  }
}

/** A cloud endpoint that a stack manages, on either host. */
export interface ManagedEndpoint {
  id: string;
  name: string;
  urn: string;
}

/** The project in a folder. @throws StackError where there is no Pulumi CLI. */
export async function openProject(folder: string): Promise<LocalWorkspace> {
  if (!(await findOnPath(process.platform === "win32" ? "pulumi.exe" : "pulumi"))) {
    throw new StackError(
      "--stack needs the Pulumi CLI, and there is no pulumi on the PATH: install it (https://www.pulumi.com/docs/install), or leave --stack out and set ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL",
    );
  }
  // It takes a second to load, and only what names a stack needs it.
  const automation = await import("@pulumi/pulumi/automation/index.js");
  return asked(() => automation.LocalWorkspace.create({ workDir: resolve(folder) }));
}

/** A stack's configuration, secrets included. The stack that is selected stays selected. */
export async function stackConfig(project: LocalWorkspace, stack: string): Promise<ConfigReader> {
  const values = await asked(() => project.getAllConfig(stack));
  return (key) => values[key]?.value;
}

/** The cloud endpoints that a stack manages, as its state has them. */
export async function managedEndpoints(project: LocalWorkspace, stack: string): Promise<ManagedEndpoint[]> {
  const { deployment } = stateSchema.parse(await asked(() => project.exportStack(stack)));
  return (deployment.resources ?? []).flatMap(({ urn, type, id, external }) =>
    id !== undefined && !external && isCloudEndpointType(type) ? [{ id, urn, name: nameOf(urn) }] : [],
  );
}

/** Whether states hold cloud endpoints under this type: the dynamic provider's, or the plugin's. */
export function isCloudEndpointType(type: string): boolean {
  return type === "pulumi-nodejs:dynamic/endpoints:CloudEndpoint" || type === "endpoints:index:CloudEndpoint";
}

/** As much of a state as is read here. */
const stateSchema = z.object({
  deployment: z.object({
    resources: z
      .array(
        z.object({
          urn: z.string(),
          type: z.string(),
          id: z.string().optional(),
          external: z.boolean().optional(),
        }),
      )
      .nullish(),
  }),
});

/** `urn:pulumi:stack::project::type::name`; a name may hold `::` itself. */
export const nameOf = (urn: string) => urn.split("::").slice(3).join("::");

/** The CLI's error holds all that it printed, its standard output too, which may be a secret; its words are on the other. */
const commandError = z.object({
  commandResult: z.object({
    stderr: z.string(),
    err: z
      .object({ exitCode: z.number().optional().catch(undefined) })
      .optional()
      .catch(undefined),
  }),
});

/** Has the CLI do something; its failure is told in the CLI's own words. */
export async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failed = commandError.safeParse(error);
    if (!failed.success) throw error;
    // What stands before the CLI's own words is the command that the Automation API ran.
    const words = failed.data.commandResult.stderr.replace(/^[\s\S]*?error: /, "");
    throw new StackError(
      plain(words) || "the Pulumi CLI failed, and said nothing",
      failed.data.commandResult.err?.exitCode,
    );
  }
}
