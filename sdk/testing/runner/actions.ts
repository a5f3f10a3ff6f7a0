import { z } from "zod";
import { inCidrs, isCidr } from "./networks";
import { checkHeader, normalUrl } from "./request";
import type { Verdict, Verification } from "./signatures";
import { ApplicationFailed, NotSimulated } from "./trace";
import { addedTo, FORWARDED, type Header, headerOf, type PolicyReply, type PolicyRequest } from "./values";

/* The actions, as the public service's documentation describes them. What it leaves open is refused. */

export interface InterpolationOptions {
  /** What the value of an expression may contain. */
  allowed?: { pattern: RegExp; otherwise: string };
  /** Whether a text that is one expression keeps its type. */
  keepsType?: boolean;
}

/** What an action can read and change. */
export interface ActionContext {
  readonly phase: string;
  readonly request: PolicyRequest;
  /** In the phase of responses. */
  reply: PolicyReply | undefined;
  /** Undefined if another endpoint forwarded the request. */
  readonly clientIp: string | undefined;
  readonly vars: Record<string, unknown>;
  /** Sets a variable below `actions.ngrok`, which later expressions can read. */
  set(name: string, value: unknown): void;
  /** Replaces the expressions in a text, or in all texts of a value. */
  interpolate<T>(value: T, options?: InterpolationOptions): T;
  /** All matches of a pattern. */
  matches(text: string, pattern: string): RegExpExecArray[];
  /** Texts that no trace may show. */
  addSecrets(...secrets: string[]): void;
  verify(verification: Verification): Verdict;
  /** What `rate-limit` decides, if the test says so. */
  rateLimited: boolean | undefined;
  /** Undefined if the account has no such internal endpoint. */
  forward(url: string): Promise<PolicyReply> | undefined;
}

export interface Outcome {
  /** For the trace. */
  result: string;
  /** If no further action of the phase runs: the reply, or the closed connection. */
  end?: End;
}

export interface End {
  /** Undefined if the connection is closed. */
  reply: PolicyReply | undefined;
  /** Whether the rules of on_http_response run afterwards. */
  responseRules: "run" | "do not run" | "open";
  /** The action. */
  by?: string;
}

type Run<C> = (config: C, context: ActionContext) => Outcome | Promise<Outcome>;

function action<C>(schema: z.ZodType<C>, run: Run<C>): Run<unknown> {
  return (config, context) => {
    const { data, error } = schema.safeParse(config ?? {});
    if (data !== undefined) return run(data, context);
    const [issue] = error?.issues ?? [];
    throw new NotSimulated(`its config (${[...(issue?.path ?? []), issue?.message].join(": ")})`);
  };
}

const ended = (reply: PolicyReply | undefined, responseRules: End["responseRules"]) => ({
  reply,
  responseRules,
});
const answer = (status: number, text = "", headers: Header[] = []): PolicyReply => ({
  status,
  headers,
  body: Buffer.from(text),
});
const textReply = (status: number, text: string) => answer(status, text, [["content-type", "text/plain"]]);
const refusalReply = (status: number, headers: Header[] = []): PolicyReply => ({
  ...answer(status, "", headers),
  body: "unknown",
});

const texts = z.array(z.string()).default([]);
/** YAML has numbers and truth values where a header's value is expected. */
const headerValues = z
  .record(
    z.string(),
    z.union([z.string(), z.number(), z.boolean()]).transform((value) => `${value}`),
  )
  .refine((all) => Object.keys(all).length <= 10, "must have at most ten headers");
const headersOf = (headers: Record<string, string>, { interpolate }: ActionContext): Header[] =>
  Object.entries(interpolate(headers)).map(([name, value]) => {
    checkHeader([name, value]);
    return [name.toLowerCase(), value];
  });

