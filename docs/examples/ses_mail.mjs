/**
 * AWS Lambda (Node.js 20 or later): hands mail that Amazon SES received to a relay.
 *
 * A receipt rule of SES stores each mail in an S3 bucket and tells an SNS topic, which calls this
 * function. Its settings: RELAY_URL (https://relay.example.org) and RELAY_MAIL_INBOUND_SECRET, the
 * same as the relay's. It may read the bucket (s3:GetObject). Give it a timeout of two minutes, and
 * a dead-letter queue: what it throws is tried again by SNS and Lambda, and ends there.
 */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import process from "node:process";

const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;

/** @param services what reaches S3 and the relay; Lambda's own unless a test gives others */
export function createHandler({ getObject, fetch, env }) {
  return async (event) => {
    for (const record of event.Records) {
      await handIn(JSON.parse(record.Sns.Message), { getObject, fetch, env });
    }
  };
}

async function handIn({ mail, receipt }, { getObject, fetch, env }) {
  if (receipt?.action?.type !== "S3") return; // such as the test that SES sends to a new topic
  const { bucketName, objectKey } = receipt.action;
  const raw = await getObject(bucketName, objectKey);
  if (raw.length > MAX_MESSAGE_BYTES) {
    return console.log(`${mail.messageId} is too large for the relay: ${raw.length} bytes`);
  }
  const envelope = asciiJson({
    from: mail.source ?? "",
    to: receipt.recipients,
    ...clientOf(mail),
  });
  const response = await fetch(new URL("/v1/mail/inbound/raw", env.RELAY_URL), {
    method: "POST",
    headers: signedHeaders(env.RELAY_MAIL_INBOUND_SECRET, `ses_${mail.messageId}`, envelope, raw),
    body: raw,
  });
  const answer = await response.json().catch(() => ({}));
  // SES has taken the mail: whom it is for nobody, the sender cannot be told any more.
  const why = answer.error?.message ?? "";
  const isFinal = response.ok || [400, 413].includes(response.status) ||
    (response.status === 404 && why.startsWith("no recipient of this message"));
  const said = `${response.status} ${JSON.stringify(answer.rejected ?? answer.error?.code ?? "")}`;
  if (!isFinal) throw new Error(`${mail.messageId}: the relay answered ${said}`);
  console.log(`${mail.messageId}: ${said}`);
}

/** Who delivered the mail, as the uppermost Received field says, which SES itself writes. */
function clientOf({ headers = [] }) {
  const received = headers.find(({ name }) => name.toLowerCase() === "received")?.value ?? "";
  const match =
    /^from (\S+) \([^()[\]]*\[(?:IPv6:)?([0-9A-Fa-f.:]+)\]\) by inbound-smtp\.[a-z0-9-]+\.amazonaws\.com /
      .exec(received.replace(/\s+/g, " "));
  return match === null ? {} : { client_ip: match[2], client_helo: match[1].slice(0, 255) };
}

/** HMAC-SHA256 over `{id}.{timestamp}.{envelope}.` and the raw bytes. */
function signedHeaders(secret, id, envelope, raw) {
  const key = Buffer.from(secret.trim().replace(/^whsec_/, ""), "base64");
  const timestamp = String(Math.floor(Date.now() / 1000));
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${envelope}.`).update(raw);
  return {
    "Content-Type": "message/rfc822",
    "X-Relay-Envelope": envelope,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${mac.digest("base64")}`,
  };
}

/** A header has ASCII only; JSON can write every other character as an escape. */
function asciiJson(value) {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

let s3;

async function getObject(Bucket, Key) {
  const { GetObjectCommand, S3Client } = await import("@aws-sdk/client-s3"); // Lambda has it
  s3 ??= new S3Client({});
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return await Body.transformToByteArray();
}

export const handler = createHandler({ getObject, fetch, env: process.env });
