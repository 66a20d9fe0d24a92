/**
 * The mailbox that an address most likely leads to. The address is lowercased and loses the part of
 * its local part from the first `+` on. Many hosts deliver that part to the same mailbox
 * (docs/digest.md, "Unsubscribing").
 * @param email a valid address, at most 320 characters
 */
export function mailboxAddress(email: string): string {
  const lower = email.toLowerCase();
  const at = lower.indexOf("@");
  const plus = lower.indexOf("+");
  return plus < 0 || plus > at ? lower : lower.slice(0, plus) + lower.slice(at);
}
