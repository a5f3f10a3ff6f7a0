import { z } from "zod";

/*
 * The part of traffic policies that the stand-in judges: verification, and the way on to the application. Whatever else
 * stands in a policy is refused when the stand-in starts, since without it this would be another policy.
 */

const verification = z.strictObject({
  provider: z.string(),
  secret: z.string().optional(),
  enforce: z.boolean().default(true),
});

const action = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("verify-webhook"), config: verification }),
  z.strictObject({ type: z.literal("forward-internal"), config: z.looseObject({ url: z.string() }) }),
]);

const rule = z.strictObject({
  name: z.string().optional(),
  expressions: z
    .tuple([], { error: "it evaluates no expressions; try each verification by itself, without them" })
    .optional(),
  actions: z.array(action).min(1),
});

/** A policy as the verifications that every request has to pass, in order. */
export const policySchema = z
  .strictObject({ on_http_request: z.array(rule).default([]) })
  .transform(({ on_http_request: rules }) => {
    const actions = rules.flatMap(({ actions }) => actions);
    const end = actions.findIndex(({ type }) => type === "forward-internal");
    return actions
      .slice(0, end < 0 ? undefined : end)
      .flatMap((action) => (action.type === "verify-webhook" ? [action.config] : []));
  });

export type Verification = z.output<typeof verification>;
