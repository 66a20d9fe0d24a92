/**
 * What SMTP clients are told: code, enhanced code (RFC 3463, 5248) and words. The greeting, the answers
 * to HELO and EHLO, and 354 have no enhanced code (RFC 2034, section 4).
 */
import type { RefusedCode } from "../received_mail.ts";

export const REPLIES = {
  reset: "250 2.0.0 forgotten",
  noop: "250 2.0.0 here",
  sender: "250 2.1.0 sender noted",
  recipient: "250 2.1.5 recipient noted",
  content: "354 send the message, its end is a line of one dot",
  bye: "221 2.0.0 goodbye",
  help:
    "214 2.0.0 this server takes mail for its own domain: EHLO, STARTTLS, MAIL, RCPT, DATA, RSET, NOOP, QUIT",
  noVerify: "252 2.5.0 ask by RCPT, addresses are not told here",
  startTls: "220 2.0.0 begin the TLS handshake",

  closing: "421 4.3.2 the relay is stopping, send again",
  busy: "421 4.3.2 too many messages are on their way, the slowest give way: send again later",
  full: "421 4.3.2 all connections are taken, come again later",
  tooMany: "421 4.7.0 too many connections from your address, close one first",
  tooOften: "421 4.7.0 too many new connections from your address, send more over each",
  silent: "421 4.4.2 nothing came in time",
  slow: "421 4.4.2 the message came too slowly",
  over: "421 4.4.2 this session has lasted long enough, connect again",
  errors: "421 4.7.0 too many errors",
  unknowns: "421 4.7.0 too many refused recipients",
  idle: "421 4.7.0 too many commands without a message",
  web: "421 4.7.0 this is a mail server, not a web server",
  proxied: "421 4.7.0 RELAY_MAIL_PROXY does not name you: no PROXY header is taken",
  early: "421 4.7.0 wait for the reply to this command before you go on",

  later: "451 4.3.0 the relay cannot store the message now, send again later",
  noTls: "454 4.7.0 TLS is not available now",

  tooLong: "500 5.5.2 the line is too long",
  unknown: "500 5.5.2 no such command here",
  bareEnd: "521 5.5.2 a line ended in a bare LF or CR, lines end in CRLF",
  syntax: "501 5.5.4 the command takes other arguments",
  badSender: "501 5.1.7 write MAIL FROM:<address>",
  badRecipient: "501 5.1.3 write RCPT TO:<address>",
  noAuth: "502 5.5.1 nobody signs in here: mail for the domain is taken without AUTH",
  noChunks: "502 5.5.1 CHUNKING is not offered, use DATA",
  noExpand: "502 5.5.1 there are no lists here",
  noStartTls: "502 5.5.1 STARTTLS is not offered",
  helloFirst: "503 5.5.1 say EHLO first",
  mailFirst: "503 5.5.1 say MAIL first",
  mailOpen: "503 5.5.1 a message is under way, say RSET to begin another",
  secure: "503 5.5.1 TLS is in use already",
  nobody: "554 5.5.1 no recipient was taken",
  badContent: "550 5.6.0 the message holds NUL, or a CR or LF that is not of a CRLF",
  badStart:
    "550 5.6.0 the message begins with white space, its first line has to be a header field",
  relaying: "550 5.7.1 relaying denied: only mail for this domain is taken",
  parameter: "555 5.5.4 a parameter is not known here: SIZE and BODY are",
  notAscii: "553 5.6.7 addresses have to be ASCII",
  noUtf8: "555 5.6.7 SMTPUTF8 is not offered",
  noRequireTls: "555 5.7.30 REQUIRETLS is not offered",
  tooManyRecipients: "452 4.5.3 too many recipients for one message, send the others another",
} as const;

export type Reply = string;

/** At RCPT. */
export const REFUSED_RECIPIENT: Readonly<Record<RefusedCode, Reply>> = {
  not_found: "550 5.1.1 no such inbox here",
  blocked: "550 5.7.1 the inbox does not take mail from you",
  org_suspended: "550 5.7.1 the inbox takes no mail now",
  over_quota: "452 4.2.2 the inbox has no room now, send again later",
  rate_limited: "451 4.7.1 too much mail for now, send again later",
};

/** After the message: what has to be tried again is 451 whatever the reason is. */
export const REFUSED_MESSAGE: Readonly<Record<RefusedCode, Reply>> = {
  ...REFUSED_RECIPIENT,
  over_quota: "451 4.2.2 an inbox has no room now, send again later",
};

/** @param limitBytes of a message */
export function tooLarge(limitBytes: number): Reply {
  return `552 5.3.4 the message is over ${limitBytes} bytes`;
}
