import type { ActionType } from "../policy/catalogue";
import { type Verdict, verifyWebhook } from "../webhooks/signatures";
import { type Config, readConfig } from "./config";
import { compiled } from "./functions";
import type { Header, PolicyReply } from "./messages";
import { inCidrs, isCidr } from "./networks";
import { checkHeader, normalUrl } from "./request";
import { EXPRESSION, type PolicyRun } from "./run";
import { ApplicationFailed, notSimulated } from "./trace";
import { FORWARDED_HEADER, headerOf, mayBeAdded } from "./values";

/* Runs actions as the public service's documentation describes them. What it does not say fails the request. */

interface Outcome {
  /** What the action did, for the trace. */
  result: string;
  /** Set if no further action of the phase runs. */
  end?: PhaseEnd;
}

/** The reply, or the closed connection, with which an action ends its phase. */
export interface PhaseEnd {
  /** Undefined if the connection is closed. */
  reply: PolicyReply | undefined;
  /** Whether the rules of on_http_response run afterwards. */
  responseRules: "run" | "do not run" | "undocumented";
  /** The type of the action. */
  by?: string;
}

/** Forwards the request to an internal endpoint. Undefined if the account has no endpoint with this URL. */
type Forward = (url: string) => Promise<PolicyReply | undefined>;

type Simulation<C> = (config: C, run: PolicyRun, forward: Forward) => Outcome | Promise<Outcome>;

const phaseEnd = (reply: PolicyReply | undefined, responseRules: PhaseEnd["responseRules"]) => ({
  reply,
  responseRules,
});
const replyWith = (status: number, text = "", headers: Header[] = []): PolicyReply => ({
  status,
  headers,
  body: Buffer.from(text),
});
const textReply = (status: number, text: string) => replyWith(status, text, [["content-type", "text/plain"]]);
const refusalReply = (status: number, headers: Header[] = []): PolicyReply => ({
  ...replyWith(status, "", headers),
  body: "unknown",
});

function interpolatedHeaders(headers: Record<string, string>, run: PolicyRun): Header[] {
  const all = Object.entries(run.interpolate(headers));
  if (all.length > 10) notSimulated("more than ten headers");
  return all.map(([name, value]) => {
    checkHeader([name, value]);
    return [name.toLowerCase(), value];
  });
}

const statusIn = (status: number, least: number, most: number) =>
  status >= least && status <= most ? status : notSimulated(`the status ${status}`);

