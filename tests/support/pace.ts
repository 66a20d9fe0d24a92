/** Real time, where a test is about a client that really waits on a socket. */

/** Resolves after so many real milliseconds. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
