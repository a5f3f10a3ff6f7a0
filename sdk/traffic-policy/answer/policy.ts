import type { z } from "zod";
import { policyFromText } from "../../../provider/data/parse";
import { pathText } from "../../../provider/data/paths";
import { notSimulated } from "./trace";

/** The schema of the phases that run here. */
function phasesSchema() {
  // Loaded only when a request runs.
  const { z }: typeof import("zod") = require("zod");
  const rule = z.strictObject({
    name: z.string().optional(),
    expressions: z.array(z.string()).default([]),
    actions: z.array(z.strictObject({ type: z.string(), config: z.unknown().optional() })).min(1),
  });
  return z.strictObject({
    on_tcp_connect: z.array(rule).default([]),
    on_http_request: z.array(rule).default([]),
    on_http_response: z.array(rule).default([]),
  });
}

let phases: ReturnType<typeof phasesSchema> | undefined;
export type Policy = z.infer<ReturnType<typeof phasesSchema>>;
export type Rule = Policy["on_http_request"][number];

/** Parses a policy. @param policy Data or text. Default: no rules. @throws RequestNotSimulated if it has another form. */
export function readPolicy(policy: unknown = {}): Policy {
  const parsed = typeof policy === "string" ? policyFromText(policy) : { data: policy };
  if ("problem" in parsed) return notSimulated(`a policy that ${parsed.problem}`);
  phases ??= phasesSchema();
  const { data, error } = phases.safeParse(parsed.data);
  if (data) return data;
  const [issue] = error.issues;
  const path = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
  return notSimulated(`its policy at ${path.length > 0 ? pathText(path) : "the top"} (${issue?.message})`);
}
