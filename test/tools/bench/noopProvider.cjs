const TIME = "2026-01-01T00:00:00Z";
const BASE = "http://127.0.0.1:12345";

/** An id with the length of the service's ids. */
const idFor = (prefix, text) => `${prefix}_${text.replace(/\W/g, "").padEnd(27, "0").slice(-27)}`;

/** Fictional values in the service's form, so that the state is as large as ours. */
function outputsFor({ __provider: _, ...inputs }) {
  const { host } = new URL(inputs.url);
  const domain = idFor("rd", host);
  return {
    ...inputs,
    createdAt: TIME,
    updatedAt: TIME,
    publicUrl: inputs.url,
    proto: "https",
    hostport: `${host}:443`,
    type: "cloud",
    domain: { id: domain, uri: `${BASE}/reserved_domains/${domain}` },
    bindings: ["public"],
    poolingEnabled: false,
    uri: `${BASE}/endpoints/${idFor("ep", host)}`,
    __setByProgram: ["trafficPolicy"],
    __accountFingerprint: "0".repeat(16),
    __entryId: "0".repeat(16),
    __version: "0.1.0",
  };
}

module.exports = {
  diff: async (_id, olds, news) => ({ changes: olds.description !== news.description }),
  create: async (inputs) => ({ id: idFor("ep", inputs.url), outs: outputsFor(inputs) }),
  read: async (id, outs) => ({ id, ...(outs && { props: outs }) }),
  update: async (_id, _olds, news) => ({ outs: outputsFor(news) }),
  delete: async () => {},
};
