/** Whether one version is older than another; what follows the three numbers says that one is not out yet. */
export function isOlder(found: string, wanted: string): boolean {
  const parts = (version: string) => (version.split(/[-+]/)[0] ?? "").split(".").map(Number);
  const [have, want] = [parts(found), parts(wanted)];
  const i = want.findIndex((part, index) => part !== have[index]);
  return i < 0 ? found.includes("-") && !wanted.includes("-") : !((have[i] ?? 0) > (want[i] ?? 0));
}
