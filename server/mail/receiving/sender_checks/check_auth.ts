/** SPF, DKIM and DMARC of one mail, by mailauth; part of the worker (docs/adr/0039). */
import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import ipaddr from "ipaddr.js";
import dkim from "mailauth/lib/dkim/verify.js";
import dmarc from "mailauth/lib/dmarc/index.js";
import spf from "mailauth/lib/spf/index.js";
import tools from "mailauth/lib/tools.js";
import type { AuthResult } from "../../records/message_record.ts";
import type { MailClient, SenderCheck } from "./auth_messages.ts";
import { checkArc } from "./check_arc.ts";
import { concludeAuth, type Findings, type SignatureFinding } from "./conclude_auth.ts";
import {
  keyResolver,
  type Lookup,
  NO_NAME,
  policyResolver,
  spfResolver,
} from "./dns_for_library.ts";
import { domainOf, fromDomainOf } from "./from_domain.ts";
import { keyAllows } from "./key_allows.ts";
import { relaxedBody } from "./relaxed_body.ts";
import { replyToDomains } from "./reply_to_domains.ts";
import {
  type SignedField,
  SPLIT_BOUNDS,
  type SplitMessage,
  splitMessage,
} from "./split_message.ts";

export interface CheckEvents {
  begun: (fromDomain: string | null) => void;
  /** The bytes of the mail are not needed any more. */
  hashed: () => void;
}

const MAX_ENVELOPE_CHARACTERS = 320;
const MAX_HELO_CHARACTERS = 255;
/** RFC 8301: shorter keys are no keys. */
const MIN_KEY_BITS = 1024;
const CR = 13;
const LF = 10;

/**
 * Checks a mail. All that DNS is asked for by itself is asked for at once, so that a name that is
 * slow to answer keeps nothing from another.
 *
 * @param trustedSealers domains whose word in a chain counts (RELAY_MAIL_TRUSTED_SEALERS)
 * @param lookup asks DNS and never rejects; asked for the same again, it knows the answer
 */
export async function checkAuth(
  raw: Uint8Array,
  client: MailClient,
  nowMs: number,
  lookup: Lookup,
  { begun, hashed }: CheckEvents,
  trustedSealers: readonly string[] = [],
): Promise<SenderCheck> {
  const split = splitMessage(raw, SPLIT_BOUNDS);
  const fromDomain = fromDomainOf(split.from);
  begun(fromDomain);
  const policy = policyOf(fromDomain, lookup);
  for (const { domain, selector } of split.signatures) {
    void lookup(keyName(domain, selector), "TXT");
  }
  const sender = checkSender(client, lookup);
  let readers = 2;
  const read = () => {
    if (--readers === 0) hashed();
  };
  const chain = checkArc(split, { nowMs, lookup, minKeyBits: MIN_KEY_BITS }, read);
  const signatures = await checkSignatures(split, nowMs, lookup, read);
  const arc = await chain;
  return concludeAuth({
    fromDomain,
    ...await sender,
    signatures,
    arc,
    trustedSealers,
    replyToDomains: arc.result === "pass" || signatures.some(({ result }) => result === "pass")
      ? replyToDomains(split.head)
      : [],
    policy: await policy,
    ofOneOrganization: (domain, other) => tools.getAlignment(other, [domain]) !== false,
  });
}

/** SPF for the envelope sender, or for the name of the client where that is empty (RFC 7208, 2.4). */
async function checkSender(
  { clientIp, helo, envelopeFrom }: MailClient,
  lookup: Lookup,
): Promise<Pick<Findings, "spf" | "spfDomain">> {
  const none = { spf: "none", spfDomain: null } as const;
  if (clientIp === null || !ipaddr.isValid(clientIp)) return none;
  const ip = ipaddr.process(clientIp).toString(); // IPv4 mapped into IPv6 is IPv4
  const name = helo !== null && helo.length <= MAX_HELO_CHARACTERS ? domainOf(`x@${helo}`) : null;
  if (envelopeFrom.length > MAX_ENVELOPE_CHARACTERS) return none;
  const at = envelopeFrom.lastIndexOf("@");
  // Without a local part it is postmaster's (RFC 7208, 4.3).
  const local = envelopeFrom.slice(0, Math.max(0, at)).replaceAll("@", "") || "postmaster";
  const domain = envelopeFrom === "" ? name : domainOf(at < 0 ? "" : `x${envelopeFrom.slice(at)}`);
  if (domain === null) return none;
  const result = await spf.spf({
    sender: `${local}@${domain}`,
    ip,
    // What names no host matches nothing; the library takes it for an error of the record.
    helo: name !== null && name.includes(".") ? name : NO_NAME,
    mta: "unknown",
    resolver: spfResolver(lookup),
  });
  return { spf: result.status.result as AuthResult, spfDomain: domain };
}

