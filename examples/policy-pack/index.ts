import { PolicyPack } from "@pulumi/policy";
import { owned, restricted, secretsInVault } from "./rules";

/*
 * Run it with any program:
 *
 *   pulumi preview --policy-pack examples/policy-pack
 */
new PolicyPack("endpoints", { policies: [restricted, owned, secretsInVault] });
