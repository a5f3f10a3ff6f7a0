// Asks a service what its documentation leaves open, and prints the answers for a report: four GET requests.
//   ENDPOINTS_API_KEY=… npm run probe [-- https://api.ngrok.com]
// With two hosts that are reserved and free, it also makes one endpoint, changes it, moves it to the other host, and deletes it:
//   ENDPOINTS_API_KEY=… npm run probe -- --write https://a.example.com --host b.example.com
// Standard output contains no key, address, id or value of an endpoint, so it can be published.
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs } from "node:util";

const PUBLIC = "https://api.ngrok.com";
const { positionals, values } = parseArgs({
  ...{ allowPositionals: true, options: { write: { type: "string" }, host: { type: "string" } } },
});
const [base = process.env.ENDPOINTS_BASE_URL ?? PUBLIC] = positionals;
const key = process.env.ENDPOINTS_API_KEY;
const isPublic = URL.canParse(base) && new URL(base).host === new URL(PUBLIC).host;
const versionHeader =
  process.env.ENDPOINTS_VERSION_HEADER ?? (isPublic ? "Ngrok-Version" : "Service-Version");

/** The fields of the contract, with the types of endpoints whose replies must have them. */
const FIELDS = {
  ...{ id: "all", type: "all", url: "cloud", public_url: "all", proto: "all", hostport: "all", uri: "cloud" },
  ...{ bindings: "all", created_at: "all", updated_at: "all" },
  ...Object.fromEntries(
    "region scheme host port metadata description domain tcp_addr tunnel edge upstream_url upstream_proto upstream_protocol principal principal_id traffic_policy tunnel_session name pooling_enabled"
      .split(" ")
      .map((name) => [name, ""]),
  ),
};

/** A reply that a filter, a gateway or another service may have written: nothing of it is printed but what these forms allow. */
const safeName = (name) => (/^[a-z][a-z0-9_]{0,39}$/.test(name) ? name : "a name in another form");
const safeCode = (code) => (/^ERR_[A-Z]{1,20}_\d{1,6}$/.test(code) ? code : "a code in another form");
const list = (names) => (names.length > 0 ? [...new Set(names)].sort().join(", ") : "none");
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const get = (path) => send("GET", path);

async function send(method, path, body) {
  const began = Date.now();
  const headers = { authorization: `Bearer ${key}`, [versionHeader]: "2" };
  const response = await fetch(base.replace(/\/+$/, "") + path, {
    ...(body && { body: JSON.stringify(body) }),
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...{ method, redirect: "manual", signal: AbortSignal.timeout(10_000) },
  });
  const text = await response.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    // A page, or nothing.
  }
  const date = Date.parse(response.headers.get("date") ?? "");
  return { status: response.status, text, json, date, began, milliseconds: Date.now() - began };
}

const answer = ({ status, json, milliseconds }) =>
  `status ${status} in ${milliseconds} ms${json === undefined ? ", no JSON" : ""}`;

const rows = [];
const row = (subject, text) => rows.push([subject, text]);

async function probe() {
  const first = await get("/endpoints");
  const items =
    isObject(first.json) && Array.isArray(first.json.endpoints) ? first.json.endpoints : undefined;
  row("list", answer(first));
  clock(first);
  if (!items) return row("", "it has no list of endpoints, so nothing more was asked");
  const endpoints = items.filter(isObject);
  const types = endpoints.map(({ type }) => known(type));
  row("", `${items.length} items: ${list(types.map((type) => `${count(types, type)} ${type}`))}`);
  if (items.length > endpoints.length) row("", `${items.length - endpoints.length} items are no objects`);
  row("next page", nextPage(first.json));
  const names = endpoints.flatMap((item) => Object.keys(item));
  row("unknown fields", list(names.filter((name) => !(name in FIELDS)).map(safeName)));
  row("missing fields", list(endpoints.flatMap(missing)));

  const filtered = await get(`/endpoints?filter=${encodeURIComponent('obj.type == "cloud"')}`);
  row("filter", `${answer(filtered)}; ${filterWorks(filtered, endpoints)}`);

  const sample = endpoints.find(({ type, id }) => type === "cloud" && typeof id === "string");
  if (sample) {
    const single = await get(`/endpoints/${encodeURIComponent(sample.id)}`);
    row("a cloud endpoint by id", answer(single));
    if (isObject(single.json)) compare(sample, single.json);
  } else row("a cloud endpoint by id", "not asked: the first page has none");

  const absent = await get("/endpoints/ep_000000000000000000000000000");
  row("an unknown id", answer(absent));
  const { error_code: code, details } = isObject(absent.json) ? absent.json : {};
  row("", typeof code === "string" ? safeCode(code) : "no error code");
  row("", isObject(details) && details.operation_id ? "with an operation id" : "no operation id");
}

