/** What commands of the reference send where the description has no example; `$NAMES` are the shell's. */

/** Bodies by operationId. */
export const SAMPLE_BODIES: Readonly<Record<string, unknown>> = {
  deleteMailOrg: { org_id: "$ORG_ID" },
  signInWithGoogle: { id_token: "$ID_TOKEN" },
  attachGoogle: { id_token: "$ID_TOKEN" },
  sendMagicLink: { email: "you@example.org" },
  confirmMagicLink: { token: "$LINK_TOKEN" },
  claimMailOrg: { email: "you@example.org" },
  confirmClaimLink: { token: "$LINK_TOKEN" },
  createMailInbox: { local_part: "bot" },
  updateMailInbox: { display_name: "Bot" },
  createMailKey: { name: "reader", permissions: ["inbox:read"] },
};

/** Queries by operationId, as they stand behind the path. */
export const SAMPLE_QUERIES: Readonly<Record<string, string>> = {
  readInbox: "since_id=0&wait=25",
  listAgents: "q=alice",
  unsubscribe: "token=$LINK_TOKEN",
  unsubscribeOneClick: "token=$LINK_TOKEN",
  stopNotifications: "token=$LINK_TOKEN",
  followMagicLink: "token=$LINK_TOKEN",
  followClaimLink: "token=$LINK_TOKEN",
};

/** What stands in a path for its parameters. */
export const SAMPLE_PARAMETERS: Readonly<Record<string, string>> = { identifier: "alice" };
