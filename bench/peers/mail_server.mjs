/**
 * What a mail that comes in takes at least, with what Node.js offers for it: smtp-server, mailparser, and a
 * transaction of SQLite that is on the disk before the mail is accepted. Run by Node.js; the last argument is
 * "each" for a transaction a mail, or "grouped" for one of all mails that wait for it.
 */
import { createRequire } from "node:module";
import process from "node:process";

const [packages, file, commits] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const { SMTPServer } = require("smtp-server");
const { simpleParser } = require("mailparser");
const Database = require("better-sqlite3");

const database = new Database(file);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec(
  `CREATE TABLE message (id INTEGER PRIMARY KEY, inbox TEXT, message_id TEXT, sender TEXT,
  subject TEXT, text TEXT, html TEXT, received_at INTEGER, raw BLOB);
  CREATE INDEX of_inbox ON message (inbox, id);`,
);
const insert = database.prepare(`INSERT INTO message
  (inbox, message_id, sender, subject, text, html, received_at, raw) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
const insertAll = database.transaction((rows) => {
  for (const row of rows) insert.run(row);
});
const mostAtOnce = commits === "grouped" ? Infinity : 1;

/** Rows that wait for their transaction, each with what answers its client. */
const waiting = [];

function store(row, done) {
  if (waiting.push({ row, done }) === 1) setImmediate(commit);
}

function commit() {
  const group = waiting.splice(0, mostAtOnce);
  insertAll(group.map(({ row }) => row));
  for (const { done } of group) done();
  if (waiting.length > 0) setImmediate(commit);
}

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS", "AUTH"],
  disableReverseLookup: true,
  logger: false,
  async onData(stream, { envelope }, callback) {
    try {
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      const raw = Buffer.concat(chunks);
      const { messageId, from, subject, text, html } = await simpleParser(raw);
      const inbox = envelope.rcptTo[0].address;
      const row = [inbox, messageId, from.text, subject, text, html, Date.now(), raw];
      store(row, () => callback(null));
    } catch (error) {
      callback(error);
    }
  },
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ port: server.server.address().port }));
});
process.stdin.resume().on("end", () => process.exit(0));
