import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";

/** The folder of the package. */
export const root = process.cwd();

/** The hand-written part of an item of the package schema, with its examples. */
export const schemaPage = (item: string): string =>
  readFileSync(join(root, "docs", "generate", "schema", `${item}.md`), "utf8").trim();

/** The documentation of a declaration and of its parts: the comments in the source. */
interface Docs {
  text: string;
  parts: ReadonlyMap<string, string>;
}

/** Reads the comments on an exported constant, function, class or interface, and on its properties. */
export function docsOf(file: string, name: string): Docs {
  for (const statement of sourceOf(file).statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === name)
      return { text: commentOn(statement), parts: new Map() };
    if (declares(statement, name)) {
      const parts = membersOf(file, name).map((member) => [member.name, member.text] as const);
      return { text: commentOn(statement), parts: new Map(parts) };
    }
    if (!ts.isVariableStatement(statement)) continue;
    const declared = statement.declarationList.declarations.find((one) => one.name.getText() === name);
    if (declared) return { text: commentOn(statement), parts: partsOf(declared.initializer) };
  }
  throw new Error(`${file} declares no ${name}`);
}

/** A declared property of an interface or a class. */
export interface Member {
  name: string;
  /** The type's text in the source. */
  type: string;
  optional: boolean;
  text: string;
}

/** Reads the public properties of an interface or a class, each with its comment. */
export function membersOf(file: string, name: string): Member[] {
  for (const statement of sourceOf(file).statements) {
    if (!declares(statement, name)) continue;
    return [...statement.members].flatMap((member) => {
      if (!ts.isPropertySignature(member) && !ts.isPropertyDeclaration(member)) return [];
      if (member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)) return [];
      const optional = member.questionToken !== undefined;
      return [
        { name: nameOf(member), type: member.type?.getText() ?? "", optional, text: commentOn(member) },
      ];
    });
  }
  throw new Error(`${file} declares no ${name}`);
}

/** Whether it is the interface or the class. An empty interface only adds types to the class of the same name. */
const declares = (
  statement: ts.Statement,
  name: string,
): statement is ts.InterfaceDeclaration | ts.ClassDeclaration =>
  (ts.isClassDeclaration(statement) ||
    (ts.isInterfaceDeclaration(statement) && statement.members.length > 0)) &&
  statement.name?.text === name;

export function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
}

function partsOf(value: ts.Expression | undefined): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const visit = (node: ts.Node) => {
    if (ts.isPropertyAssignment(node) && commentOn(node) !== "") parts.set(nameOf(node), commentOn(node));
    // Only the object itself counts, not the functions and schemas in its properties.
    if (ts.isObjectLiteralExpression(node) || ts.isCallExpression(node) || node === value)
      ts.forEachChild(node, visit);
  };
  if (value) visit(value);
  return parts;
}

export const nameOf = ({ name }: { name: ts.PropertyName }) =>
  ts.isStringLiteral(name) ? name.text : name.getText();

/** The comment as one line of text for each paragraph. */
export function commentOn(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comment?.comment) ?? "";
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => (paragraph.includes("```") ? paragraph : paragraph.replace(/\s*\n\s*/g, " ")))
    .join("\n\n")
    .trim();
}
