/*
 * The phases, actions and keys of traffic policies, by the public service's documentation of August 2026: data only. Types, warnings,
 * the JSON Schema and the reference derive from it, and show its comments as documentation. The service may know more, so nothing
 * here ever blocks.
 */

/** Schemes of endpoints. */
export type Protocol = "http" | "https" | "tls" | "tcp";

export interface PhaseInfo {
  /** The endpoints that have this phase. */
  protocols: readonly Protocol[];
  /** The schemes whose internal endpoints do not have this phase (the service's error 2262). */
  notInternal?: readonly Protocol[];
  /** Wrong names for it that people use. */
  misnamed?: readonly string[];
}

export interface ActionInfo {
  phases: readonly PhaseName[];
  /** The endpoints that have this action. Default: those that have the phase. */
  protocols?: readonly Protocol[];
  /** Whether the action answers, so that no later action runs. `unclear` if the documentation contradicts itself. */
  ends?: "always" | "unclear";
  /** The name of its page in the documentation. Default: the action's name. */
  page?: string;
  /** Whether the service has deprecated it. Its config may then be anything. */
  isDeprecated?: true;
  /** Wrong names for it that people use. */
  misnamed?: readonly string[];
  keys: Keys;
}

/** The keys of a config, or of an object in one. */
export type Keys = Readonly<Record<string, KeyInfo>>;

export interface KeyInfo {
  /** A `duration` is text such as `10s` or `2m`. An `object` has the keys of `keys`, a `map` any. */
  kind: "text" | "integer" | "number" | "boolean" | "duration" | "map of text" | "map" | "object";
  /** Whether the value is a list; with `or one`, a single value may replace the list. */
  list?: true | "or one";
  /** Documented as required. A key that also has a default may be left out, as in the documentation's own examples. */
  required?: true;
  default?: string | number | boolean | readonly string[];
  /** The known values; the service may accept others. */
  values?: readonly string[];
  /** Whether the value is the URL of an internal endpoint, such as `https://app.internal`. */
  isInternalUrl?: true;
  /** Whether the value is `name:password`. */
  isCredentials?: true;
  /** Whether values may contain expressions, as in `${conn.client_ip}`. */
  cel?: true;
  /** Whether each value is an expression as a whole, without `${…}`. */
  isExpression?: true;
  /** The key of which it is the deprecated name, which the service still accepts. */
  deprecatedFor?: string;
  /** Wrong names for it that people use. */
  misnamed?: readonly string[];
  keys?: Keys;
}

export type PhaseName = keyof typeof phases;
export type ActionType = keyof typeof actions;

/** The address of the actions' pages. */
export const ACTION_PAGES = "https://ngrok.com/docs/traffic-policy/actions/";

/** The phases, in which rules run, in the order of time. */
export const phases = {
  /** Rules for a new connection, before any data is read. Not for internal `http` and `https` endpoints. */
  on_tcp_connect: {
    protocols: ["http", "https", "tls", "tcp"],
    notInternal: ["http", "https"],
    misnamed: ["on_connect", "on_tls_connect"],
  },
  /** Rules for a request, before it is forwarded. */
  on_http_request: { protocols: ["http", "https"], misnamed: ["on_request", "on_https_request", "inbound"] },
  /** Rules for a response, before it goes back to the client. */
  on_http_response: {
    protocols: ["http", "https"],
    misnamed: ["on_response", "on_https_response", "outbound"],
  },
  /** Rules for each message of an event stream. */
  on_event_stream_message: { protocols: ["http", "https"] },
} as const satisfies Readonly<Record<string, PhaseInfo>>;

/** The keys of an action. The keys of its `config` are listed with each action below. */
export const actionKeys = {
  /** The kind of action. */
  type: { kind: "text", required: true, misnamed: ["action"] },
  /** The action's settings. */
  config: { kind: "map", misnamed: ["configuration", "options", "with"] },
} as const satisfies Keys;

