import type { Browser, BrowserContextOptions, BrowserType, Page } from "playwright-core";

/** Options that stop what a browser does by itself: updates, synchronisation, first run. */
const QUIET = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Long enough for a busy machine; a page that hangs still fails. */
const PATIENCE_MS = 180_000;

/**
 * Runs something in a new Chromium with an empty profile, and ends it afterwards.
 *
 * @param program its name or path, as {@linkcode partOrSkip} gives it
 */
export async function withChromium(
  program: string,
  fn: (browser: Browser) => Promise<void>,
): Promise<void> {
  const chromium = await loadDriver();
  const executablePath = await pathOf(program);
  const browser = await chromium.launch({ executablePath, args: QUIET, timeout: PATIENCE_MS });
  try {
    await fn(browser);
  } finally {
    await browser.close();
  }
}

/** Opens an address in a new window, does something there, and closes it. */
export async function withPage(
  browser: Browser,
  options: BrowserContextOptions,
  fn: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    await fn(await context.newPage());
  } finally {
    await context.close();
  }
}

/**
 * When loaded, the driver reads /proc to detect Windows' Linux, which needs all permissions. With
 * this variable it does not.
 */
async function loadDriver(): Promise<BrowserType> {
  Deno.env.set("__IS_WSL_TEST__", "1");
  return (await import("playwright-core")).chromium;
}

/** Playwright starts a path, not a name. */
async function pathOf(program: string): Promise<string> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const path = `${folder}/${program}`;
    const isFile = await Deno.stat(path).then((stat) => stat.isFile, () => false);
    if (isFile) return path;
  }
  throw new Error(`${program} is not on the PATH`);
}