function clock({ date, began, milliseconds }) {
  if (Number.isNaN(date)) return row("Date", "replies have none, or in another form");
  // The header has whole seconds.
  const ahead = Math.round((date + 500 - began - milliseconds / 2) / 1000);
  const clocks =
    ahead === 0 ? "that of this machine" : `${Math.abs(ahead)} s ${ahead < 0 ? "behind" : "ahead of"} it`;
  row("Date", `replies have one; the service's clock is ${clocks}`);
}

const count = (all, one) => all.filter((each) => each === one).length;

function nextPage({ next_page_uri: next }) {
  if (next === null || next === undefined) return `none (${next})`;
  if (typeof next !== "string") return "no text";
  if (!URL.canParse(next, base)) return "no URL";
  const isSame = new URL(next, base).origin === new URL(base).origin;
  return `${URL.canParse(next) ? "a whole URL" : "a path"} on ${isSame ? "the same" : "another"} host`;
}

const missing = (item) =>
  Object.entries(FIELDS).flatMap(([name, types]) =>
    !(name in item) && (types === "all" || types === item.type) ? [`${name} (${known(item.type)})`] : [],
  );
const known = (type) => (["cloud", "ephemeral", "edge"].includes(type) ? type : "of another type");

function filterWorks({ status, json }, unfiltered) {
  if (status >= 400)
    return `refused${typeof json?.error_code === "string" ? ` with ${safeCode(json.error_code)}` : ""}`;
  if (!Array.isArray(json?.endpoints)) return "it has no list of endpoints";
  if (json.endpoints.some((item) => item?.type !== "cloud")) return "ignored: the list has other types";
  const ids = new Set(json.endpoints.map((item) => item?.id));
  const lost = unfiltered.filter(({ type, id }) => type === "cloud" && !ids.has(id)).length;
  if (lost > 0) return `incomplete: ${lost} cloud endpoints of the first page are missing`;
  return unfiltered.every(({ type }) => type === "cloud")
    ? "no other types on the first page, so this proves nothing"
    : "works";
}

/** What a list item lacks or shows otherwise than the reply to a read by id. */
function compare(item, single) {
  const names = (of, isMeant) => list(Object.keys(of).filter(isMeant).map(safeName));
  const differs = (name) => name in single && JSON.stringify(single[name]) !== JSON.stringify(item[name]);
  row(
    "the list lacks",
    names(single, (name) => !(name in item)),
  );
  row("the list differs in", names(item, differs));
  row(
    "only the list has",
    names(item, (name) => !(name in single)),
  );
}

const policy = (body) => ({
  on_http_request: [{ actions: [{ type: "custom-response", config: { status_code: 200, body } }] }],
});

/** What a create sends, as data. */
const MADE = {
  ...{ type: "cloud", description: "made by npm run probe", metadata: { made_by: "probe" } },
  traffic_policy: policy("hello"),
};
const onWire = (fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isObject(value) ? JSON.stringify(value) : value]),
  );

/** Whether a reply shows a value as this package compares it: documents as data, and no text like an empty one. */
function shows(shown, wanted) {
  if (!isObject(wanted)) return isDeepStrictEqual(shown ?? "", wanted ?? "");
  try {
    return isDeepStrictEqual(JSON.parse(shown), wanted);
  } catch {
    return false;
  }
}

const sameUrl = (one, other) => URL.canParse(one) && new URL(one).href === new URL(other).href;

/** Sends a request, and compares its reply with what this package assumes: the status, and the values of fields. */
async function step(subject, assumed, [method, path, body], [status, fields = {}], more = () => []) {
  const reply = await send(method, path, body && onWire(body)).catch((error) => ({ error }));
  const { json, error } = reply;
  const code = typeof json?.error_code === "string" ? `, ${safeCode(json.error_code)}` : "";
  const what = error ? `no answer, ${error.cause?.code ?? error.name}` : answer(reply) + code;
  const wrong = Object.keys(fields).filter((name) => !shows(json?.[name], fields[name]));
  const differences = reply.status === status ? [...wrong, ...more(reply)] : [];
  const isSame = reply.status === status && differences.length === 0;
  row(subject, [`${isSame ? "same" : "different"}: ${what}`, ...differences].join("; "));
  row("", `assumed: ${status}, ${assumed}`);
  return reply;
}

/** The id of the endpoint that this process has made, until the service shows that it is gone. */
let made;
let isStopping = false;

