/*
 * Traffic policies as the public service's documentation of August 2026 describes them: data only. Types, warnings, the
 * JSON Schema and the reference derive from it, and the comments are the documentation that they show. The contract leaves
 * a policy's structure open, so nothing here may ever block: the service may know more.
 */

/** Schemes of endpoints. */
export type Protocol = "http" | "https" | "tls" | "tcp";

export interface PhaseInfo {
  /** The endpoints that have this phase. */
  protocols: readonly Protocol[];
  /** Internal endpoints of these schemes do not have it (the service's error 2262). */
  notInternal?: readonly Protocol[];
  /** Other names under which it is looked for. */
  also?: readonly string[];
}

export interface ActionInfo {
  phases: readonly PhaseName[];
  /** The endpoints that have it. Default: those that have the phase. */
  protocols?: readonly Protocol[];
  /** Whether it answers, so that nothing after it runs. `unclear` where the documentation contradicts itself. */
  ends?: "always" | "unclear";
  /** Its page in the documentation, where that does not have the action's name. */
  page?: string;
  /** Other names under which it is looked for. */
  also?: readonly string[];
  keys: Keys;
}

/** The keys of a config, or of an object in one. */
export type Keys = Readonly<Record<string, KeyInfo>>;

export interface KeyInfo {
  /** A `duration` is text such as `10s` or `2m`. An `object` has the keys of `keys`, a `map` any. */
  kind: "text" | "integer" | "number" | "boolean" | "duration" | "map of text" | "map" | "object";
  /** Whether it is a list of those; with `or one`, one of them alone may stand for the list. */
  list?: true | "or one";
  /** Documented as required. One that has a default, too, may be left out: the documentation's own examples do so. */
  required?: true;
  /** Required, but for a config that has this value under this key. */
  requiredUnless?: Readonly<Record<string, string>>;
  default?: string | number | boolean | readonly string[];
  /** The values that are known; the service may take others. */
  values?: readonly string[];
  /** Whether values may hold expressions, as in `${conn.client_ip}`. */
  cel?: true;
  /** Other names under which it is looked for. */
  also?: readonly string[];
  keys?: Keys;
}

export type PhaseName = keyof typeof phases;
export type ActionType = keyof typeof actions;

/** Where each action's page is. */
export const ACTION_PAGES = "https://ngrok.com/docs/traffic-policy/actions/";

/** The points at which rules run, in the order of time. */
export const phases = {
  /** Rules for a new connection, before anything of it is read. Internal `http` and `https` endpoints have none. */
  on_tcp_connect: {
    protocols: ["http", "https", "tls", "tcp"],
    notInternal: ["http", "https"],
    also: ["on_connect", "on_tls_connect"],
  },
  /** Rules for a request, before it is forwarded. */
  on_http_request: { protocols: ["http", "https"], also: ["on_request", "on_https_request"] },
  /** Rules for a response, before it goes back to the client. */
  on_http_response: { protocols: ["http", "https"], also: ["on_response", "on_https_response"] },
  /** Rules for each message of an event stream. */
  on_event_stream_message: { protocols: ["http", "https"] },
} as const satisfies Readonly<Record<string, PhaseInfo>>;

/** Phases of policies from before November 2024, and what took their place. */
export const legacyPhases: Readonly<Record<string, readonly PhaseName[]>> = {
  inbound: ["on_http_request", "on_tcp_connect"],
  outbound: ["on_http_response"],
};

/** What an action consists of. What its `config` takes is with each action. */
export const actionKeys = {
  /** Which action it is. */
  type: { kind: "text", required: true, also: ["action"] },
  /** What it does in particular. */
  config: { kind: "map", also: ["configuration", "options", "with"] },
} as const satisfies Keys;

/** What a rule consists of. */
export const ruleKeys = {
  /** What people call the rule. */
  name: { kind: "text" },
  /** CEL expressions that choose what the rule is for; all have to be true. Without any, it is for everything. */
  expressions: { kind: "text", list: true, also: ["if", "when", "condition", "conditions", "match"] },
  /** What the rule does, in this order. */
  actions: { kind: "object", list: true, required: true, also: ["then", "do"] },
} as const satisfies Keys;