const originIn = (url: string) => /^\w+:\/\/[^/?#]*/.exec(url)?.[0];

/** @throws RequestNotSimulated for other characters, because the documentation does not say whether the service encodes them. */
function checkCharacters(url: string): void {
  const [odd] = /[^!$-;=?-[\]_a-z~]/u.exec(url) ?? [];
  if (odd !== undefined) notSimulated(`the character ${JSON.stringify(odd)} in a URL`);
}

/** The text that replaces a match. The documentation does not say whether the service escapes a $ in a value. */
function replacement(to: string, refused: RegExp, run: PolicyRun): string {
  if (refused.test(to.replace(EXPRESSION, ""))) notSimulated("a $ in to that refers to no group");
  const text = run.interpolate(to);
  const dollars = (written: string) => written.split("$").length;
  return dollars(text) > dollars(to.replace(EXPRESSION, "")) ? notSimulated("a value with a $ in to") : text;
}

/** Replaces what a pattern matches. Undefined if nothing matches. */
function substitute(from: string, to: string, run: PolicyRun) {
  const { url } = run.request;
  // The documentation does not say whether the service escapes a value in a pattern.
  if (from.includes("${")) notSimulated("an expression in from");
  const target = replacement(to, /\$(?!\d+(?![\dA-Za-z_]))/, run);
  const found = [...compiled(from).matchAll(url)];
  if (found.some(([whole]) => !whole)) notSimulated("a match of the empty text");
  let [text, at] = ["", 0];
  for (const match of found) {
    const { index = 0 } = match;
    text += url.slice(at, index);
    text += target.replace(/\$(\d+)/g, (_, group: string) => match[Number(group)] ?? "");
    at = index + match[0].length;
  }
  return found.length === 0 ? undefined : { url: text + url.slice(at), count: found.length };
}

function checkHeaderNames(names: readonly string[]): void {
  for (const name of names)
    if (/^(user-agent|ngrok-skip-browser-warning)$/i.test(name) || FORWARDED_HEADER.test(name))
      notSimulated(`the header ${name}, which the service sets,`);
}

function knownVerdict(...webhook: Parameters<typeof verifyWebhook>): Verdict {
  try {
    return verifyWebhook(...webhook);
  } catch (error) {
    return notSimulated(`this verification (${error instanceof Error ? error.message : error})`);
  }
}

export const isSimulated = (type: string): type is ActionType => Object.hasOwn(simulations, type);

/** Runs an action. @throws RequestNotSimulated if only the service knows what it does. */
export const simulate = <Type extends ActionType>(
  type: Type,
  config: unknown,
  run: PolicyRun,
  forward: Forward,
): Outcome | Promise<Outcome> =>
  simulations[type]?.(readConfig(type, config), run, forward) ?? notSimulated(type);

/** The simulations of actions, by the action's type. */
const simulations: { readonly [Type in ActionType]?: Simulation<Config<Type>> } = {
  "add-headers": ({ headers = {} }, run) => {
    const added = interpolatedHeaders(headers, run);
    if (added.length === 0) notSimulated("add-headers without headers");
    checkHeaderNames(added.map(([name]) => name));
    const message = run.reply ?? run.request;
    for (const header of added) {
      if (run.reply && mayBeAdded(header[0], run.reply))
        notSimulated(`the header ${header[0]}, which the service adds,`);
      if (header[0] === "host")
        message.headers = message.headers.filter(([name]) => name.toLowerCase() !== "host");
      message.headers = [...message.headers, header];
    }
    run.set("add_headers.headers_added", Object.fromEntries(added));
    return { result: added.map(([name, value]) => `${name}: ${value}`).join(", ") };
  },

  "basic-auth": ({ credentials, realm, enforce }, run) => {
    if (credentials.length < 1 || credentials.length > 10)
      notSimulated("a list of credentials without 1 to 10 pairs");
    if (!/^[ !#-[\]-~]*$/.test(realm)) notSimulated("a realm that needs escapes in a header");
    const pairs = credentials.map((pair) => {
      const [, user, password] = /^((?:[^:$]|\$\{[^{}]*\}|\$(?!\{))*):(.*)$/s.exec(pair) ?? [];
      if (user === undefined) return run.interpolate(pair);
      const name = run.interpolate(user);
      if (name.includes(":")) notSimulated("a colon in the user name");
      return `${name}:${run.interpolate(password)}`;
    });
    if (pairs.some((pair) => !/^[ -9;-~]*:[ -~]{8,128}$/.test(pair)))
      notSimulated("a password that does not have 8 to 128 characters of ASCII");
    for (const pair of pairs) run.shared.secrets.addCredentials(pair);
    const [, encoded] = /^Basic +(\S+)$/i.exec(headerOf(run.request.headers, "authorization") ?? "") ?? [];
    // The documentation does not say which deviations from base64 the service tolerates.
    if (encoded !== undefined && Buffer.from(encoded, "base64").toString("base64") !== encoded)
      notSimulated("credentials that are not exact base64");
    const presented = encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("latin1");
    const authorized = presented !== undefined && pairs.includes(presented);
    run.set("basic_auth.credentials.presented", presented !== undefined);
    run.set("basic_auth.credentials.username", presented?.replace(/:.*$/s, ""));
    run.set("basic_auth.credentials.authorized", authorized);
    const result = authorized
      ? "authorized"
      : presented === undefined
        ? "no credentials"
        : "wrong credentials";
    if (authorized || !enforce) return { result: authorized ? result : `${result}, not enforced` };
    const refusal = refusalReply(401, [["www-authenticate", `Basic realm="${realm}"`]]);
    return { result: `${result}: 401`, end: phaseEnd(refusal, "undocumented") };
  },

  "close-connection": () => ({ result: "closes the connection", end: phaseEnd(undefined, "do not run") }),

  "custom-response": ({ status_code, content, body = content ?? "", headers = {} }, run) => {
    if (content !== undefined && body !== content) notSimulated("body beside its deprecated name content");
    const status = statusIn(status_code, 200, 599);
    const reply = replyWith(status, run.interpolate(body), interpolatedHeaders(headers, run));
    const isInferred = body !== "" && headerOf(reply.headers, "content-type") === undefined;
    const more = isInferred ? ", without the content-type that the service infers" : "";
    return { result: `${status}${more}`, end: phaseEnd(reply, "run") };
  },

  deny: ({ status_code }, { phase }) =>
    phase === "on_tcp_connect"
      ? { result: "closes the connection", end: phaseEnd(undefined, "do not run") }
      : { result: `${status_code}`, end: phaseEnd(replyWith(statusIn(status_code, 200, 599)), "do not run") },

  "forward-internal": async ({ url: written, on_error }, run, forward) => {
    if (run.phase === "on_tcp_connect") notSimulated("forward-internal in on_tcp_connect");
    const url = run.interpolate(written);
    if (!/^https?:\/\/[a-z\d.-]+\.internal(?::\d+)?$/.test(url)) notSimulated(`forwarding to ${url}`);
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
        end: phaseEnd(reply, "run"),
      };
    if (on_error === "continue") return { result: `the account has no internal endpoint ${url}; continues` };
    return notSimulated(`the reply if the account has no internal endpoint ${url}`);
  },

  log: ({ metadata }, run) => {
    const data = run.interpolate(metadata);
    run.set("log.metadata", data);
    return { result: JSON.stringify(data) };
  },

  "rate-limit": ({ enforce }, run) => {
    const { rateLimited = notSimulated("rate-limit without the option rateLimited") } = run.deps;
    run.set("rate_limit.limited", rateLimited);
    if (!rateLimited) return { result: "not limited, by assumption" };
    if (!enforce) return { result: "limited, by assumption; not enforced" };
    return { result: "limited, by assumption: 429", end: phaseEnd(refusalReply(429), "undocumented") };
  },

  redirect: ({ from, to, status_code, headers = {} }, run) => {
    const status = statusIn(status_code, 300, 399);
    const { url } = run.request;
    // The documentation's text and its example contradict each other here.
    if (from?.startsWith("/") && /^https?:/i.test(to)) notSimulated("a redirect from a path to a whole URL");
    const found =
      from === undefined ? { url: replacement(to, /\$/, run), count: 1 } : substitute(from, to, run);
    if ((found?.count ?? 0) > 1) notSimulated("a from that matches more than once");
    const blank = (found?.url ?? url).replaceAll(" ", "%20");
    checkCharacters(blank.replace("#", ""));
    const isPath = /^\/(?!\/)/.test(blank) && !/\/\.{1,2}(?:[/?#]|$)/.test(blank);
    if (!isPath && !/^https?:\/\/[^/]/i.test(blank)) notSimulated(`a redirect to ${blank}`);
    const location = isPath ? new URL(url).origin + blank : blank;
    if (location === url) return { result: "the URL does not change: no redirect" };
    const reply = replyWith(status, "", [["location", location], ...interpolatedHeaders(headers, run)]);
    return { result: `${status} ${location}`, end: phaseEnd(reply, "undocumented") };
  },

  "remove-headers": ({ headers }, run) => {
    if (headers.length < 1 || headers.length > 10) notSimulated("a list of headers without 1 to 10 names");
    checkHeaderNames(headers);
    const odd = headers.find((name) => name !== name.toLowerCase());
    if (odd) notSimulated(`the header ${odd} with capital letters (write ${odd.toLowerCase()})`);
    const message = run.reply ?? run.request;
    const isRemoved = ([name]: Header) => headers.includes(name.toLowerCase());
    const removed = message.headers.filter(isRemoved).map(([name]) => name.toLowerCase());
    message.headers = message.headers.filter((header) => !isRemoved(header));
    run.set("remove_headers.headers_removed", removed);
    return { result: removed.join(", ") || "none of them is there" };
  },

  "restrict-ips": ({ enforce, allow = [], deny = [], ip_policies = [] }, run) => {
    if (ip_policies.length > 0) notSimulated("ip_policies, the account's IP policies,");
    const { clientIp = notSimulated("restrict-ips behind forward-internal") } = run.deps;
    const matching = (list: string[]) =>
      run
        .interpolate(list)
        .filter((cidr) =>
          isCidr(cidr) ? inCidrs(clientIp, [cidr]) : notSimulated(`${cidr}, which is no CIDR,`),
        );
    const [denied, allowed] = [matching(deny), matching(allow)];
    if (allow.length === 0 && denied.length === 0) notSimulated("restrict-ips without allow");
    const isAllowed = denied.length === 0 && allowed.length > 0;
    run.set("restrict_ips.action", isAllowed ? "allow" : "deny");
    // If several networks match, the documentation does not say which of them the variable has.
    const matched = isAllowed ? allowed : denied;
    if (matched.length === 1) run.set("restrict_ips.matched_cidr", matched[0]);
    if (isAllowed) return { result: `${clientIp} is allowed` };
    if (!enforce) return { result: `${clientIp} is not allowed, not enforced` };
    if (run.phase === "on_tcp_connect")
      return { result: `${clientIp} is not allowed: closes`, end: phaseEnd(undefined, "do not run") };
    const refusal = refusalReply(403);
    return { result: `${clientIp} is not allowed: 403`, end: phaseEnd(refusal, "do not run") };
  },

  "set-vars": ({ vars }, run) => {
    if (vars.some((each) => Object.keys(each).length !== 1))
      notSimulated("a map of vars without exactly one key");
    for (const each of vars) Object.assign(run.vars, run.valueOf(each));
    return { result: vars.flatMap((each) => Object.keys(each)).join(", ") };
  },

  "url-rewrite": ({ from = notSimulated("url-rewrite without from"), to }, run) => {
    const { request } = run;
    const found = substitute(from, to, run);
    if (!found) return { result: "from does not match: no change" };
    checkCharacters(found.url);
    if (originIn(found.url) !== originIn(request.url) || normalUrl(found.url) !== found.url)
      notSimulated("a rewrite of more than the path and the query");
    request.url = found.url;
    run.set("url_rewrite.url", found.url);
    return { result: found.url };
  },

  "verify-webhook": (config, run) => {
    const { request, deps } = run;
    const headers = request.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    const twice = headers.find(([name], index) => headers.findIndex(([other]) => other === name) < index);
    if (twice) notSimulated(`a webhook with several headers ${twice[0]}`);
    const secret = run.interpolate(config.secret);
    const delivery = { headers: Object.fromEntries(headers), body: request.body, secret, now: deps.now() };
    const verdict = knownVerdict(config.provider, delivery);
    run.set("verify_webhook.verified", verdict.verified);
    if (verdict.verified) return { result: `verified (${config.provider})` };
    if (!config.enforce) return { result: `not verified, not enforced: ${verdict.reason}` };
    const refusal = textReply(403, "ERR_NGROK_3204: Request failed webhook verification");
    return { result: `not verified: ${verdict.reason}: 403`, end: phaseEnd(refusal, "undocumented") };
  },
};
