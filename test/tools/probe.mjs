// Asks a service what its documentation leaves open, and prints the answers for a report. It reads only: four GET requests.
//   ENDPOINTS_API_KEY=… npm run probe [-- https://api.ngrok.com]
// Its output contains no key, address, id or value of an endpoint, so it can be published.
import process from "node:process";

const PUBLIC = "https://api.ngrok.com";
const [base = process.env.ENDPOINTS_BASE_URL ?? PUBLIC] = process.argv.slice(2);
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

async function get(path) {
  const began = Date.now();
  const headers = { authorization: `Bearer ${key}`, [versionHeader]: "2" };
  const response = await fetch(base.replace(/\/+$/, "") + path, {
    ...{ headers, redirect: "manual", signal: AbortSignal.timeout(10_000) },
  });
  const text = await response.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    // A page, or nothing.
  }
  const date = Date.parse(response.headers.get("date") ?? "");
  return { status: response.status, json, date, began, milliseconds: Date.now() - began };
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

if (!key) {
  console.error("Set ENDPOINTS_API_KEY, of a user who may only read if there is one.");
  process.exitCode = 2;
} else if (!URL.canParse(base)) {
  console.error("The base URL is no URL.");
  process.exitCode = 2;
} else {
  // The message of a failed connection may name the address.
  await probe().catch((error) => {
    row("failed", `${error.cause?.code ?? error.name}`);
    process.exitCode = 1;
  });
  console.log(`Read from ${isPublic ? "the public service" : "another service"}; nothing was written.`);
  for (const [subject, text] of rows) console.log(`${subject.padEnd(24)}${text}`);
}
