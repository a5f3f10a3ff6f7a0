import type { Endpoint } from "../../../provider/service/contract";
import { adoptionOf } from "../../../sdk/commands/adopt/adoptable";
import { secretsOf } from "../../../sdk/commands/adopt/configSecrets";
import { namesOf } from "../../../sdk/commands/adopt/names";
import { programOf } from "../../../sdk/commands/adopt/program";

const anyName = () => true;

/** Returns the program that adopts these endpoints, and its secrets. */
export function written(endpoints: Endpoint[], isFree: (name: string, value: string) => boolean = anyName) {
  const adoptions = endpoints.map((live) => adoptionOf(live)).filter((one) => "inputs" in one);
  const names = namesOf(endpoints, () => false);
  const secrets = secretsOf(adoptions, names, isFree);
  return { secrets, program: programOf(adoptions, names, secrets, []) };
}

export const endpoint = (id: string, host: string, fields: Record<string, unknown>): Endpoint => ({
  id: `ep_${id}`,
  type: "cloud",
  url: `https://${host}.example.com`,
  ...fields,
});
