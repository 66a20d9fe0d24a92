/** Mail that comes in by SMTP: how much of it, beside the same mails over HTTP and beside postfix. */
import { inboundRequest, type MailBox, openMailBox, sampleMail } from "../mail_box.ts";
import { drive } from "../load.ts";
import type { Round, Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { driveSmtp } from "../smtp_load.ts";

const INBOXES = 50;
const MAILS = 1_000;
const CONNECTIONS = 64;

export const inboundSmtpMails: Row = {
  id: "mail-inbound-smtp",
  title: "mails of 6 KB handed in by SMTP over kept connections, stored durably, against over HTTP",
  unit: "/s",
  target: { rule: "at least", ratio: 0.8 },
  async prepare({ temporaryFolder: folder, count }) {
    const relay = await startChild<{ port: number; smtpPort: number }>("relay.ts", {
      folder,
      mail: true,
    });
    const boxes: MailBox[] = [];
    for (let i = 0; i < INBOXES; i++) boxes.push(await openMailBox(relay.ready.port));
    const mails = () =>
      Array.from({ length: count(MAILS) }, (_, i) => ({
        to: boxes[i % INBOXES]!.address,
        raw: sampleMail().raw,
      }));
    return {
      ours: (): Promise<Round> => driveSmtp(relay, relay.ready.smtpPort, mails(), CONNECTIONS),
      reference: () =>
        drive(relay, mails().map(({ to, raw }) => inboundRequest(to, raw)), {
          connections: CONNECTIONS,
          status: 200,
        }),
      close: () => relay.stop(),
    };
  },
};
