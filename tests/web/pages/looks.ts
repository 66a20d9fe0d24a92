import type { BrowserContextOptions } from "playwright-core";
import { isLong } from "../../support/long_test.ts";

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 320, height: 640 } };

/** Both sizes, light and dark; with --long each size in both. */
export const LOOKS: readonly BrowserContextOptions[] = isLong
  ? [DESKTOP, PHONE].flatMap((size) =>
    (["light", "dark"] as const).map((colorScheme) => ({ ...size, colorScheme }))
  )
  : [{ ...DESKTOP, colorScheme: "light" }, { ...PHONE, colorScheme: "dark" }];
