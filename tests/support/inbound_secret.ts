/** The secret of relays that startMailRelay() starts. */
export const TEST_INBOUND_SECRET = new Uint8Array(32).fill(7);
