// The objects of both providers, in the JSON file that the variable THINGS names, and the log of their calls beside it.
const fs = require("node:fs");

const file = () => process.env.THINGS;
const load = () => (fs.existsSync(file()) ? JSON.parse(fs.readFileSync(file(), "utf8")) : {});

/** Changes the objects. Several provider processes share the file, so they lock it. */
function change(edit) {
  lock();
  const objects = load();
  const result = edit(objects);
  // Renamed into place, because another process may be reading the file.
  fs.writeFileSync(`${file()}.${process.pid}`, JSON.stringify(objects));
  fs.renameSync(`${file()}.${process.pid}`, file());
  fs.rmSync(`${file()}.lock`, { recursive: true, force: true });
  return result;
}

function lock() {
  // Goes on after two seconds, because the owner of the lock must have been killed.
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
