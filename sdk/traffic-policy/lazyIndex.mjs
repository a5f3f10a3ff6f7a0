// A step of the build: each name of the compiled index loads its module when it is first read, so that a program loads only what
// it uses. The compiler's own index loads all modules at once.
import { readFileSync, writeFileSync } from "node:fs";

const [file] = process.argv.slice(2);
// With a literal name, Node.js would not offer it to ES modules.
const lazy = `function lazy(name, load) {
    const get = () => {
        const value = load();
        Object.defineProperty(exports, name, { enumerable: true, value });
        return value;
    };
    Object.defineProperty(exports, name, { enumerable: true, configurable: true, get });
}
`;
const modules = new Map();
const text = readFileSync(file, "utf8")
  .replace(/^var (\w+) = (require\("[^"]+"\));\n/gm, (_, module, load) => {
    modules.set(module, load);
    return "";
  })
  .replace(
    /^Object\.defineProperty\(exports, ("\w+"), \{ enumerable: true, get: function \(\) \{ return (\w+)\.(\w+); \} \}\);$/gm,
    (_, name, module, value) => `lazy(${name}, () => ${modules.get(module)}.${value});`,
  );
if (modules.size === 0 || /undefined|__exportStar|get: function/.test(text))
  throw new Error(`${file} has another form`);
writeFileSync(file, text + lazy);