const REQUEST = ["on_http_request"] as const;
const RESPONSE = ["on_http_response"] as const;
const BOTH = ["on_http_request", "on_http_response"] as const;
const BEFORE = ["on_tcp_connect", "on_http_request"] as const;
const ALL = ["on_tcp_connect", "on_http_request", "on_http_response"] as const;

/** Every action, by its `type`. */
// biome-ignore format: a key a line, so that it reads as the table that it is
export const actions = {
  /** Adds headers to the request, or to the response. */
  "add-headers": { phases: BOTH, keys: {
    /** Value by name of header, 1 to 10 of them. */ headers: { kind: "map of text", cel: true },
  } },

  /** Lets through who sends a user's name and password that are on a list. */
  "basic-auth": { phases: REQUEST, keys: {
    /** Up to ten pairs, `name:password`, passwords of 8 to 128 characters. */ credentials: { kind: "text", list: true, required: true, cel: true },
    /** The realm that browsers show. */ realm: { kind: "text", default: "ngrok" },
    /** With `false`, a request that fails goes on. */ enforce: { kind: "boolean", default: true },
  } },

  /** Refuses requests for a while after too many of them ended in errors. */
  "circuit-breaker": { phases: REQUEST, keys: {
    /** The part of errors that trips it, from 0.0 to 1.0. */ error_threshold: { kind: "number", required: true, default: 0.5, also: ["error_threshold_percentage"] },
    /** How many requests of a window it takes to judge, from 1 to 2,000,000,000. */ volume_threshold: { kind: "integer", default: 10 },
    /** The window that is looked at, from 1s to 2m. */ window_duration: { kind: "duration", default: "10s", also: ["rolling_window", "window"] },
    /** How long it refuses before it looks again, from 1s to 2m. */ tripped_duration: { kind: "duration", default: "10s" },
    /** How many parts the window is counted in. The service has 10, whatever is written. */ num_buckets: { kind: "integer" },
    /** With `false`, it never trips. */ enforce: { kind: "boolean", default: true },
  } },

  /** Closes the client's connection. */
  "close-connection": { phases: BEFORE, ends: "always", keys: {} },

  /** Compresses the response, if the client can take it. */
  "compress-response": { phases: RESPONSE, keys: {
    /** The algorithms to choose from, each once. */ algorithms: { kind: "text", list: true, default: ["gzip", "deflate", "br", "compress"], values: ["gzip", "deflate", "br", "compress"] },
  } },

  /** Answers by itself. The rules of `on_http_response` run all the same. */
  "custom-response": { phases: BOTH, ends: "always", keys: {
    /** The status of the response. */ status_code: { kind: "integer", default: 200, also: ["status"] },
    /** The body of the response. */ body: { kind: "text", cel: true, also: ["content"] },
    /** Up to ten headers. Without `content-type`, the service guesses it from the body. */ headers: { kind: "map of text", cel: true },
  } },

  /** Refuses the connection or the request. */
  deny: { phases: BEFORE, ends: "always", keys: {
    /** The status of the refusal. A connection is closed without one. */ status_code: { kind: "integer", default: 403, also: ["status"] },
  } },

  /** Hands over to an internal endpoint of the account. */
  "forward-internal": { phases: BEFORE, ends: "always", also: ["forward"], keys: {
    /** The internal endpoint: `https://app.internal`. */ url: { kind: "text", required: true, cel: true },
    /** Whether later actions run where the endpoint cannot be reached. */ on_error: { kind: "text", default: "halt", values: ["halt", "continue"] },
    /** In older policies: `internal`. */ binding: { kind: "text", values: ["internal"] },
  } },

  /** Sends a request of its own, and keeps the answer for later expressions. */
  "http-request": { phases: BOTH, keys: {
    /** Where the request goes. */ url: { kind: "text", required: true, cel: true },
    /** Its method. */ method: { kind: "text", default: "GET", values: ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"] },
    /** Up to 32 parameters for the URL, each with `key` and `value`. */ query_params: { kind: "object", list: true, cel: true, keys: {
      /** The parameter's name, at most 128 characters. */ key: { kind: "text", cel: true },
      /** Its value, at most 8,192 characters. */ value: { kind: "text", cel: true },
    } },
    /** Up to ten headers. */ headers: { kind: "map of text", cel: true },
    /** What it sends. */ body: { kind: "text", cel: true },
    /** How many redirects it follows, from 0 to 100. */ max_redirects: { kind: "integer", default: 10 },
    /** How long it may take with redirects and repetitions, from 1s to 30s. */ timeout: { kind: "duration", default: "3s" },
    /** An expression that is true where a failed request is to be repeated, up to three times. */ retry_condition: { kind: "text", default: "false", cel: true },
    /** Whether later actions run after a failure. */ on_error: { kind: "text", default: "continue", values: ["continue", "halt"] },
  } },

  /** Lets through requests with a valid JSON Web Token. */
  "jwt-validation": { phases: REQUEST, keys: {
    /** Who may have issued it. */ issuer: { kind: "object", required: true, keys: {
      /** At least one issuer. */ allow_list: { kind: "object", list: true, required: true, keys: {
        /** The issuer's URL, which tokens have as `iss`. */ value: { kind: "text", required: true, cel: true },
      } },
    } },
    /** For whom it has to be issued. */ audience: { kind: "object", keys: {
      /** At least one audience. */ allow_list: { kind: "object", list: true, keys: {
        /** The audience, which tokens have as `aud`. */ value: { kind: "text" },
      } },
    } },
    /** Where requests carry it. */ http: { kind: "object", required: true, keys: {
      /** At least one token. */ tokens: { kind: "object", list: true, required: true, keys: {
        /** What kind of token it is. */ type: { kind: "text", required: true, values: ["jwt", "access_token", "id_token", "at+jwt", "it+jwt", "plain"] },
        /** Whether it is in a header, or in a field of a body of JSON or of a form. */ method: { kind: "text", required: true, values: ["header", "body"] },
        /** The header's or the field's name: `Authorization`. */ name: { kind: "text", required: true, cel: true },
        /** What stands before the token: `"Bearer "`. */ prefix: { kind: "text", cel: true },
      } },
    } },
    /** How it has to be signed. */ jws: { kind: "object", required: true, keys: {
      /** At least one algorithm, such as `ES256`; `none` is never one. */ allowed_algorithms: { kind: "text", list: true, required: true },
      /** The keys that can have signed it. */ keys: { kind: "object", list: "or one", required: true, keys: {
        /** How a token names its key. */ identification: { kind: "object", list: "or one", keys: {
          /** The claims that do: `kid`. */ token_claims: { kind: "text", list: true },
        } },
        /** Where the keys are. */ sources: { kind: "object", list: "or one", required: true, keys: {
          /** URLs that give key sets (JWKS); the service asks about every 15 minutes. */ additional_jkus: { kind: "text", list: true, required: true, cel: true },
        } },
      } },
    } },
  } },

  /** Adds data to the events that the service logs. */
  log: { phases: ALL, keys: {
    /** The data, by name. */ metadata: { kind: "map", required: true, cel: true },
  } },

  /** Lets through who has signed in with an OAuth provider. */
  oauth: { phases: REQUEST, keys: {
    /** The provider: `google`, `github`. */ provider: { kind: "text", required: true },
    /** Tells apart several sign-ins of one endpoint, in cookies and paths. */ auth_id: { kind: "text" },
    /** Your application's id. Left out, the service's own application is used. */ client_id: { kind: "text", cel: true },
    /** Your application's secret. Left out, the service's own application is used. */ client_secret: { kind: "text", cel: true },
    /** More scopes to ask for. */ scopes: { kind: "text", list: true },
    /** More parameters for the provider's address. */ authz_url_params: { kind: "map of text" },
    /** After how long a session ends in any case. */ max_session_duration: { kind: "duration" },
    /** After how long without a request a session ends. */ idle_session_timeout: { kind: "duration", also: ["idle_session_duration"] },
    /** How often the data of the user is read again. */ userinfo_refresh_interval: { kind: "duration" },
    /** Whether preflight requests of browsers pass without a session. */ allow_cors_preflight: { kind: "boolean", default: false },
    /** The domain that the session's cookie is for. */ auth_cookie_domain: { kind: "text" },
  } },

  /** Lets through who has signed in with an OpenID Connect provider. */
  "openid-connect": { phases: REQUEST, page: "oidc", also: ["oidc"], keys: {
    /** The provider's URL, below which `/.well-known/openid-configuration` is. */ issuer_url: { kind: "text", required: true, also: ["issuer"] },
    /** Tells apart several sign-ins of one endpoint, in cookies and paths. */ auth_id: { kind: "text" },
    /** Your application's id. */ client_id: { kind: "text", cel: true },
    /** Your application's secret. */ client_secret: { kind: "text", cel: true },
    /** More scopes to ask for. */ scopes: { kind: "text", list: true },
    /** More parameters for the provider's address. */ authz_url_params: { kind: "map of text" },
    /** After how long a session ends in any case. */ max_session_duration: { kind: "duration" },
    /** After how long without a request a session ends. */ idle_session_duration: { kind: "duration", also: ["idle_session_timeout"] },
    /** How often the data of the user is read again. */ userinfo_refresh_interval: { kind: "duration" },
    /** Whether preflight requests of browsers pass without a session. */ allow_cors_preflight: { kind: "boolean" },
    /** The domain that the session's cookie is for. */ auth_cookie_domain: { kind: "text" },
  } },

  /** Judges requests by the OWASP core rule set, and refuses those that look like attacks. */
  "owasp-crs-request": { phases: REQUEST, keys: {
    /** Whether later actions run where the rules could not be applied. */ on_error: { kind: "text", required: true, default: "halt", values: ["halt", "continue"] },
    /** Whether the first 4 KB of the body are judged, too. */ process_body: { kind: "boolean", default: false },
    /** Numbers of rules that do not count, from 900000 to 999999. */ exclude_rule_ids: { kind: "integer", list: true },
  } },

  /** Judges responses by the OWASP core rule set, and refuses those that give away too much. */
  "owasp-crs-response": { phases: RESPONSE, keys: {
    /** Whether later actions run where the rules could not be applied. */ on_error: { kind: "text", required: true, default: "halt", values: ["halt", "continue"] },
    /** Whether the first 4 KB of the body are judged, too. */ process_body: { kind: "boolean", default: false },
    /** Numbers of rules that do not count, from 900000 to 999999. */ exclude_rule_ids: { kind: "integer", list: true },
  } },

  /** Refuses requests beyond a number in a time. */
  "rate-limit": { phases: REQUEST, keys: {
    /** What people call the limit, under 1,024 characters. */ name: { kind: "text", required: true },
    /** With `false`, it counts and refuses nothing. */ enforce: { kind: "boolean", default: true },
    /** How it counts. */ algorithm: { kind: "text", required: true, values: ["sliding_window"] },
    /** How many requests pass, from 1 to 2,000,000,000. */ capacity: { kind: "integer", required: true, also: ["limit"] },
    /** In which time: a multiple of ten seconds from 60s to 24h. */ rate: { kind: "duration", required: true, also: ["window"] },
    /** Up to ten CEL expressions; those for whom all are the same share a limit: `conn.client_ip`. */ bucket_key: { kind: "text", list: true, required: true },
  } },

  /** Sends the client to another URL. */
  redirect: { phases: REQUEST, ends: "unclear", keys: {
    /** A regular expression for the part of the URL that is replaced. */ from: { kind: "text", cel: true },
    /** What takes its place. */ to: { kind: "text", required: true, cel: true, also: ["location", "url"] },
    /** A status from 300 to 399. */ status_code: { kind: "integer", default: 302, also: ["status"] },
    /** Up to ten headers for the response. */ headers: { kind: "map of text", cel: true },
  } },

  /** Takes headers out of the request, or out of the response. */
  "remove-headers": { phases: BOTH, keys: {
    /** Their names, 1 to 10 of them. */ headers: { kind: "text", list: true, required: true },
  } },

  /** Replaces text in the request's body. */
  "request-body-find-replace": { phases: REQUEST, keys: {
    /** At least one replacement; they run in this order. */ replacements: { kind: "object", list: true, required: true, keys: {
      /** A regular expression (RE2) for what is replaced. */ from: { kind: "text", required: true, cel: true },
      /** What takes its place, with `$1` for a group. Left out, the text goes. */ to: { kind: "text", cel: true },
    } },
  } },

  /** Replaces text in the response's body. */
  "response-body-find-replace": { phases: RESPONSE, keys: {
    /** At least one replacement; they run in this order. */ replacements: { kind: "object", list: true, required: true, keys: {
      /** A regular expression (RE2) for what is replaced. */ from: { kind: "text", required: true, cel: true },
      /** What takes its place, with `$1` for a group. Left out, the text goes. */ to: { kind: "text", cel: true },
    } },
  } },

  /** Lets through addresses that are on a list, or are on none. */
  "restrict-ips": { phases: ALL, keys: {
    /** With `false`, an address that may not come goes on. */ enforce: { kind: "boolean", required: true, default: true },
    /** Networks that may come, in CIDR notation. */ allow: { kind: "text", list: true, cel: true },
    /** Networks that may not come, in CIDR notation. */ deny: { kind: "text", list: true, cel: true },
    /** Ids of the account's IP policies. */ ip_policies: { kind: "text", list: true },
  } },

  /** Sets variables for later expressions. */
  "set-vars": { phases: ALL, keys: {
    /** A list of maps, each with one variable: its name and its value. */ vars: { kind: "map", list: "or one", required: true },
  } },

  /** Replaces text in messages of an event stream. */
  "sse-find-replace": { phases: ["on_event_stream_message"], keys: {
    /** At least one replacement; they run in this order. */ replacements: { kind: "object", list: true, required: true, keys: {
      /** The field of the message, `data` or `retry`. */ field: { kind: "text", default: "data", cel: true },
      /** A regular expression (RE2) for what is replaced. */ from: { kind: "text", required: true, cel: true },
      /** What takes its place, with `$1` for a group. Left out, the text goes. */ to: { kind: "text", cel: true },
    } },
  } },

  /** Ends TLS at the service, for endpoints with `tls` or `https`. */
  "terminate-tls": { phases: ["on_tcp_connect"], protocols: ["https", "tls"], keys: {
    /** The oldest version of TLS. */ min_version: { kind: "text", default: "1.2", values: ["1.2", "1.3"] },
    /** The newest version of TLS. */ max_version: { kind: "text", default: "1.3", values: ["1.2", "1.3"] },
    /** A key of your own, as PEM; together with `server_certificate`. */ server_private_key: { kind: "text", cel: true },
    /** A certificate of your own, as PEM; together with `server_private_key`. */ server_certificate: { kind: "text", cel: true },
    /** Whose certificates clients must have: authorities as PEM, or their ids. */ mutual_tls_certificate_authorities: { kind: "text", list: true, cel: true },
    /** How strictly a client's certificate is asked for. */ mutual_tls_verification_strategy: { kind: "text", default: "require-and-verify", values: ["require-and-verify", "require-any", "request"] },
  } },

  /** Changes the URL that the upstream sees. */
  "url-rewrite": { phases: REQUEST, keys: {
    /** A regular expression for the part of the URL that is replaced. */ from: { kind: "text", cel: true },
    /** What takes its place. */ to: { kind: "text", required: true, cel: true },
  } },

  /** Lets through webhooks whose signature is right. */
  "verify-webhook": { phases: REQUEST, also: ["webhook-validation", "webhook-verification", "verify-webhooks"], keys: {
    /** The platform that sends them: `github`. */ provider: { kind: "text", required: true, also: ["platform"] },
    /** What the platform signs with. `sns` signs with a key of its own, and has none. */ secret: { kind: "text", requiredUnless: { provider: "sns" }, cel: true },
    /** With `false`, a webhook that is not verified goes on. */ enforce: { kind: "boolean", default: true },
  } },
} as const satisfies Readonly<Record<string, ActionInfo>>;
