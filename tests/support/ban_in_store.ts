/** Writes a ban as another process does: directly into both records of the agent. */
import {
  inKey,
  type InRecord,
  outKey,
  type OutRecord,
} from "../../server/messaging/mailboxes/agent_mailboxes.ts";

/** Sets the status of an agent by its handle. A relay on an exclusive store must not be running. */
export async function setBanned(kv: Deno.Kv, handle: string, banned: boolean): Promise<void> {
  const binding = await kv.get<{ id: number }>(["handle", handle]);
  const { id } = binding.value!;
  const inbox = await kv.get<InRecord>(inKey(id));
  const outbox = await kv.get<OutRecord>(outKey(id));
  await kv.atomic()
    .set(inKey(id), { ...inbox.value!, banned })
    .set(outKey(id), { ...outbox.value!, banned })
    .commit();
}
