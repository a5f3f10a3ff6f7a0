import { isMapping } from "../../../provider/data/json";
import { MIN_SECRET_LENGTH } from "../../../provider/data/text";
import type { Policy } from "./policy";
import type { TracedRule } from "./trace";

/** Masks the secrets of a request in its trace and its error. */
export class SecretMask {
  private readonly all = new Set<string>();

  /** Adds all texts of a value. */
  add(value: unknown): void {
    if (typeof value === "string") this.all.add(value);
    else if (typeof value === "object" && value !== null)
      for (const part of Object.values(value)) this.add(part);
  }

  /** Adds the credentials and secrets that are written in a policy. */
  addWritten(policy: Policy): void {
    for (const { actions } of Object.values(policy).flat())
      for (const { type, config } of actions) {
        if (!isMapping(config)) continue;
        if (type === "verify-webhook") this.add(config["secret"]);
        if (type === "basic-auth")
          for (const pair of [config["credentials"]].flat()) this.addCredentials(`${pair}`);
      }
  }

  /** @param pair `name:password` */
  addCredentials(pair: string): void {
    this.add([pair, pair.replace(/^.*?:/s, "")]);
  }

  masked(text: string): string {
    return this.forms().reduce((masked, form) => masked.replaceAll(form, "[secret]"), text);
  }

  mask(trace: readonly TracedRule[]): void {
    for (const rule of trace) {
      rule.endpoint = this.masked(rule.endpoint);
      for (const each of rule.expressions) each.expression = this.masked(each.expression);
      for (const each of rule.actions) each.result = this.masked(each.result);
    }
  }

  /** The forms in which a text may contain the secrets: plain, in JSON, redirects and base64. Longer forms first. */
  private forms(): string[] {
    return [...this.all]
      .filter(({ length }) => length >= MIN_SECRET_LENGTH)
      .flatMap((secret) => [secret, secret.replaceAll(" ", "%20"), Buffer.from(secret).toString("base64")])
      .flatMap((form) => [form, JSON.stringify(form).slice(1, -1)])
      .sort((one, other) => other.length - one.length);
  }
}