/** The keys of a rule. */
export const ruleKeys = {
  /** A name for people. */
  name: { kind: "text" },
  /** CEL expressions that select the traffic; all of them must be true. Without expressions the rule applies to all traffic. */
  expressions: {
    kind: "text",
    list: true,
    isExpression: true,
    misnamed: ["if", "when", "condition", "conditions", "match"],
  },
  /** The actions, which run in this order. */
  actions: { kind: "object", list: true, required: true, misnamed: ["then", "do"] },
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
    /** Values by the headers' names, 1 to 10 headers. */ headers: { kind: "map of text", cel: true },
  } },

  /** Deprecated: sends the request to a provider of language models. Its config may be anything. */
  "ai-gateway": { phases: REQUEST, ends: "unclear", isDeprecated: true, keys: {} },

  /** Requires a user name and a password. */
  "basic-auth": { phases: REQUEST, keys: {
    /** Up to ten pairs `name:password`; a password has 8 to 128 characters. */ credentials: { kind: "text", list: true, required: true, cel: true, isCredentials: true },
    /** The realm of the authentication, which some browsers show. */ realm: { kind: "text", default: "ngrok" },
    /** With `false`, requests that fail the check continue. */ enforce: { kind: "boolean", default: true },
  } },

  /** Refuses requests for a time after too many of them failed. */
  "circuit-breaker": { phases: REQUEST, keys: {
    /** The share of errors that trips the breaker, from 0.0 to 1.0. */ error_threshold: { kind: "number", required: true, default: 0.5, misnamed: ["error_threshold_percentage"] },
    /** The number of requests in a window before errors count, from 1 to 2,000,000,000. */ volume_threshold: { kind: "integer", default: 10 },
    /** The length of the rolling window, from 1s to 2m. */ window_duration: { kind: "duration", default: "10s", misnamed: ["rolling_window", "window"] },
    /** How long requests are refused before the next evaluation, from 1s to 2m. */ tripped_duration: { kind: "duration", default: "10s" },
    /** The number of parts of the window; the service always uses 10. */ num_buckets: { kind: "integer" },
    /** With `false`, the breaker never trips. */ enforce: { kind: "boolean", default: true },
  } },

  /** Closes the client's connection. */
  "close-connection": { phases: BEFORE, ends: "always", keys: {} },

  /** Compresses the response if the client accepts that. */
  "compress-response": { phases: RESPONSE, keys: {
    /** The allowed algorithms, each once. */ algorithms: { kind: "text", list: true, default: ["gzip", "deflate", "br", "compress"], values: ["gzip", "deflate", "br", "compress"] },
  } },

  /** Sends a response. The rules of `on_http_response` still run. */
  "custom-response": { phases: BOTH, ends: "always", keys: {
    /** The status of the response. */ status_code: { kind: "integer", default: 200, misnamed: ["status"] },
    /** The body of the response. */ body: { kind: "text", cel: true },
    /** The deprecated name of `body`. */ content: { kind: "text", cel: true, deprecatedFor: "body" },
    /** Up to ten headers. Without `content-type`, the service derives it from the body. */ headers: { kind: "map of text", cel: true },
  } },

  /** Refuses the connection or request. */
  deny: { phases: BEFORE, ends: "always", keys: {
    /** The status of the refusal of a request. */ status_code: { kind: "integer", default: 403, misnamed: ["status"] },
  } },

  /** Forwards to an internal endpoint of the account. */
  "forward-internal": { phases: BEFORE, ends: "always", misnamed: ["forward"], keys: {
    /** The internal endpoint: `https://app.internal`. */ url: { kind: "text", required: true, cel: true, isInternalUrl: true },
    /** Whether later actions run if forwarding fails. */ on_error: { kind: "text", default: "halt", values: ["halt", "continue"] },
    /** Only in older policies. */ binding: { kind: "text", values: ["internal"] },
  } },

  /** Sends an HTTP request, and keeps the response for later expressions. */
  "http-request": { phases: BOTH, keys: {
    /** The destination of the request. */ url: { kind: "text", required: true, cel: true },
    /** The method of the request. */ method: { kind: "text", default: "GET", values: ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"] },
    /** Up to 32 parameters for the URL, each with `key` and `value`. */ query_params: { kind: "object", list: true, cel: true, keys: {
      /** The name, at most 128 characters. */ key: { kind: "text", cel: true },
      /** The value, at most 8,192 characters. */ value: { kind: "text", cel: true },
    } },
    /** Up to ten headers. */ headers: { kind: "map of text", cel: true },
    /** The body of the request. */ body: { kind: "text", cel: true },
    /** The most redirects to follow, from 0 to 100. */ max_redirects: { kind: "integer", default: 10 },
    /** The time limit, including redirects and retries, from 1s to 30s. */ timeout: { kind: "duration", default: "3s" },
    /** An expression that decides whether a failed request is retried, up to three times. */ retry_condition: { kind: "text", isExpression: true, default: "false" },
    /** Whether later actions run if the request fails. */ on_error: { kind: "text", default: "continue", values: ["continue", "halt"] },
  } },

  /** Requires a valid JSON Web Token. */
  "jwt-validation": { phases: REQUEST, keys: {
    /** The allowed issuers of the token. */ issuer: { kind: "object", required: true, keys: {
      /** At least one issuer. */ allow_list: { kind: "object", list: true, required: true, keys: {
        /** The issuer's URL, the claim `iss`. */ value: { kind: "text", required: true, cel: true },
      } },
    } },
    /** The allowed audiences of the token. */ audience: { kind: "object", keys: {
      /** At least one audience. */ allow_list: { kind: "object", list: true, keys: {
        /** The audience, the claim `aud`. */ value: { kind: "text" },
      } },
    } },
    /** The place of the token in the request. */ http: { kind: "object", required: true, keys: {
      /** At least one token. */ tokens: { kind: "object", list: true, required: true, keys: {
        /** The type of the token. */ type: { kind: "text", required: true, values: ["jwt", "access_token", "id_token", "at+jwt", "it+jwt", "plain"] },
        /** Where the token is: in a header, or in a field of a JSON or form body. */ method: { kind: "text", required: true, values: ["header", "body"] },
        /** The name of the header or field: `Authorization`. */ name: { kind: "text", required: true, cel: true },
        /** The text before the token: `"Bearer "`. */ prefix: { kind: "text", cel: true },
      } },
    } },
    /** The signature of the token. */ jws: { kind: "object", required: true, keys: {
      /** At least one algorithm, such as `ES256`; `none` is not allowed. */ allowed_algorithms: { kind: "text", list: true, required: true },
      /** The keys that may sign tokens. */ keys: { kind: "object", list: "or one", required: true, keys: {
        /** How a token identifies its key. */ identification: { kind: "object", list: "or one", keys: {
          /** The claims that identify the key: `kid`. */ token_claims: { kind: "text", list: true },
        } },
        /** Where to get the keys. */ sources: { kind: "object", list: "or one", required: true, keys: {
          /** URLs of key sets (JWKS), read about every 15 minutes. */ additional_jkus: { kind: "text", list: true, required: true, cel: true },
        } },
      } },
    } },
  } },

  /** Adds data to the service's event log. */
  log: { phases: ALL, keys: {
    /** The data by name. */ metadata: { kind: "map", required: true, cel: true },
  } },

  /** Requires a sign-in with an OAuth provider. */
  oauth: { phases: REQUEST, keys: {
    /** The provider: `google`, `github`. */ provider: { kind: "text", required: true },
    /** Distinguishes several sign-ins of one endpoint, in cookies and paths. */ auth_id: { kind: "text" },
    /** Your application's id. Default: the service's own application. */ client_id: { kind: "text", cel: true },
    /** Your application's secret. Default: the service's own application. */ client_secret: { kind: "text", cel: true },
    /** More scopes to request. */ scopes: { kind: "text", list: true },
    /** More parameters for the provider's authorization URL. */ authz_url_params: { kind: "map of text" },
    /** The longest duration of a session. */ max_session_duration: { kind: "duration" },
    /** How long a session lasts without requests. */ idle_session_timeout: { kind: "duration", misnamed: ["idle_session_duration"] },
    /** How often the user's data is refreshed. */ userinfo_refresh_interval: { kind: "duration" },
    /** Whether CORS preflight requests pass without a sign-in. */ allow_cors_preflight: { kind: "boolean", default: false },
    /** The domain of the session's cookie. */ auth_cookie_domain: { kind: "text" },
  } },

  /** Requires a sign-in with an OpenID Connect provider. */
  "openid-connect": { phases: REQUEST, page: "oidc", misnamed: ["oidc"], keys: {
    /** The provider's base URL, which serves `/.well-known/openid-configuration`. */ issuer_url: { kind: "text", required: true, misnamed: ["issuer"] },
    /** Distinguishes several sign-ins of one endpoint, in cookies and paths. */ auth_id: { kind: "text" },
    /** Your application's id. */ client_id: { kind: "text", cel: true },
    /** Your application's secret. */ client_secret: { kind: "text", cel: true },
    /** More scopes to request. */ scopes: { kind: "text", list: true },
    /** More parameters for the provider's authorization URL. */ authz_url_params: { kind: "map of text" },
    /** The longest duration of a session. */ max_session_duration: { kind: "duration" },
    /** How long a session lasts without requests. */ idle_session_duration: { kind: "duration", misnamed: ["idle_session_timeout"] },
    /** How often the user's data is refreshed. */ userinfo_refresh_interval: { kind: "duration" },
    /** Whether CORS preflight requests pass without a sign-in. */ allow_cors_preflight: { kind: "boolean" },
    /** The domain of the session's cookie. */ auth_cookie_domain: { kind: "text" },
  } },

  /** Evaluates requests with the OWASP core rule set, and refuses those that score as attacks. */
  "owasp-crs-request": { phases: REQUEST, keys: {
    /** Whether later actions run if the evaluation fails. */ on_error: { kind: "text", required: true, default: "halt", values: ["halt", "continue"] },
    /** Whether the first 4 KB of the body are evaluated. */ process_body: { kind: "boolean", default: false },
    /** Ids of rules to skip, from 900000 to 999999. */ exclude_rule_ids: { kind: "integer", list: true },
  } },

  /** Evaluates responses with the OWASP core rule set, and blocks those that score as leaks. */
  "owasp-crs-response": { phases: RESPONSE, keys: {
    /** Whether later actions run if the evaluation fails. */ on_error: { kind: "text", required: true, default: "halt", values: ["halt", "continue"] },
    /** Whether the first 4 KB of the body are evaluated. */ process_body: { kind: "boolean", default: false },
    /** Ids of rules to skip, from 900000 to 999999. */ exclude_rule_ids: { kind: "integer", list: true },
  } },

  /** Limits the number of requests in a period. */
  "rate-limit": { phases: REQUEST, keys: {
    /** A name for the limit, under 1,024 characters. */ name: { kind: "text", required: true },
    /** With `false`, requests are counted but not refused. */ enforce: { kind: "boolean", default: true },
    /** The counting algorithm. */ algorithm: { kind: "text", required: true, values: ["sliding_window"] },
    /** The number of requests in the period, from 1 to 2,000,000,000. */ capacity: { kind: "integer", required: true, misnamed: ["limit"] },
    /** The period: a multiple of ten seconds, from 60s to 24h. */ rate: { kind: "duration", required: true, misnamed: ["window"] },
    /** Up to ten CEL expressions; requests with the same values share a limit: `conn.client_ip`. */ bucket_key: { kind: "text", list: true, required: true, isExpression: true },
  } },

  /** Redirects the client to another URL. */
  redirect: { phases: REQUEST, ends: "unclear", keys: {
    /** A regular expression for the part of the URL to replace. */ from: { kind: "text", cel: true },
    /** The replacement. */ to: { kind: "text", required: true, cel: true, misnamed: ["location", "url"] },
    /** A status from 300 to 399. */ status_code: { kind: "integer", default: 302, misnamed: ["status"] },
    /** Up to ten headers for the response. */ headers: { kind: "map of text", cel: true },
  } },

  /** Removes headers from the request or from the response. */
  "remove-headers": { phases: BOTH, keys: {
    /** The names, 1 to 10 headers. */ headers: { kind: "text", list: true, required: true },
  } },

  /** Replaces text in the request's body. */
  "request-body-find-replace": { phases: REQUEST, keys: {
    /** At least one replacement, applied in this order. */ replacements: { kind: "object", list: true, required: true, keys: {
      /** A regular expression (RE2) for the text to replace. */ from: { kind: "text", required: true, cel: true },
      /** The replacement, with `$1` for a group. Without it, matches are deleted. */ to: { kind: "text", cel: true },
    } },
  } },

  /** Replaces text in the response's body. */
  "response-body-find-replace": { phases: RESPONSE, keys: {
    /** At least one replacement, applied in this order. */ replacements: { kind: "object", list: true, required: true, keys: {
      /** A regular expression (RE2) for the text to replace. */ from: { kind: "text", required: true, cel: true },
      /** The replacement, with `$1` for a group. Without it, matches are deleted. */ to: { kind: "text", cel: true },
    } },
  } },

  /** Restricts access by IP address. */
  "restrict-ips": { phases: ALL, keys: {
    /** With `false`, requests from other addresses continue. */ enforce: { kind: "boolean", required: true, default: true },
    /** Allowed networks, in CIDR notation. */ allow: { kind: "text", list: true, cel: true },
    /** Denied networks, in CIDR notation. */ deny: { kind: "text", list: true, cel: true },
    /** Ids of the account's IP policies. */ ip_policies: { kind: "text", list: true },
  } },

  /** Sets variables for later expressions. */
  "set-vars": { phases: ALL, keys: {
    /** A list of maps, each with the name and value of one variable. */ vars: { kind: "map", list: "or one", required: true, cel: true },
  } },

  /** Replaces text in messages of an event stream. */
  "sse-find-replace": { phases: ["on_event_stream_message"], keys: {
    /** At least one replacement, applied in this order. */ replacements: { kind: "object", list: true, required: true, keys: {
      /** The field of the message, `data` or `retry`. */ field: { kind: "text", default: "data", cel: true },
      /** A regular expression (RE2) for the text to replace. */ from: { kind: "text", required: true, cel: true },
      /** The replacement, with `$1` for a group. Without it, matches are deleted. */ to: { kind: "text", cel: true },
    } },
  } },

  /** Terminates TLS at the service. */
  "terminate-tls": { phases: ["on_tcp_connect"], protocols: ["https", "tls"], keys: {
    /** The lowest allowed version of TLS. */ min_version: { kind: "text", default: "1.2", values: ["1.2", "1.3"] },
    /** The highest allowed version of TLS. */ max_version: { kind: "text", default: "1.3", values: ["1.2", "1.3"] },
    /** Your own private key in PEM form; needs `server_certificate`. */ server_private_key: { kind: "text", cel: true },
    /** Your own certificate in PEM form; needs `server_private_key`. */ server_certificate: { kind: "text", cel: true },
    /** The authorities of client certificates, in PEM form or by id. */ mutual_tls_certificate_authorities: { kind: "text", list: "or one", cel: true },
    /** How strictly client certificates are required. */ mutual_tls_verification_strategy: { kind: "text", default: "require-and-verify", values: ["require-and-verify", "require-any", "request"] },
  } },

  /** Rewrites the URL of the request. */
  "url-rewrite": { phases: REQUEST, keys: {
    /** A regular expression for the part of the URL to replace. */ from: { kind: "text", cel: true },
    /** The replacement. */ to: { kind: "text", required: true, cel: true },
  } },

  /** Requires a webhook with a valid signature. */
  "verify-webhook": { phases: REQUEST, misnamed: ["webhook-validation", "webhook-verification", "verify-webhooks"], keys: {
    /** The platform that sends the webhooks: `github`. */ provider: { kind: "text", required: true, misnamed: ["platform"] },
    /** The secret that the platform signs with; for `sns` the topic's owner. */ secret: { kind: "text", required: true, cel: true },
    /** With `false`, webhooks that fail the check continue. */ enforce: { kind: "boolean", default: true },
  } },
} as const satisfies Readonly<Record<string, ActionInfo>>;
