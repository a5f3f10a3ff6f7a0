// A step of the build: each name of the compiled index loads its module when it is first read, so that a program loads only what
// it uses. The compiler's own index loads all modules at once.
import { readFileSync, writeFileSync } from "node:fs";

const [file] = process.argv.slice(2);
const modules = new Map();
const own = `function own(name, value) {
    Object.defineProperty(exports, name, { enumerable: true, value });
    return value;
}
`;
const lazy = readFileSync(file, "utf8")
  .replace(/^var (\w+) = (require\("[^"]+"\));\n/gm, (_, name, load) => {
    modules.set(name, load);
    return "";
  })
  .replace(
    /return (\w+)\.(\w+);/g,
    (_, module, name) => `return own("${name}", ${modules.get(module)}.${name});`,
  );
if (modules.size === 0 || /undefined|__exportStar/.test(lazy)) throw new Error(`${file} has another form`);
writeFileSync(file, lazy + own);
