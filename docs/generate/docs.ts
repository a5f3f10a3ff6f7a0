import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { commandLine } from "../../sdk/commands/main";

/* What the generated files are made of: the comments in the source, written parts, and what commands print. */

/** The folder of the package. */
export const root = process.cwd();

/** The hand-written part of an item of the package schema, with its examples. */
export const schemaPage = (item: string): string =>
  readFileSync(join(root, "docs", "generate", "schema", `${item}.md`), "utf8").trim();

/** The standard output of a command of the package. */
export async function outputOf(args: string[]): Promise<string> {
  let output = "";
  const stdout = { write: (text: string) => (output += text) };
  await commandLine(args, { stdout, stderr: process.stderr });
  return output.trim();
}

/** Comments by the path of what they describe: `Endpoint`, `Endpoint/id`, `actions/deny/keys/status_code`. */
type Comments = ReadonlyMap<string, string>;

/** The comments on a file's declarations and on their properties, at any depth. */
export function commentsIn(file: string): Comments {
  const comments = new Map<string, string>();
  const visit = (node: ts.Node, path: string) => {
    const inner = isNamed(node) ? `${path === "" ? "" : `${path}/`}${nameOf(node)}` : path;
    const comment = isNamed(node) ? commentOn(node) : "";
    // An interface without a comment adds types to the class of the same name.
    if (comment !== "") comments.set(inner, comment);
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(sourceOf(file), "");
  return comments;
}

/** A declared property of an interface or a class. */
interface Member {
  name: string;
  /** The type's text in the source. */
  type: string;
  optional: boolean;
  text: string;
}

/** Reads the public properties of an interface or a class, each with its comment. */
export function membersOf(file: string, name: string): Member[] {
  const members = sourceOf(file)
    .statements.filter((one) => ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one))
    .filter((one) => one.name?.text === name)
    .flatMap((one): (ts.TypeElement | ts.ClassElement)[] => [...one.members])
    .filter((one) => ts.isPropertySignature(one) || ts.isPropertyDeclaration(one))
    .filter(({ modifiers }) => !modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword));
  if (members.length === 0) throw new Error(`${file} declares no ${name}`);
  return members.map((member) => ({
    name: nameOf(member),
    type: member.type?.getText() ?? "",
    optional: member.questionToken !== undefined,
    text: commentOn(member),
  }));
}

/** The calls of an interface's methods, each with its comment: `deny(config?, options?)`. */
export const methodsOf = (file: string, name: string): [call: string, text: string][] =>
  sourceOf(file)
    .statements.filter(ts.isInterfaceDeclaration)
    .filter((one) => one.name.text === name)
    .flatMap(({ members }) => members.filter(ts.isMethodSignature))
    .map((method) => {
      const given = method.parameters.map((one) => one.name.getText() + (one.questionToken ? "?" : ""));
      return [`${nameOf(method)}(${given.join(", ")})`, commentOn(method)];
    });

type Named = ts.Node & { name: ts.PropertyName | ts.BindingName };

const isNamed = (node: ts.Node): node is Named =>
  (ts.isPropertyAssignment(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isClassDeclaration(node)) &&
  node.name !== undefined;

const nameOf = ({ name }: Pick<Named, "name">) => (ts.isStringLiteral(name) ? name.text : name.getText());

const sourceOf = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);

/** The comment as one line of text for each paragraph. */
function commentOn(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comment?.comment) ?? "";
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => (paragraph.includes("```") ? paragraph : paragraph.replace(/\s*\n\s*/g, " ")))
    .join("\n\n")
    .trim();
}
