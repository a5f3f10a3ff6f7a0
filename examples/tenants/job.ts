import { ConcurrentUpdateError, type EngineEvent, LocalWorkspace } from "@pulumi/pulumi/automation";
import { programOf, type Tenant } from "./tenant";

/** A command for one tenant's stack. `afterKill`: continue a stack that a killed run left locked, or with pending creates. */
export type Job = { command: "up" | "preview" | "remove"; tenant: Tenant; afterKill: boolean };

/** The requests to the service, and how many of them it refused because of its rate limit. No errors mean success. */
export type Outcome = { result: string; requests: number; refused: number; errors: string[] };

async function run({ command, tenant, afterKill }: Job): Promise<Outcome> {
  let endpoints: Record<string, number> = {};
  let errors: string[] = [];
  const statuses: string[] = [];
  const onEvent = ({ diagnosticEvent: diagnostic, resOutputsEvent: step }: EngineEvent) => {
    // With ENDPOINTS_LOG=requests, there is a message for every request.
    statuses.push(...(/^endpoints: \S+ \S+ (\w+)/.exec(diagnostic?.message ?? "")?.slice(1) ?? []));
    if (diagnostic?.severity === "error") errors.push(diagnostic.message.trim());
    const { type, op } = step?.metadata ?? { type: "", op: "" };
    if (type.endsWith(":CloudEndpoint")) endpoints[op] = (endpoints[op] ?? 0) + 1;
  };
  try {
    const inline = { projectName: "tenants", stackName: tenant.name, program: programOf(tenant) };
    // Pulumi's provider process finds the package from the folder of Pulumi.yaml.
    const folder = { workDir: process.cwd() };
    const stack = await (command === "remove"
      ? LocalWorkspace.selectStack(inline, folder)
      : LocalWorkspace.createOrSelectStack(inline, folder));
    const attempt = {
      up: () => stack.up({ onEvent, continueOnError: true }),
      preview: () => stack.preview({ onEvent }),
      remove: () => stack.destroy({ onEvent, remove: true }),
    }[command];
    await attempt().catch(async (error: unknown) => {
      if (!afterKill) throw error;
      // The commands of docs/operations.md. Without a lock, the first one fails.
      await stack.cancel().catch(() => {});
      await stack.refresh({ onEvent, clearPendingCreates: true });
      [endpoints, errors] = [{}, []];
      await attempt();
    });
  } catch (error) {
    const locked =
      "the stack is locked. If a killed run left the lock, and no other run is active, use --after-kill";
    // The Automation API adds the whole output of the CLI to the CLI's reason.
    const [, reason = String(error)] = /\n stderr: ([\s\S]*?)\n err\?:/.exec(String(error)) ?? [];
    if (error instanceof ConcurrentUpdateError) errors = [locked];
    else if (errors.length === 0) errors = [reason.trim()];
  }
  const done = Object.entries(endpoints).map(([operation, count]) => `${operation} ${count}`);
  const result = [...(errors.length > 0 ? ["failed"] : []), ...done].join(", ") || "no endpoints";
  const refused = statuses.filter((status) => status === "429").length;
  return { result, requests: statuses.length, refused, errors: [...new Set(errors)] };
}

// Pulumi receives Ctrl-C, too. Without a listener, the Automation API would kill it.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

process.once("message", async (job: Job) => process.send?.(await run(job), () => process.exit()));
