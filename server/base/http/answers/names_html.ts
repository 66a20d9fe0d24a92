import { namesType } from "./names_type.ts";

/** Whether the request's Accept names text/html, as what people look at pages with does. */
export function namesHtml(request: Request): boolean {
  return namesType(request, "text/html");
}
