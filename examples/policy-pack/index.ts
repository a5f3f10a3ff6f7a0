import { PolicyPack } from "@pulumi/policy";
import { owned, poolsAgree, restricted, secretsInVault } from "./rules";

/*
 * Run it with any program:
 *
 *   pulumi preview --policy-pack path/of/this/folder
 */
new PolicyPack("endpoints", { policies: [restricted, owned, secretsInVault, poolsAgree] });
