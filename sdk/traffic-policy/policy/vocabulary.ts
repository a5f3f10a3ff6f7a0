/*
 * The variables and functions of expressions, as the public service's documentation of August 2026 lists them (the pages
 * Variables, Macros, and those of the actions): data only. `{a|b}` stands for each of its alternatives.
 */

const LOCATION = "{location|registered_location}";
const TLS = "{conn.tls|actions.ngrok.terminate_tls}";
const CERTIFICATE = `${TLS}.{client|server}`;
const NAMES = `${CERTIFICATE}.{issuer|subject}`;
const ACTION = "actions.ngrok";
const IDENTITY = "{oauth|oidc}";

/**
 * The names by their types. Some values are text and have fields too, such as `req.url` and `req.url.path`. `dyn` stands for a
 * value whose type or fields are not documented.
 */
export const variables: Readonly<Record<string, readonly string[]>> = {
  string: [
    "conn.{client_ip|server_ip|server_region}",
    "conn.{client_ip|server_ip}.as.organization",
    `conn.{client_ip|server_ip}.geo.${LOCATION}.{city|continent|country|country_code|metro_code|subdivision|timezone}`,
    "conn.{client_ip|server_ip}.geo.location.{latitude|longitude|postal_code|radius}",
    "conn.geo.{city|country|country_code|latitude|longitude|radius|subdivision}",
    "conn.k8s.pod.{id|metadata.{name|namespace|error_code|error_message}}",
    "conn.tls.{ja4_fingerprint|negotiated_alpn}",
    `${TLS}.{cipher_suite|sni|version}`,
    "conn.tls.client.pem",
    `${CERTIFICATE}.{san|serial_number|signature_algorithm}`,
    `${NAMES}{|.common_name}`,
    "endpoint.{addr|host|id|protocol|url}",
    "{req|res}.{content_type{|.raw}|location}",
    "req.{host|method|version}",
    "req.url{|.{authority|host|path|query|raw|raw_path|scheme|uri|user_password}}",
    "req.user_agent{|.{name|version|os|os_version|device|url}}",
    "time.now",
    `${ACTION}.{forward_internal|http_request|jwt_validation|oauth|oidc|owasp_crs_request|owasp_crs_response|rate_limit|redirect|restrict_ips|terminate_tls|url_rewrite|verify_webhook}.error.{code|message}`,
    `${ACTION}.terminate_tls.{error_code|error_message}`,
    `${ACTION}.basic_auth.credentials.username`,
    `${ACTION}.compress.negotiated_algorithm`,
    `${ACTION}.{forward_internal|redirect|url_rewrite}.url`,
    `${ACTION}.${IDENTITY}.{access_token|refresh_token|identity.{id|email|name|provider_user_id}}`,
    `${ACTION}.{oauth.identity.current_provider_session_id|oidc.{identity_token|identity.current_session_id}}`,
    `${ACTION}.{owasp_crs_request|owasp_crs_response}.decision`,
    `${ACTION}.rate_limit.bucket_key`,
    `${ACTION}.restrict_ips.{action|matched_cidr}`,
  ],
  int: [
    "conn.{bytes_in|bytes_out|client_port|server_port}",
    "conn.{client_ip|server_ip}.as.number",
    "endpoint.port",
    "{req|res}.content_length",
    "req.url.port",
    "res.status_code",
    `${ACTION}.{owasp_crs_request|owasp_crs_response}.{anomaly_score|anomaly_score_threshold}`,
  ],
  bool: [
    "conn.{client_ip|server_ip}.{is_on_blocklist|is_tor_node}",
    `conn.{client_ip|server_ip}.geo.${LOCATION}.is_eu`,
    "conn.tls.session_resumed",
    "req.user_agent.{is_mobile|is_tablet|is_desktop|is_bot}",
    `${ACTION}.basic_auth.credentials.{presented|authorized}`,
    `${ACTION}.compress.already_compressed`,
    `${ACTION}.${IDENTITY}.{session_timed_out|session_max_duration_reached|userinfo_refreshed}`,
    `${ACTION}.oidc.user_info_refreshed`,
    `${ACTION}.rate_limit.limited`,
    `${ACTION}.verify_webhook.verified`,
  ],
  timestamp: [
    "conn.ts.start",
    "req.ts.{body_received|header_received}",
    `${CERTIFICATE}.validity.{not_after|not_before}`,
  ],
  "list<string>": [
    "conn.{client_ip|server_ip}.categories",
    "{req|res}.content_encoding",
    `${NAMES}.{country|locality|organization|organizational_unit|postal_code|province|street_address}`,
    `${CERTIFICATE}.san.{dns_names|email_addresses|ip_addresses|uris}`,
    `${ACTION}.{redirect|url_rewrite}.matches`,
    `${ACTION}.remove_headers.headers_removed`,
    `${ACTION}.terminate_tls.warnings`,
  ],
  "map<string, string>": ["conn.k8s.pod.metadata.annotations", "{req|res}.content_type.parameters"],
  "map<string, list<string>>": ["{req|res}.{headers|trailers}", "req.url.query_params"],
  "map<string, list<dyn>>": ["{req|res}.cookies"],
  "list<dyn>": [
    `${CERTIFICATE}.extensions`,
    `${ACTION}.http_request.attempts`,
    `${ACTION}.jwt_validation.tokens`,
    `${ACTION}.{owasp_crs_request|owasp_crs_response}.matched_rules`,
    `${ACTION}.{request_body|response_body|sse}_find_replace.replacements`,
  ],
  dyn: [
    `${ACTION}.add_headers.headers_added`,
    `${ACTION}.http_request.{req|res}`,
    `${ACTION}.log.metadata`,
    `${ACTION}.${IDENTITY}.expires_at`,
  ],
};

