/**
 * The API of the mail area as the console calls it: in this process, for the holder of a session. What a key
 * may, its limits and the order of checks are those of the routes, for these are the routes.
 */
import { type ErrorCode, RelayError } from "../../base/errors.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import type { MailCaller } from "../../mail/access/authenticate_key.ts";

/** Answers a request as if it had come over HTTP. */
export type AskRelay = (request: Request, env: HttpEnv["Bindings"]) => Promise<Response>;

export interface MailApiOptions {
  ask: AskRelay;
  /** Has the request be that of the session. */
  vouch(request: Request, find: () => Promise<MailCaller>): Request;
  find(): Promise<MailCaller>;
  /** Of the visit, whose address limits count. */
  env: HttpEnv["Bindings"];
  baseUrl: string;
  /** Headers of the visit that say where it came from. */
  headers: Readonly<Record<string, string>>;
  /** Ends the requests with the visit. */
  signal: AbortSignal;
}

/** Path segments of an API path, each encoded. */
export type ApiPath = readonly (string | number)[];

export type ApiQuery = Readonly<Record<string, string | number | null | undefined>>;

export class MailApi {
  constructor(private readonly options: MailApiOptions) {}

  /** GET of /v1/mail/... @throws RelayError what the route refuses with */
  async get<T>(path: ApiPath, query: ApiQuery = {}): Promise<T> {
    const answer = await this.answer("GET", path, { query });
    return await answer.json();
  }

  /** Any other method; null for an answer without a body. @throws RelayError what the route refuses with */
  async send<T>(
    method: "POST" | "PATCH" | "DELETE",
    path: ApiPath,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T | null> {
    const answer = await this.answer(method, path, { body, headers });
    const text = await answer.text();
    return text === "" ? null : JSON.parse(text);
  }

  /** The answer itself, such as bytes or a stream. @throws RelayError what the route refuses with */
  async answer(
    method: string,
    path: ApiPath,
    { query = {}, body, headers = {} }: {
      query?: ApiQuery;
      body?: unknown;
      headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<Response> {
    const { ask, vouch, find, env, baseUrl, signal } = this.options;
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== null && value !== undefined) asked.set(name, String(value));
    }
    const url = `${baseUrl}/v1/mail/${path.map(segment).join("/")}${
      asked.size === 0 ? "" : `?${asked}`
    }`;
    const request = new Request(url, {
      method,
      headers: { Accept: "application/json", ...this.options.headers, ...headers },
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Of the visit's connection: its end is the visit's own.
    const answer = await ask(vouch(request, find), { remoteAddress: env?.remoteAddress });
    if (!answer.ok) throw await refusalOf(answer);
    return answer;
  }
}

/** A name of a path. @throws RelayError `not_found` for what would lead to another path */
function segment(part: string | number): string {
  const text = String(part);
  if (text === "" || text === "." || text === "..") {
    throw new RelayError("not_found", "nothing is at this address");
  }
  return encodeURIComponent(text);
}

async function refusalOf(answer: Response): Promise<RelayError> {
  const { error } = await answer.json();
  const retryAfterMs = error.retry_after_ms as number | undefined;
  const details = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new RelayError(error.code as ErrorCode, error.message as string, details);
}
