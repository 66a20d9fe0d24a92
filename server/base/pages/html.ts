import type { html } from "hono/html";

/** HTML as `html` makes it: what stands in its templates is escaped. */
export type Html = ReturnType<typeof html>;