/** Makes one endpoint at `url`, and moves it to `other`. After Ctrl-C, no step begins. */
async function write(url, other) {
  const on = (one) => `/endpoints?filter=${encodeURIComponent(`obj.url == ${JSON.stringify(one)}`)}`;
  for (const one of [url, other]) {
    const { json } = await get(on(one));
    if (json?.endpoints?.some?.((item) => sameUrl(item?.url ?? item?.public_url, one)))
      return row("create", "not asked: one of the hosts has an endpoint");
  }
  const { status, json } = await step(
    "create",
    "what was sent, an id ep_…, the contract's fields, and the time of the reply's Date",
    ["POST", "/endpoints", { url, ...MADE }],
    [201, { url, ...MADE }],
    ({ json, date }) => [
      ...missing(json ?? {}).map((name) => `without ${name}`),
      ...(Math.abs(Date.parse(json?.created_at) - date) <= 3000 ? [] : ["another time"]),
    ],
  );
  const { id, url: at, bindings } = isObject(json) ? json : {};
  if (!/^ep_\w+$/.test(id) || !sameUrl(at, url)) {
    if (status >= 400 && status < 500) return undefined;
    process.exitCode = 1;
    return console.error(`The create may have had an effect: look for an endpoint on ${url}, and delete it.`);
  }
  made = id;

  const path = `/endpoints/${id}`;
  let fields = { id, url, ...MADE };
  const ask = async (...args) => isStopping || step(...args);
  /** An update, after which all other fields must be as the last reply showed them. */
  const update = async (subject, assumed, change, shown = change) => {
    const wanted = { ...fields, ...shown };
    const reply = await ask(subject, `${assumed}; the rest stays`, ["PATCH", path, change], [200, wanted]);
    if (reply.status !== 200) return;
    fields = Object.fromEntries(Object.keys(fields).map((name) => [name, reply.json?.[name]]));
  };
  await ask("read", "the values of the create", ["GET", path], [200, fields]);
  await ask("filter by URL", "only this endpoint", ["GET", on(url)], [200], ({ json }) =>
    isDeepStrictEqual(
      json?.endpoints?.map?.((item) => item?.id),
      [id],
    )
      ? []
      : ["another list"],
  );
  await update("clear the description", "an empty description, or none", { description: "" });
  await update("change the policy", "the new policy", { traffic_policy: policy("changed") });
  await update("move to the other host", "the other URL, and the same id", { url: other });
  await update("set bindings", "these bindings", { bindings: ["public"] });
  await update("clear the metadata", "empty metadata, or none", { metadata: "" });
  await update("unset bindings", "the bindings of the create", { bindings: [] }, { bindings });
}

/** Deletes the endpoint that this process has made, and no other. Names it unless the service shows that it is gone. */
async function remove() {
  if (made === undefined) return;
  const path = `/endpoints/${made}`;
  let status;
  for (let attempt = 0; attempt < 3 && !(status < 429); attempt++) {
    if (attempt > 0) await wait(2000);
    const isEmpty = ({ text }) => (text === "" ? [] : ["a body"]);
    ({ status } = await step("delete", "no body", ["DELETE", path], [204], isEmpty));
  }
  const isCoded = ({ json }) => (typeof json?.error_code === "string" ? [] : ["no code"]);
  const gone = await step("read what is gone", "a code", ["GET", path], [404], isCoded);
  if (gone.status === 404) made = undefined;
  else nameMade();
}

function nameMade() {
  process.exitCode = 1;
  console.error(`The endpoint ${made} may exist, at ${values.write} or https://${values.host}: delete it.`);
}

/** A second signal ends the process. */
function onSignal() {
  if (isStopping) {
    if (made !== undefined) nameMade();
    process.exit(1);
  }
  isStopping = true;
  process.exitCode = 1;
  console.error("Stopping, after the deletion of what was made.");
}

function problemOfArguments() {
  const { write: url, host = "" } = values;
  if (!key) return "Set ENDPOINTS_API_KEY, of a user who may only read if there is one.";
  if (!URL.canParse(base)) return "The base URL is no URL.";
  if (url === undefined && host === "") return undefined;
  const isHost = (text) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(text);
  const [, own] = /^https:\/\/(.*)$/.exec(url) ?? [];
  if (isHost(own) && isHost(host) && own !== host) return undefined;
  return "--write takes https:// and a host in lower case, and --host another host.";
}

const problem = problemOfArguments();
if (problem !== undefined) {
  console.error(problem);
  process.exitCode = 2;
} else {
  // The message of a failed connection may name the address.
  const failed = (error) => {
    row("failed", `${error.cause?.code ?? error.name}`);
    process.exitCode = 1;
  };
  const { write: url, host } = values;
  await probe().catch(failed);
  if (url !== undefined && process.exitCode === undefined) {
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, onSignal);
    await write(url, `https://${host}`).catch(failed);
    await remove();
  }
  const written =
    url === undefined ? "nothing was written" : "at most one endpoint was made, and deleted again";
  console.log(`Read from ${isPublic ? "the public service" : "another service"}; ${written}.`);
  for (const [subject, text] of rows) console.log(`${subject.padEnd(24)}${text}`);
}
