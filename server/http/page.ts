/** Pages for people: they load nothing, from anywhere; the style stands inside. */
import { html, raw } from "hono/html";

/** HTML as `html` makes it: what stands in its templates is escaped. */
export type Html = ReturnType<typeof html>;

/**
 * Whether the request's Accept names text/html, by one word for word: `*` is what programs send.
 * Quality 0 names what is not wanted (RFC 9110, section 12.4.2).
 */
export function namesHtml(request: Request): boolean {
  const ranges = (request.headers.get("accept") ?? "").split(",");
  return ranges.some((range) =>
    /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*$/i.test(range)
  );
}

/** A page as text. @param style further rules of CSS */
export async function pageOf(title: string, body: Html, style = ""): Promise<string> {
  // deno-fmt-ignore
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 42rem; padding: 2rem 1rem; }
li { margin: 0.5rem 0; }
code { overflow-wrap: anywhere; }
button { font: inherit; padding: 0.5rem 1rem; }
${raw(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return String(await page);
}

/** Headers of a page besides its type. @param formAction where its forms may lead: nowhere unless given */
export function pageHeaders(formAction: "'none'" | "'self'" = "'none'"): Record<string, string> {
  return {
    "Content-Security-Policy":
      `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  };
}

/** A page as an answer. @param formAction as pageHeaders() takes it */
export function answerPage(
  page: string,
  { formAction, headers = {} }: {
    formAction?: "'none'" | "'self'";
    headers?: Readonly<Record<string, string>>;
  } = {},
): Response {
  return new Response(page, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      ...pageHeaders(formAction),
      ...headers,
    },
  });
}
