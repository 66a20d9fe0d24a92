import assert from "node:assert/strict";
import { EXAMPLE_INBOX, EXAMPLE_SENT } from "../../server/base/description/examples.ts";
import { type CheckedAnswer, createAnswerChecker } from "./answer_checker.ts";

const { check } = createAnswerChecker();

const HEADERS = { "content-type": "application/json; charset=utf-8", "x-request-id": "a-1" };

function answer(line: string, value: unknown, headers: Record<string, string> = {}): CheckedAnswer {
  const [method, path, status] = line.split(" ") as [string, string, string];
  return {
    method,
    path,
    status: Number(status),
    headers: new Headers({ ...HEADERS, ...headers }),
    text: typeof value === "string" ? value : JSON.stringify(value),
  };
}

const error = (code: string, further = {}) => ({ error: { code, message: "m" }, ...further });

Deno.test("createAnswerChecker() takes answers that are as described", () => {
  for (
    const good of [
      answer("GET /v1/inbox 200", EXAMPLE_INBOX, { "cache-control": "no-store" }),
      answer("HEAD /v1/inbox 200", "", { "cache-control": "no-store" }),
      answer("GET /v1/inbox 429", error("rate_limited", { retry_after_ms: 5 }), {
        "retry-after": "1",
      }),
      answer("POST /v1/messages 201", EXAMPLE_SENT, { "idempotent-replayed": "true" }),
      answer("GET /v1/agents/me 404", error("not_found")),
      answer("PATCH /v1/agents/me 403", error("banned")),
      answer("PATCH /v1/agents/alice 405", error("method_not_allowed"), { allow: "GET" }),
      answer("GET /nowhere 404", error("not_found")),
      answer("GET /v1/agents/%zz 404", error("not_found")),
      answer("OPTIONS /v1/inbox 204", "", { allow: "GET, HEAD, OPTIONS" }),
      answer("GET /v1/mail/search 503", error("mail_disabled")),
    ]
  ) assert.deepEqual(check(good), []);
});

Deno.test("createAnswerChecker() finds every kind of answer that is not as described", () => {
  const [message] = EXAMPLE_INBOX.messages;
  for (
    const [wrong, fault] of [
      [answer("GET /v1/inbox 200", { ...EXAMPLE_INBOX, more: 1 }), /additional/],
      [answer("GET /v1/inbox 200", { messages: [] }), /last_id/],
      [
        answer("GET /v1/inbox 200", { messages: [{ ...message, created_at: "now" }], last_id: 1 }),
        /created_at/,
      ],
      [answer("GET /v1/inbox 200", "{"), /no JSON/],
      [answer("GET /v1/inbox 200", "hello", { "content-type": "text/plain" }), /type text\/plain/],
      [answer("HEAD /v1/inbox 200", "{}"), /body is not described/],
      [answer("GET /v1/inbox 418", {}), /status 418/],
      [answer("GET /v1/inbox 403", error("banned")), /status 403/],
      [answer("GET /v1/inbox 401", error("banned")), /code/],
      [answer("GET /v1/inbox 401", error("unknown_token", { retry_after_ms: 1 })), /additional/],
      [
        answer("GET /v1/inbox 429", error("rate_limited"), { "retry-after": "1" }),
        /retry_after_ms/,
      ],
      [answer("GET /v1/inbox 429", error("rate_limited", { retry_after_ms: 1 })), /retry-after/],
      [
        answer("GET /v1/inbox 429", error("rate_limited", { retry_after_ms: 1 }), {
          "retry-after": "0.5",
        }),
        /retry-after/,
      ],
      [answer("GET /v1/inbox 200", EXAMPLE_INBOX, { "x-more": "1" }), /x-more is not described/],
      [
        answer("GET /v1/inbox 200", EXAMPLE_INBOX, { "idempotent-replayed": "true" }),
        /idempotent-replayed is not described/,
      ],
      [answer("GET /v1/inbox 200", EXAMPLE_INBOX, { "x-request-id": "?" }), /x-request-id/],
      [answer("GET /v1/inbox 200", EXAMPLE_INBOX), /cache-control is missing/],
      [answer("POST /v1/inbox 405", error("method_not_allowed")), /allow is missing/],
      [answer("POST /v1/inbox 200", {}), /instead of 405/],
      [answer("GET /nowhere 200", {}), /instead of 404/],
      [answer("OPTIONS /v1/inbox 204", ""), /204 with Allow/],
    ] as const
  ) {
    const faults = check(wrong);
    assert.ok(faults.some((one) => fault.test(one)), `${fault} in ${JSON.stringify(faults)}`);
  }
});

Deno.test("createAnswerChecker() asks for a header that every answer carries", () => {
  const anonymous = answer("GET /health 200", { ok: true });
  anonymous.headers.delete("x-request-id");
  assert.match(check(anonymous).join(), /header x-request-id is missing/);
});
