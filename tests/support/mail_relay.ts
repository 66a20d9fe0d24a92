/** A relay with mail on, in local mode, and orgs for tests. */
import { generateKeyPair } from "../../toolkit/generate_key_pair.ts";
import { signBytes } from "../../toolkit/ed25519_signer.ts";
import { base64 } from "@scure/base";
import { parseConfig } from "../../server/base/config/config.ts";
import { TEST_INBOUND_SECRET } from "./inbound_secret.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "./relay.ts";

/** As startTestRelay(), with RELAY_MAIL_DEV and the secret of inbound_secret.ts. */
export async function startMailRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const mail = {
    ...parseConfig({ RELAY_MAIL_DEV: "true" }).mail,
    inboundSecret: TEST_INBOUND_SECRET,
  };
  return await startTestRelay({ ...options, config: { mail, ...options.config } });
}

/** An answer of the mail area. */
export interface MailAnswer {
  status: number;
  headers: Headers;
  // deno-lint-ignore no-explicit-any -- JSON whose shape the test at hand asserts
  body: any;
}

/** One request; `key` goes into Authorization, a body is sent as JSON. */
export async function askMail(
  url: string,
  method: string,
  path: string,
  { key, body, headers = {} }: {
    key?: string;
    body?: unknown;
    headers?: Record<string, string>;
  } = {},
): Promise<MailAnswer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = text !== "" &&
    answer.headers.get("content-type")?.startsWith("application/json");
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** Body of a registration, signed at a time. */
export function signRegistration(
  nowMs: number,
  keys = generateKeyPair(),
  label?: string,
): Record<string, unknown> {
  const timestamp = Math.floor(nowMs / 1000);
  const signed = new TextEncoder().encode(`relay-mail:register:${keys.address}:${timestamp}`);
  return {
    public_key: keys.address,
    timestamp,
    signature: base64.encode(signBytes(signed, keys.privateKey)),
    ...(label === undefined ? {} : { label }),
  };
}

/** A trial org and its first key. */
export interface TestOrg {
  orgId: string;
  apiKey: string;
}

export async function registerOrg({ url, clock }: TestRelay): Promise<TestOrg> {
  const { status, body } = await askMail(url, "POST", "/v1/mail/agents/register", {
    body: signRegistration(clock.now()),
  });
  if (status !== 201) throw new Error(`registration answered ${status} ${JSON.stringify(body)}`);
  return { orgId: body.org_id, apiKey: body.api_key };
}