const originIn = (url: string) => /^\w+:\/\/[^/?#]*/.exec(url)?.[0];

const substitution = { from: z.string().optional(), to: z.string() };
/** Characters that mean the same in a URL and in a pattern. Whether others of a value are escaped is open. */
const LITERAL = { pattern: /^[\w.:/@ -]*$/, otherwise: "in a pattern" };
const NO_GROUP = { pattern: /^[^$]*$/, otherwise: "with a $ in a replacement" };

/** Whether and how the service encodes other characters is open. */
function checkCharacters(url: string): void {
  const [odd] = /[^!$-;=?-[\]_a-z~]/u.exec(url) ?? [];
  if (odd !== undefined) throw new NotSimulated(`the character ${JSON.stringify(odd)} in a URL`);
}

function checkReferences(to: string, refused: RegExp): void {
  if (refused.test(to)) throw new NotSimulated("a $ in to that refers to no group");
}

/** Replaces what a pattern matches. Undefined if nothing matches. */
function substituted(url: string, from: string, to: string, { matches }: ActionContext) {
  checkReferences(to, /\$(?!\d+(?![\dA-Za-z_]))/);
  // In a repeated group, JavaScript forgets what an earlier repetition matched.
  if (/\$/.test(to) && /\)[*+{]/.test(from)) throw new NotSimulated("a $1 with a repeated group");
  const found = matches(url, from);
  if (found.some(([whole]) => !whole)) throw new NotSimulated("a match of the empty text");
  let [text, at] = ["", 0];
  for (const match of found) {
    text += url.slice(at, match.index);
    text += to.replace(/\$(\d+)/g, (_, group: string) => match[Number(group)] ?? "");
    at = match.index + match[0].length;
  }
  return found.length === 0 ? undefined : { url: text + url.slice(at), count: found.length };
}

function checkHeaderNames(names: readonly string[]): void {
  for (const name of names)
    if (/^(user-agent|ngrok-skip-browser-warning)$/i.test(name) || FORWARDED.test(name))
      throw new NotSimulated(`the header ${name}, which the service sets,`);
}

/** By the name in a policy. */
export const actions: Readonly<Record<string, Run<unknown>>> = {
  "add-headers": action(
    z.strictObject({
      headers: headerValues.refine((all) => Object.keys(all).length > 0, "must have 1 to 10 headers"),
    }),
    ({ headers }, context) => {
      const added = headersOf(headers, context);
      checkHeaderNames(added.map(([name]) => name));
      const message = context.reply ?? context.request;
      for (const header of added) {
        if (context.reply?.added?.includes(header[0]))
          throw new NotSimulated(`the header ${header[0]}, which the service adds,`);
        if (header[0] === "host")
          message.headers = message.headers.filter(([name]) => name.toLowerCase() !== "host");
        message.headers = [...message.headers, header];
      }
      context.set("add_headers.headers_added", Object.fromEntries(added));
      return { result: added.map(([name, value]) => `${name}: ${value}`).join(", ") };
    },
  ),

  "basic-auth": action(
    z.strictObject({
      credentials: z.array(z.string()).min(1).max(10),
      realm: z
        .string()
        .regex(/^[ !#-[\]-~]*$/, "would need escapes in a header, which are not documented")
        .default("ngrok"),
      enforce: z.boolean().default(true),
    }),
    ({ credentials, realm, enforce }, context) => {
      const pairs = credentials.map((pair) => {
        const [, user, password] = /^((?:[^:$]|\$\{[^{}]*\}|\$(?!\{))*):(.*)$/s.exec(pair) ?? [];
        if (user === undefined) return context.interpolate(pair);
        const allowed = { pattern: /^[^:]*$/, otherwise: "with a colon in the user name" };
        return `${context.interpolate(user, { allowed })}:${context.interpolate(password)}`;
      });
      if (pairs.some((pair) => !/^[ -9;-~]*:[ -~]{8,128}$/.test(pair)))
        throw new NotSimulated("a password that does not have 8 to 128 characters of ASCII");
      context.addSecrets(
        ...pairs.flatMap((pair) => [pair, pair.replace(/^.*?:/s, ""), Buffer.from(pair).toString("base64")]),
      );
      const [, encoded] =
        /^Basic +(\S+)$/i.exec(headerOf(context.request.headers, "authorization") ?? "") ?? [];
      // The documentation does not say how much the service tolerates here.
      if (encoded !== undefined && Buffer.from(encoded, "base64").toString("base64") !== encoded)
        throw new NotSimulated("credentials that are not exact base64");
      const presented = encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("latin1");
      const authorized = presented !== undefined && pairs.includes(presented);
      context.set("basic_auth.credentials.presented", presented !== undefined);
      context.set("basic_auth.credentials.username", presented?.replace(/:.*$/s, ""));
      context.set("basic_auth.credentials.authorized", authorized);
      const result = authorized
        ? "authorized"
        : presented === undefined
          ? "no credentials"
          : "wrong credentials";
      if (authorized || !enforce) return { result: authorized ? result : `${result}, not enforced` };
      const refusal = refusalReply(401, [["www-authenticate", `Basic realm="${realm}"`]]);
      return { result: `${result}: 401`, end: ended(refusal, "open") };
    },
  ),

  "close-connection": action(z.strictObject({}), () => ({
    result: "closes the connection",
    end: ended(undefined, "do not run"),
  })),

  "custom-response": action(
    z.strictObject({
      status_code: z.int().min(200).max(599).default(200),
      body: z.string().default(""),
      headers: headerValues.default({}),
    }),
    ({ status_code: status, body, headers }, context) => {
      const reply = answer(status, context.interpolate(body), headersOf(headers, context));
      reply.added = addedTo(reply.headers, ["content-type"]);
      const isInferred = body !== "" && reply.added.includes("content-type");
      const more = isInferred ? ", without the content-type that the service infers" : "";
      return { result: `${status}${more}`, end: ended(reply, "run") };
    },
  ),

  deny: action(
    z.strictObject({ status_code: z.int().min(200).max(599).default(403) }),
    ({ status_code }, { phase }) =>
      phase === "on_tcp_connect"
        ? { result: "closes the connection", end: ended(undefined, "do not run") }
        : { result: `${status_code}`, end: ended(answer(status_code), "do not run") },
  ),

  "forward-internal": action(
    z.strictObject({ url: z.string(), on_error: z.enum(["halt", "continue"]).default("halt") }),
    async ({ url: written, on_error }, { interpolate, forward, phase }) => {
      if (phase === "on_tcp_connect") throw new NotSimulated("forward-internal in on_tcp_connect");
      const url = interpolate(written);
      if (!/^https?:\/\/[a-z\d.-]+\.internal(?::\d+)?$/.test(url))
        throw new NotSimulated(`forwarding to ${url}`);
      let reply: PolicyReply | undefined;
      try {
        reply = await forward(url);
      } catch (error) {
        if (!(error instanceof ApplicationFailed) || on_error === "halt") throw error;
        return { result: `${error.message}; continues` };
      }
      if (reply)
        return {
          result: reply.status > 0 ? `to ${url}: ${reply.status}` : `to ${url}`,
          end: ended(reply, "run"),
        };
      if (on_error === "continue")
        return { result: `the account has no internal endpoint ${url}; continues` };
      throw new NotSimulated(`the reply if the account has no internal endpoint ${url}`);
    },
  ),

  log: action(z.strictObject({ metadata: z.record(z.string(), z.unknown()) }), ({ metadata }, context) => {
    const data = context.interpolate(metadata);
    context.set("log.metadata", data);
    return { result: JSON.stringify(data) };
  }),

  "rate-limit": action(
    z.looseObject({ enforce: z.boolean().default(true) }),
    ({ enforce }, { rateLimited, set }) => {
      if (rateLimited === undefined) throw new NotSimulated("rate-limit without the option rateLimited");
      set("rate_limit.limited", rateLimited);
      if (!rateLimited) return { result: "not limited, by assumption" };
      if (!enforce) return { result: "limited, by assumption; not enforced" };
      const end = ended({ ...refusalReply(429), added: ["retry-after"] }, "open");
      return { result: "limited, by assumption: 429", end };
    },
  ),

  redirect: action(
    z.strictObject({
      ...substitution,
      status_code: z.int().min(300).max(399).default(302),
      headers: headerValues.default({}),
    }),
    ({ from, to, status_code: status, headers }, context) => {
      const { url } = context.request;
      const target = context.interpolate(to, { allowed: NO_GROUP });
      if (from === undefined) checkReferences(target, /\$/);
      const found =
        from === undefined
          ? { url: target, count: 1 }
          : substituted(url, context.interpolate(from, { allowed: LITERAL }), target, context);
      if ((found?.count ?? 0) > 1) throw new NotSimulated("a from that matches more than once");
      const blank = (found?.url ?? url).replaceAll(" ", "%20");
      checkCharacters(blank.replace("#", ""));
      const isPath = /^\/(?!\/)/.test(blank) && !/\/\.{1,2}(?:[/?#]|$)/.test(blank);
      if (!isPath && !/^https?:\/\/[^/]/i.test(blank)) throw new NotSimulated(`a redirect to ${blank}`);
      const location = isPath ? new URL(url).origin + blank : blank;
      if (location === url) return { result: "the URL does not change: no redirect" };
      const reply = answer(status, "", [["location", location], ...headersOf(headers, context)]);
      return { result: `${status} ${location}`, end: ended(reply, "open") };
    },
  ),

  "remove-headers": action(
    z.strictObject({ headers: z.array(z.string()).min(1).max(10) }),
    ({ headers }, context) => {
      checkHeaderNames(headers);
      const odd = headers.find((name) => name !== name.toLowerCase());
      if (odd) throw new NotSimulated(`the header ${odd} with capital letters (write ${odd.toLowerCase()})`);
      const message = context.reply ?? context.request;
      const isRemoved = ([name]: Header) => headers.includes(name.toLowerCase());
      const removed = message.headers.filter(isRemoved).map(([name]) => name.toLowerCase());
      message.headers = message.headers.filter((header) => !isRemoved(header));
      context.set("remove_headers.headers_removed", removed);
      return { result: removed.join(", ") || "none of them is there" };
    },
  ),

  "restrict-ips": action(
    z.strictObject({
      enforce: z.boolean().default(true),
      allow: texts,
      deny: texts,
      ip_policies: z.tuple([], { error: "the account's IP policies are not known" }).optional(),
    }),
    ({ enforce, allow, deny }, { clientIp, phase, interpolate, set }) => {
      if (clientIp === undefined) throw new NotSimulated("restrict-ips behind forward-internal");
      const odd = interpolate([...allow, ...deny]).find((cidr) => !isCidr(cidr));
      if (odd) throw new NotSimulated(`${odd}, which is no CIDR,`);
      const matching = (list: string[]) => interpolate(list).filter((cidr) => inCidrs(clientIp, [cidr]));
      const [denied, allowed] = [matching(deny), matching(allow)];
      if (allow.length === 0 && denied.length === 0) throw new NotSimulated("restrict-ips without allow");
      const isAllowed = denied.length === 0 && allowed.length > 0;
      set("restrict_ips.action", isAllowed ? "allow" : "deny");
      // Of several networks, it is open which one counts.
      const matched = isAllowed ? allowed : denied;
      if (matched.length === 1) set("restrict_ips.matched_cidr", matched[0]);
      if (isAllowed) return { result: `${clientIp} is allowed` };
      if (!enforce) return { result: `${clientIp} is not allowed, not enforced` };
      if (phase === "on_tcp_connect")
        return { result: `${clientIp} is not allowed: closes`, end: ended(undefined, "do not run") };
      const refusal = refusalReply(403);
      return { result: `${clientIp} is not allowed: 403`, end: ended(refusal, "do not run") };
    },
  ),

  "set-vars": action(
    z.strictObject({
      vars: z.array(
        z
          .record(z.string(), z.unknown())
          .refine((each) => Object.keys(each).length === 1, "must have one key"),
      ),
    }),
    ({ vars }, { interpolate, vars: known }) => {
      for (const each of vars) Object.assign(known, interpolate(each, { keepsType: true }));
      return { result: vars.flatMap((each) => Object.keys(each)).join(", ") };
    },
  ),

  "url-rewrite": action(z.strictObject({ ...substitution, from: z.string() }), ({ from, to }, context) => {
    const { request } = context;
    const pattern = context.interpolate(from, { allowed: LITERAL });
    const target = context.interpolate(to, { allowed: NO_GROUP });
    const found = substituted(request.url, pattern, target, context);
    if (!found) return { result: "from does not match: no change" };
    checkCharacters(found.url);
    if (originIn(found.url) !== originIn(request.url) || normalUrl(found.url) !== found.url)
      throw new NotSimulated("a rewrite of more than the path and the query");
    request.url = found.url;
    context.set("url_rewrite.url", found.url);
    return { result: found.url };
  }),

  "verify-webhook": action(
    z.strictObject({
      provider: z.string(),
      secret: z.string().optional(),
      enforce: z.boolean().default(true),
    }),
    (config, context) => {
      const verdict = context.verify(config);
      context.set("verify_webhook.verified", verdict.verified);
      if (verdict.verified) return { result: `verified (${config.provider})` };
      if (!config.enforce) return { result: `not verified, not enforced: ${verdict.reason}` };
      const refusal = textReply(403, "ERR_NGROK_3204: Request failed webhook verification");
      return { result: `not verified: ${verdict.reason}: 403`, end: ended(refusal, "open") };
    },
  ),
};
