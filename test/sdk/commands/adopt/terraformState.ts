import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Emulator } from "../../../../sdk/testing/emulator";

/*
 * States that Terraform wrote: v1.5.7 and v1.11.4 with ngrok/ngrok v0.8.0, against the emulator, and a stand-in for the domain.
 * Both versions write the same form. One endpoint is tainted because the provider got its URL back in another spelling. In
 * the small state one is deposed because its deletion failed. All hosts were replaced afterwards, and line
 * breaks removed.
 */

const attributes = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string(),
  metadata: z.string(),
  traffic_policy: z.string(),
  bindings: z.array(z.string()),
  pooling_enabled: z.boolean(),
  domain_id: z.string(),
});

const stateSchema = z.object({
  resources: z.array(
    z.object({
      module: z.string().optional(),
      mode: z.string(),
      type: z.string(),
      name: z.string(),
      instances: z.array(
        z.object({
          index_key: z.union([z.string(), z.number()]).optional(),
          status: z.string().optional(),
          deposed: z.string().optional(),
          attributes: z.unknown(),
        }),
      ),
    }),
  ),
});

type StateObject = ReturnType<typeof objectsOf>[number];

/** A recorded state, and its endpoints in their order. */
export function terraformState(name: string) {
  const file = join(import.meta.dirname, "terraform", name);
  const data: unknown = JSON.parse(readFileSync(file, "utf8"));
  const parsed = stateSchema.safeParse(data);
  return { file, objects: parsed.success ? objectsOf(parsed.data) : [] };
}

function objectsOf({ resources }: z.output<typeof stateSchema>) {
  return resources
    .filter(({ mode, type }) => mode === "managed" && type === "ngrok_cloud_endpoint")
    .flatMap(({ module, type, name, instances }) =>
      instances.map(({ index_key: key, status, deposed, attributes: values }) => {
        const parsed = attributes.parse(values);
        const block = `${module ? `${module}.` : ""}${type}.${name}`;
        const address = key === undefined ? block : `${block}[${JSON.stringify(key)}]`;
        return { address, id: parsed.id, status, deposed, attributes: parsed };
      }),
    );
}

/** Adds the endpoints of a state to an account. */
export function seedState(emulator: Emulator, objects: readonly StateObject[]): void {
  for (const { attributes } of objects) {
    const { domain_id: _, ...fields } = attributes;
    emulator.seed({ type: "cloud", ...fields });
  }
}
