/** Search as a part of the mail area. */
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { MailSearch } from "./mail_search.ts";
import { SEARCH_ROUTES } from "./routes.ts";

export interface SearchPart extends Part {
  search: MailSearch;
}

export function openSearch(core: MailCore): SearchPart {
  const { store, blobs } = core;
  const search = new MailSearch({ store, blobs });
  return { search, routes: mount(SEARCH_ROUTES, { ...core, search }) };
}
