/**
 * The mailbox that an address most likely leads to: lowercased and without the part from the first
 * `+` of its local part, which many hosts deliver to the mailbox before it (decisions, "Bounds added").
 * @param email a valid address, at most 320 characters
 */
export function mailboxAddress(email: string): string {
  const lower = email.toLowerCase();
  const at = lower.indexOf("@");
  const plus = lower.indexOf("+");
  return plus < 0 || plus > at ? lower : lower.slice(0, plus) + lower.slice(at);
}
