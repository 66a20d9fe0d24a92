/** Version of the toolkit's package: that of the service whose messages it verifies. */
export const VERSION = "0.2.1";
