// The objects of both providers, in the JSON file THINGS, and the log of their calls beside it.
const fs = require("node:fs");

const file = () => process.env.THINGS;
const load = () => (fs.existsSync(file()) ? JSON.parse(fs.readFileSync(file(), "utf8")) : {});

/** Changes the objects. The processes of several providers share the file, so each waits for the others. */
function change(edit) {
  lock();
  const objects = load();
  const result = edit(objects);
  // In one step, because another process may be reading the file.
  fs.writeFileSync(`${file()}.${process.pid}`, JSON.stringify(objects));
  fs.renameSync(`${file()}.${process.pid}`, file());
  fs.rmSync(`${file()}.lock`, { recursive: true, force: true });
  return result;
}

function lock() {
  // After two seconds, its owner must have been killed.
  for (let tries = 0; tries < 400; tries++) {
    try {
      return fs.mkdirSync(`${file()}.lock`);
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

const log = (...words) => fs.appendFileSync(`${file()}.log`, `${words.join(" ")}\n`);

module.exports = { file, load, change, log };
