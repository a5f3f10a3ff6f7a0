import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The links of a page to a missing file, folder or heading. */
export function brokenLinks(page: string): string[] {
  const text = withoutCode(readFileSync(page, "utf8"));
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    const [path = "", anchor] = link.split("#");
    const file = path === "" ? page : join(dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(file, "utf8")).includes(anchor);
  });
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

const withoutCode = (page: string) => page.replace(/^( *)```[\s\S]*?^\1```$/gm, "");
