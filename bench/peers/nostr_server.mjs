/** A Nostr relay as its library's own example starts one, on a SQLite file. Run by Node.js. */
import { createRequire } from "node:module";
import process from "node:process";

const [packages, file] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const { NostrRelay, createOutgoingNoticeMessage } = require("@nostr-relay/core");
const { EventRepositorySqlite } = require("@nostr-relay/event-repository-sqlite");
const { Validator } = require("@nostr-relay/validator");
const { WebSocketServer } = require("ws");

const events = new EventRepositorySqlite(file);
await events.init();
const relay = new NostrRelay(events);
const validator = new Validator();

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () => {
  console.log(JSON.stringify({ port: server.address().port }));
});
server.on("connection", (socket) => {
  relay.handleConnection(socket);
  socket.on("message", async (data) => {
    try {
      await relay.handleMessage(socket, await validator.validateIncomingMessage(data));
    } catch (error) {
      socket.send(JSON.stringify(createOutgoingNoticeMessage(error.message)));
    }
  });
  socket.on("close", () => relay.handleDisconnect(socket));
});
process.stdin.resume().on("end", () => process.exit(0));
