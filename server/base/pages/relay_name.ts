/** The name of this service, in the header and the title of every page. */
export const RELAY_NAME = "Agent Messaging Relay";
