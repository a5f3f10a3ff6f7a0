import { join } from "node:path";
import type * as typescript from "typescript";

type TypeScript = typeof typescript;

/** A program in this folder resolves the package as a user's program does. */
const FILE = join(import.meta.dirname, "../../examples/quickstart/shown.ts");

/**
 * What an editor shows to the author of a program: TypeScript's language service with the published types of the package.
 * Needs `npm run build`.
 */
export class Editor {
  private text = "";
  private version = 0;
  private readonly service: typescript.LanguageService;

  constructor(private readonly ts: TypeScript) {
    const options: typescript.CompilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.Node16,
      moduleResolution: ts.ModuleResolutionKind.Node16,
      types: [],
    };
    const isShown = (file: string) => file === FILE;
    const read = (file: string) => (isShown(file) ? this.text : ts.sys.readFile(file));
    this.service = ts.createLanguageService({
      ...ts.sys,
      useCaseSensitiveFileNames: () => true,
      getCompilationSettings: () => options,
      getScriptFileNames: () => [FILE],
      getScriptVersion: (file) => (isShown(file) ? String(this.version) : "1"),
      getScriptSnapshot: (file) => {
        const text = read(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => process.cwd(),
      getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
      fileExists: (file) => isShown(file) || ts.sys.fileExists(file),
      readFile: read,
    });
  }

  /** The completions at the `|` in a program. */
  completions(program: string): string[] {
    const at = this.show(program);
    const { entries = [] } = this.service.getCompletionsAtPosition(FILE, at, {}) ?? {};
    return entries.filter(({ kind }) => kind !== "keyword").map(({ name }) => name.replace(/^"|"$/g, ""));
  }

  /** The documentation that hovering over the `|` in a program shows. */
  hover(program: string): string {
    const at = this.show(program);
    const { documentation } = this.service.getQuickInfoAtPosition(FILE, at) ?? {};
    return this.ts.displayPartsToString(documentation);
  }

  /** The compiler's messages about a program. */
  errors(program: string): string[] {
    this.show(program);
    const all = [...this.service.getSyntacticDiagnostics(FILE), ...this.service.getSemanticDiagnostics(FILE)];
    return all.map(({ messageText }) => this.ts.flattenDiagnosticMessageText(messageText, "\n"));
  }

  private show(program: string): number {
    const at = program.indexOf("|");
    this.text = at < 0 ? program : program.slice(0, at) + program.slice(at + 1);
    this.version++;
    return at;
  }
}
