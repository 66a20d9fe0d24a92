import type { BrowserContextOptions } from "playwright-core";

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 320, height: 640 } };

/** Both sizes, each light and dark. */
export const LOOKS: readonly BrowserContextOptions[] = [DESKTOP, PHONE].flatMap((size) =>
  (["light", "dark"] as const).map((colorScheme) => ({ ...size, colorScheme }))
);
