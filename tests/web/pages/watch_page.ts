import type { Page } from "playwright-core";

/** What a page asks for, and its complaints, except about refusals that it shows. */
export function watchPage(page: Page): { urls: string[]; complaints: string[] } {
  const urls: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => void urls.push(request.url()));
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("console", (message) => {
    if (/status of 4\d\d/.test(message.text())) return;
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  return { urls, complaints };
}
