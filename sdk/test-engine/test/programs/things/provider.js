// A dynamic provider that logs every call.
const { change, load, log } = require("../objects.js");

const quiet = (message) => Object.assign(new Error(message), { stack: "" });
const given = ({ computed, __provider, ...rest }) => rest;

/** While the object `partial` exists, creates and updates succeed only in part. */
function whole(id, outs) {
  if (!load().partial) return { id, outs };
  throw Object.assign(quiet("made in part"), {
    id,
    properties: outs,
    reasons: ["first reason", "second reason"],
  });
}

exports.handler = () => ({
  async check(_olds, news) {
    const failures =
      news.bad === undefined
        ? []
        : [
            { property: "bad", reason: "no good" },
            { property: "a.b", reason: "deep" },
          ];
    return { inputs: news, failures };
  },
  async diff(id, olds, news) {
    log("diff", id);
    if (news.vague) return {};
    const keys = [...new Set([...Object.keys(given(olds)), ...Object.keys(given(news))])];
    const changed = keys.filter((key) => JSON.stringify(olds[key]) !== JSON.stringify(news[key]));
    const replaces = changed.filter((key) => key.startsWith("kind"));
    return { changes: changed.length > 0, replaces, deleteBeforeReplace: news.dbr === true };
  },
  async create(inputs) {
    const objects = load();
    let n = 1;
    while (objects[`${inputs.name}-${n}`]) n++;
    const id = `${inputs.name}-${n}`;
    log("create", id);
    if (inputs.fails) throw quiet("no room");
    change((objects) => Object.assign(objects, { [id]: given(inputs) }));
    return whole(id, { ...inputs, computed: `of ${id}` });
  },
  async update(id, olds, news) {
    log("update", id);
    if (news.fails) throw quiet("no change");
    const outs = { ...news, ...(load().partial && { n: olds.n }), computed: `of ${id}, again` };
    change((objects) => Object.assign(objects, { [id]: given(outs) }));
    return whole(id, outs);
  },
  async delete(id, props) {
    log("delete", id);
    if (props.stays) throw quiet("it stays");
    change((objects) => delete objects[id]);
  },
  async read(id, props) {
    log("read", id);
    const found = load()[id];
    if (found === undefined) return { id: "" };
    if (found.unreadable) throw quiet("cannot read");
    const inputs = Object.fromEntries(
      Object.keys({ ...given(props), ...found })
        .filter((key) => key in found)
        .map((key) => [key, found[key]]),
    );
    return {
      id,
      props: { ...found, computed: props.computed ?? `of ${id}` },
      inputs,
    };
  },
});
