/** Pages for tests of their words: over HTTP, as a browser asks for them. */
import { type Answer, ask } from "../../support/answer.ts";

/** As a browser sends it. */
export const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

export async function askPage(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return await ask(url, { headers: { ...BROWSER, ...headers }, redirect: "manual" });
}

/** The text of the elements that a pattern finds, without tags and with entities as characters. */
export function textsOf(page: string, pattern: RegExp): string[] {
  return [...page.matchAll(pattern)].map(([, inside]) => plain(inside!));
}

export function plain(html: string): string {
  return html.replaceAll(/<[^>]*>/g, "").replaceAll(
    /&(lt|gt|quot|amp|#39);/g,
    (_, name: string) => ({ lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" })[name]!,
  ).replaceAll(/\s+/g, " ").trim();
}

/** Links of the main part. */
export function linksOf(page: string): string[] {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(page)![1]!;
  return [...main.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"));
}
