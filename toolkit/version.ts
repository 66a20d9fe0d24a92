/** Version of the toolkit's package: the same as the service's whose messages it verifies. */
export const VERSION = "0.2.1";
