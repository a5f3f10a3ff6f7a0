import type { WireEndpoint } from "../../../provider/api/contract";

/*
 * The filters of lists: the part of CEL that the public service documents. `obj` is an endpoint; there are comparisons,
 * `&&`, `||`, `!`, parentheses, `in [...]`, `timestamp("...")` and `size(...)`. Everything else is refused.
 */

type Value = string | number | boolean | Date | Value[];
type Expression = (endpoint: WireEndpoint) => Value;

/** The fields that a filter can name. One that an endpoint lacks is empty. */
const fields: Readonly<Record<string, Expression>> = {
  id: ({ id }) => id,
  created_at: ({ created_at }) => new Date(created_at ?? 0),
  description: ({ description }) => description ?? "",
  metadata: ({ metadata }) => metadata ?? "",
  "principal.id": ({ principal }) => principal?.id ?? "",
  type: ({ type }) => type ?? "",
  binding: ({ bindings }) => bindings?.[0] ?? "",
  url: ({ url }) => url ?? "",
  pooling_enabled: ({ pooling_enabled }) => pooling_enabled === true,
  scheme: ({ scheme }) => scheme ?? "",
  region: ({ region }) => region ?? "",
  name: ({ name }) => name ?? "",
};

const TOKEN =
  /\s*(?:("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(\d+(?:\.\d+)?)|([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(==|!=|<=|>=|&&|\|\||[<>!()[\],]))/y;

/** Deeper ones are refused, so that no expression can exhaust the stack. */
const DEEPEST = 100;

interface Token {
  kind: "text" | "number" | "name" | "sign" | "end";
  text: string;
}

/**
 * Whether an endpoint fits an expression.
 *
 * @throws FilterError where the expression is not one of these. Kinds that cannot be compared are noticed when an endpoint
 *   is looked at.
 */
export function parseFilter(expression: string): (endpoint: WireEndpoint) => boolean {
  const parsed = new Parser(tokensOf(expression)).parse();
  return (endpoint) => truth(parsed(endpoint));
}

/** What is wrong with an expression. */
export class FilterError extends Error {}

class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly tokens: Token[]) {}

  parse(): Expression {
    const expression = this.either();
    if (this.next.kind !== "end") throw new FilterError(`unexpected ${this.next.text}`);
    return expression;
  }

  private get next(): Token {
    return this.tokens[this.at] ?? { kind: "end", text: "the end" };
  }

  private either(): Expression {
    const [first, ...others] = this.chain("||", () => this.both());
    if (others.length === 0) return first;
    return (endpoint) => [first, ...others].some((part) => truth(part(endpoint)));
  }

  private both(): Expression {
    const [first, ...others] = this.chain("&&", () => this.comparison());
    if (others.length === 0) return first;
    return (endpoint) => [first, ...others].every((part) => truth(part(endpoint)));
  }

  private chain(sign: string, part: () => Expression): [Expression, ...Expression[]] {
    const parts: [Expression, ...Expression[]] = [part()];
    while (this.skip(sign)) parts.push(part());
    return parts;
  }

  private comparison(): Expression {
    const left = this.operand();
    const { text, kind } = this.next;
    const compare = kind === "sign" || text === "in" ? comparisons[text] : undefined;
    if (!compare) return left;
    this.at++;
    const right = this.operand();
    return (endpoint) => compare(left(endpoint), right(endpoint));
  }

  private operand(): Expression {
    if (this.depth++ > DEEPEST) throw new FilterError("it is nested too deeply");
    try {
      return this.read(this.take());
    } finally {
      this.depth--;
    }
  }

  private read({ kind, text }: Token): Expression {
    if (kind === "text") {
      const value = textOf(text);
      return () => value;
    }
    if (kind === "number") return () => Number(text);
    if (text === "!") {
      const operand = this.operand();
      return (endpoint) => !truth(operand(endpoint));
    }
    if (text === "(") return this.until(")", this.either());
    if (text === "[") return this.list();
    if (text === "true" || text === "false") return () => text === "true";
    if (kind === "name" && (text === "timestamp" || text === "size")) {
      this.expect("(");
      const value = this.until(")", this.either());
      return (endpoint) => (text === "size" ? sizeOf(value(endpoint)) : timeOf(value(endpoint)));
    }
    const field = text.startsWith("obj.") ? text.slice("obj.".length) : undefined;
    if (field !== undefined && Object.hasOwn(fields, field)) return fields[field] as Expression;
    throw new FilterError(kind === "name" ? `endpoints have no ${text}` : `unexpected ${text}`);
  }

  private list(): Expression {
    const items = this.skip("]") ? [] : this.chain(",", () => this.either());
    if (items.length > 0) this.expect("]");
    return (endpoint) => items.map((item) => item(endpoint));
  }

  private until(sign: string, expression: Expression): Expression {
    this.expect(sign);
    return expression;
  }

  private take(): Token {
    const token = this.next;
    this.at++;
    return token;
  }

  private skip(sign: string): boolean {
    const isIt = this.next.kind === "sign" && this.next.text === sign;
    if (isIt) this.at++;
    return isIt;
  }

  private expect(sign: string): void {
    if (!this.skip(sign)) throw new FilterError(`${sign} is missing before ${this.next.text}`);
  }
}

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  const kinds = ["text", "number", "name", "sign"] as const;
  const text = expression.trimEnd();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(text)?.slice(1);
    const kind = groups?.findIndex((group) => group !== undefined) ?? -1;
    const found = kinds[kind];
    if (!found) throw new FilterError(`it cannot be read from character ${at + 1} on`);
    tokens.push({ kind: found, text: groups?.[kind] ?? "" });
  }
  return tokens;
}

const comparisons: Readonly<Record<string, (left: Value, right: Value) => boolean>> = {
  "==": (left, right) => order(left, right) === 0,
  "!=": (left, right) => order(left, right) !== 0,
  "<": (left, right) => order(left, right) < 0,
  "<=": (left, right) => order(left, right) <= 0,
  ">": (left, right) => order(left, right) > 0,
  ">=": (left, right) => order(left, right) >= 0,
  in: (left, right) => {
    if (!Array.isArray(right)) throw new FilterError("in needs a list");
    return right.some((item) => order(left, item) === 0);
  },
};

function order(left: Value, right: Value): number {
  if (Array.isArray(left) || Array.isArray(right) || kindOf(left) !== kindOf(right)) {
    throw new FilterError(`a ${kindOf(left)} cannot be compared with a ${kindOf(right)}`);
  }
  const [one, other] = [left, right].map((value) => (value instanceof Date ? value.getTime() : value));
  if (one === other) return 0;
  return (one ?? 0) < (other ?? 0) ? -1 : 1;
}

const kindOf = (value: Value) =>
  value instanceof Date ? "timestamp" : Array.isArray(value) ? "list" : typeof value;

function truth(value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new FilterError(`a ${kindOf(value)} is neither true nor false`);
}

function sizeOf(value: Value): number {
  if (typeof value === "string") return [...value].length;
  if (Array.isArray(value)) return value.length;
  throw new FilterError(`a ${kindOf(value)} has no size`);
}

function timeOf(value: Value): Date {
  const time = typeof value === "string" ? new Date(value) : undefined;
  if (time && !Number.isNaN(time.getTime())) return time;
  throw new FilterError(`timestamp needs a text such as "2026-01-31T00:00:00Z"`);
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** What a literal means. */
function textOf(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/g, (_, short, long, one) => {
      const code = short ?? long;
      return code ? String.fromCodePoint(Number.parseInt(code, 16)) : (ESCAPED[one] ?? one);
    });
}