/** What the domain of From asks for; the library finds its record, not how it aligns. */
async function policyOf(
  fromDomain: string | null,
  lookup: Lookup,
): Promise<Findings["policy"]> {
  if (fromDomain === null) return "none";
  const result = await dmarc.dmarc({
    headerFrom: `x@${fromDomain}`,
    spfDomains: [],
    dkimDomains: [],
    resolver: policyResolver(lookup),
  });
  if (result === false || result.status.result === "none") return "none";
  if (result.status.result === "temperror" || result.rr === undefined) return "temperror";
  const tags = new Map(
    result.rr.split(";").map((part): [string, string] => {
      const equals = part.indexOf("=");
      return [part.slice(0, Math.max(0, equals)), part.slice(equals + 1)];
    }).map(([name, value]) => [name.trim().toLowerCase(), value.trim().toLowerCase()]),
  );
  // Without a policy, or anybody to tell, it is no record (RFC 7489, 6.6.3).
  if (!/^(?:none|quarantine|reject)$/.test(tags.get("p") ?? "") && !tags.has("rua")) return "none";
  return { strictSpf: tags.get("aspf") === "s", strictDkim: tags.get("adkim") === "s" };
}

async function checkSignatures(
  split: SplitMessage,
  nowMs: number,
  lookup: Lookup,
  hashed: () => void,
): Promise<SignatureFinding[]> {
  const runs = (["relaxed", "simple"] as const).map((form) => {
    const ofForm = split.signatures.filter(({ bodyForm }) => bodyForm === form);
    if (ofForm.length === 0) return { chosen: [], partial: [], body: split.body };
    const body = form === "relaxed" ? relaxedBody(split.body) : split.body;
    const bytes = form === "relaxed" ? body.length : simpleBytes(body);
    // A signature that leaves to others the end of the body, or which of two fields is the one that
    // it covers, does not speak for the mail.
    const isWhole = ({ signedBytes }: SignedField) =>
      !split.hasDoubledField && (signedBytes === null || signedBytes === bytes);
    return {
      chosen: ofForm.filter(isWhole),
      partial: ofForm.filter((one) => !isWhole(one)),
      body,
    };
  }).filter(({ chosen, partial }) => chosen.length + partial.length > 0);
  const partial = runs.flatMap((run) => run.partial);
  let left = runs.length;
  const read = () => {
    if (--left <= 0) hashed();
  };
  if (runs.length === 0) hashed();
  const found = await Promise.all(
    runs.map(({ chosen, body }) =>
      verify(split.headWith(chosen), body, chosen, nowMs, lookup, read)
    ),
  );
  return [
    ...found.flat(),
    ...partial.map((one) => findingOf(one, "fail")),
    ...Array.from({ length: split.unchecked }, () => UNREADABLE),
  ];
}

/** Bytes of the simple form of a body (RFC 6376, 3.4.3): all empty lines at its end are one line end. */
function simpleBytes(body: Uint8Array): number {
  let end = body.length;
  while (end >= 2 && body[end - 2] === CR && body[end - 1] === LF) end -= 2;
  return end + 2;
}

async function verify(
  head: Uint8Array,
  body: Uint8Array,
  chosen: readonly SignedField[],
  nowMs: number,
  lookup: Lookup,
  read: () => void,
): Promise<SignatureFinding[]> {
  if (chosen.length === 0) {
    read();
    return [];
  }
  const chunks = [head, body].filter(({ length }) => length > 0)
    .map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  // As a stream of two chunks: cut into pieces, a long line would be read again for each of them.
  const input = Readable.from(chunks);
  input.once("end", read);
  const { results } = await dkim.dkimVerify(input, {
    resolver: keyResolver(lookup),
    sender: "nobody@invalid", // else it reads one from the header
    minBitLength: MIN_KEY_BITS,
    curTime: new Date(nowMs),
  });
  const found = results.filter(({ signingDomain }) => signingDomain !== undefined);
  // It keeps their order. Where it left one out, it is unknown which result is whose.
  if (found.length !== chosen.length) return chosen.map(() => UNREADABLE);
  return await Promise.all(chosen.map(async (one, place) => {
    const result = signatureResult(found[place]!.status);
    const counts = result !== "pass" || await isAllowedByKey(one, lookup);
    return findingOf(one, counts ? result : "permerror");
  }));
}

const UNREADABLE: SignatureFinding = { result: "permerror", domain: "", signedNames: [] };

function findingOf(
  { domain, signedNames }: SignedField,
  result: SignatureFinding["result"],
): SignatureFinding {
  return { result, domain, signedNames };
}

/** Whether the key that the library took allows it: the first text at its name, which was asked for already. */
async function isAllowedByKey(one: SignedField, lookup: Lookup): Promise<boolean> {
  const answer = await lookup(keyName(one.domain, one.selector), "TXT");
  const record = "records" in answer ? answer.records[0] : undefined;
  return Array.isArray(record) && keyAllows(record.join(""), one);
}

const keyName = (domain: string, selector: string) => `${selector}._domainkey.${domain}`;

/** The library's words; its "neutral" is what RFC 8601 calls fail or permerror. */
function signatureResult(
  { result, comment }: { result: string; comment?: unknown },
): SignatureFinding["result"] {
  if (result === "pass" || result === "fail" || result === "temperror") return result;
  const isFalse = /^(?:body hash did not verify|expired|invalid expiration)$/.test(String(comment));
  return result === "neutral" && isFalse ? "fail" : "permerror";
}
