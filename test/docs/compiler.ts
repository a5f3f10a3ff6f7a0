import { join } from "node:path";
import * as ts from "typescript";
import { root } from "../package/pack";

/** The modules of the package, as a program imports them. */
export const entries = {
  "pulumi-endpoints": "sdk/index.ts",
  "pulumi-endpoints/testing": "sdk/testing/index.ts",
};

/** The settings of a project that `new` makes. */
function settings(): ts.CompilerOptions {
  const file = join(root, "examples", "template", "tsconfig.json");
  const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
  if (error) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"));
  return ts.parseJsonConfigFileContent(config, ts.sys, join(root, "examples", "template")).options;
}

/**
 * The compiler's messages about each program, with the settings of a new project, and the package's source.
 *
 * @param others Files beside the programs, by name, which programs can import.
 */
export function errorsIn(programs: string[], others: Record<string, string> = {}): string[][] {
  const named = programs.map((text, index): [string, string] => [join(root, `program${index}.ts`), text]);
  const beside = Object.entries(others).map(([name, text]): [string, string] => [join(root, name), text]);
  const files = new Map([...named, ...beside]);
  const paths = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [join(root, file)]]));
  const options = { ...settings(), paths };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, version) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, version) : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return named.map(([file]) => {
    const source = program.getSourceFile(file);
    const all = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return all.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  });
}