/** Variables that the documentation's lists lack: from its text, its examples, and the results of unreleased actions. */
export const moreVariables: typeof variables = {
  string: [
    `${ACTION}.{add_headers|basic_auth|compress|log|remove_headers}.error.{code|message}`,
    `${ACTION}.http_request.{req.{method|url|body}|res.{resolved_ip|body}}`,
    `${ACTION}.terminate_tls.client.pem`,
  ],
  int: ["attempts", `${ACTION}.http_request.res.status_code`],
  bool: [`${ACTION}.oauth.user_info_refreshed`],
  timestamp: ["conn.ts.end"],
  dyn: ["vars", "last_attempt", `${ACTION}.{ai_gateway|saml}`],
};

/** The phases that have the variables below a name. All phases have the variables whose first name is missing here. */
export const phasesOfVariables: Readonly<Record<string, readonly string[]>> = {
  req: ["on_http_request", "on_http_response"],
  res: ["on_http_response"],
};

const HASHES = "{crc32|crc64|md5|sha1|sha256|sha512|xxhash64}";
const FIELDS =
  "{getDate|getDayOfMonth|getDayOfWeek|getDayOfYear|getFullYear|getHours|getMilliseconds|getMinutes|getMonth|getSeconds}";

/** The signatures of functions, by the phases that have them. A type before a name is the type on which a method is called. */
export const functionSignatures: readonly { phases?: readonly string[]; signatures: readonly string[] }[] = [
  {
    phases: ["on_http_request", "on_http_response"],
    signatures: [
      "{getReqHeader|getQueryParam}(string): list<string>",
      "{hasReqHeader|hasReqCookie|hasQueryParam}(string): bool",
      "getReqCookie(string): dyn",
    ],
  },
  {
    phases: ["on_http_response"],
    signatures: [
      "getResHeader(string): list<string>",
      "{hasResHeader|hasResCookie}(string): bool",
      "getResCookie(string): dyn",
    ],
  },
  {
    signatures: [
      "base64.decode(string): bytes",
      "base64.encode(bytes): string",
      "basic_auth.encode(string, string): string",
      `hash.${HASHES}(string{|, string}): string`,
      "json.decode(string): dyn",
      "json.encode(dyn): string",
      "queryString.decode(string): map",
      "queryString.encode(map): string",
      "rand.double(): double",
      "rand.int({|int, int}): int",
      "secrets.get(string, string): string",
      "strings.quote(string): string",
      "lists.range(int): list<int>",
      "url.{escape|unescape}(string): string",
      "url.parse(string): dyn",
      "inCidrRange(string, string): bool",
      "inCidrRanges(string, list<string>): bool",
      "matches(string, string): bool",
      "has(ast): bool",
      "size({string|bytes|list|map}): int",
      "{string|bytes|list|map}.size(): int",

      "string.{matches|startsWith|endsWith|contains}(string): bool",
      "string.charAt(int): string",
      "string.{indexOf|lastIndexOf}(string{|, int}): int",
      "string.format(list): string",
      "string.split({|string|string, int}): list<string>",
      "string.replace(string, string{|, int}): string",
      "string.substring(int{|, int}): string",
      "string.{lower|upper|lowerAscii|upperAscii|trim|reverse|decodeBase64|encodeBase64|escapeUrl|unescapeUrl}(): string",
      "string.{isJson|isPrivateIp|isQueryString|isURL}(): bool",
      "string.{decodeJson|parseUrl}(): dyn",
      "string.decodeQueryString(): map",
      `string.${HASHES}({|string}): string`,

      "{list|map}.encodeJson(): string",
      "map.encodeQueryString(): string",
      "list.join({|string}): string",
      "list<V>.slice(int, int): list<V>",
      "list.flatten({|int}): list",
      // The reference has reverse for texts only, CEL's extension for both.
      "list<V>.{sort|distinct|reverse}(): list<V>",
      "list.sortBy(ast, ast): list",

      `timestamp.${FIELDS}({|string}): int`,
      "duration.{getHours|getMilliseconds|getMinutes|getSeconds}(): int",

      // Conversions of CEL. The library lacks some, and reads more texts than CEL in others.
      "string({string|bool|int|uint|double|bytes|timestamp|duration}): string",
      "int({string|int|uint|double|timestamp}): int",
      "uint({string|int|uint|double}): uint",
      "double({string|int|uint|double}): double",
      "timestamp({string|int|timestamp}): timestamp",
      "duration({string|duration}): duration",
    ],
  },
];

/** Macros of CEL that the library has. */
export const macros = "all exists exists_one filter map".split(" ");

/** Functions and macros of CEL that the library has. */
export const standardFunctions = [
  ..."bool bytes double duration dyn int string timestamp type uint".split(" "),
  ...macros,
];

/** First names of functions from CEL's extensions, or mentioned without a reference. Expressions with them are not checked. */
export const undocumentedNames = /^(?:b64|cel|http|math|object|optional|security|sets|utility)\b/;

/** Calls of functions from CEL's extensions for lists, and of macros with two variables. Expressions with them are not checked. */
export const undocumentedCalls =
  /\b(?:(?:first|last|existsOne|transform(?:List|Map|MapEntry))\(|(?:all|exists|exists_one)\(.+,.+,)/s;

/** Names that functions have in other languages, by the function that is probably meant. */
export const foreignFunctionNames: Readonly<Record<string, readonly string[]>> = {
  contains: ["includes"],
  size: ["length", "len", "count"],
  substring: ["substr"],
  matches: ["match", "test"],
  lower: ["toLowerCase"],
  upper: ["toUpperCase"],
  exists: ["some", "any"],
  all: ["every"],
};
