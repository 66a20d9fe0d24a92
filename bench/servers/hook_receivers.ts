/**
 * Receivers of webhooks over HTTPS, each on a port of its own, that take everything: "taken" tells how many
 * since it was asked last. While they "hold", requests are answered when they "release".
 */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { answerLines } from "./child.ts";

export interface HookReceiversArgument {
  receivers: number;
  /** PEM texts of a certificate for 127.0.0.1. */
  cert: string;
  key: string;
}

const { receivers, cert, key }: HookReceiversArgument = JSON.parse(Deno.args[0]!);
let taken = 0;
let held: (() => void)[] | null = null;

async function listen(): Promise<number> {
  const server = createServer({ cert, key }, (request, answer) => {
    request.resume();
    request.on("end", () => {
      const take = () => {
        taken++;
        answer.writeHead(204).end();
      };
      if (held === null) take();
      else held.push(take);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const ports: number[] = [];
for (let i = 0; i < receivers; i++) ports.push(await listen());
console.log(JSON.stringify({ ports }));
await answerLines((line) => {
  const told = taken;
  if (line === "reset") taken = 0;
  if (line === "hold") held = [];
  if (line === "release") {
    const waiting = held ?? [];
    held = null;
    for (const take of waiting) take();
  }
  return line === "held" ? held?.length ?? 0 : told;
});
Deno.exit(0); // whoever is still connected
